"""Commands to try next, which work as they are."""

import os
from pathlib import Path
import shlex

from ros2_ik.cli.answer import WantedPose
from ros2_ik.cli.poses import components


def hints(robot: str, wanted: WantedPose, scene: str = '') -> str:
    """Return commands for a second terminal, with a pose that is reachable."""
    pose = components(wanted.T)
    xyz, rpy = (' '.join(f'{value:.4f}' for value in pose[key]) for key in ('xyz', 'rpy'))
    ik = f'{_runner()}ros2_ik'
    commands = [f'{ik} call --tip {wanted.tip} --xyz {xyz} --rpy {rpy}',
                f'{ik} call --tip {wanted.tip} --xyz {xyz} --rpy {rpy} --execute',
                f'{ik} call --fk --tip {wanted.tip}', f'{ik} fk {robot} --frame {wanted.tip}']
    if scene:
        commands.append(f'{ik} solve {robot} --scene {shlex.quote(scene)} --xyz {xyz} --rpy {rpy}')
    lines = ''.join(f'  {command}\n' for command in commands)
    return (f'{robot} is running: mock robot /mock_robot, IK node /ros2_ik, in ROS domain '
            f'{os.environ.get("ROS_DOMAIN_ID", "0")}.\nTry in a second terminal:\n{lines}'
            'Ctrl-C ends the demo.')


def _runner() -> str:
    """Return the part before a command: environment, and tools/run in a checkout."""
    domain = os.environ.get('ROS_DOMAIN_ID')
    prefix = '' if domain is None else f'ROS_DOMAIN_ID={domain} '
    tool = Path(__file__).resolve().parents[2] / 'tools' / 'run'
    if not tool.exists():
        return prefix
    path = os.path.relpath(tool)
    return f'{prefix}{shlex.quote(str(tool) if path.startswith("..") else path)} '
