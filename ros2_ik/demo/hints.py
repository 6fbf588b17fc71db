"""What to try next: commands that work as they are."""

import os
from pathlib import Path
import shlex
import shutil

from ros2_ik.cli.answer import WantedPose
from ros2_ik.cli.node_answer import pose_message
from ros2_ik.cli.poses import components


def hints(robot: str, wanted: WantedPose, scene: str = '') -> str:
    """Return commands for a second terminal, with a pose that is reachable."""
    pose = components(wanted.T)
    xyz, rpy = (' '.join(f'{value:.4f}' for value in pose[key]) for key in ('xyz', 'rpy'))
    run = _runner()
    commands = [
        f'{run}ros2_ik call --tip {wanted.tip} --xyz {xyz} --rpy {rpy}',
        f'{run}ros2_ik call --tip {wanted.tip} --xyz {xyz} --rpy {rpy} --execute',
        f'{run}ros2_ik call --fk --tip {wanted.tip}',
        f'{run}ros2_ik fk {robot} --frame {wanted.tip}',
        *([f'{run}ros2_ik solve {robot} --scene {shlex.quote(scene)} --xyz {xyz} --rpy {rpy}']
          if scene else []),
        *([f'{run}ros2 service call /ros2_ik/compute_ik ros2_ik/srv/ComputeIK '
           + shlex.quote(_request_yaml(wanted))] if shutil.which('ros2') else [])]
    lines = ''.join(f'  {command}\n' for command in commands)
    return (f'{robot} is running: mock robot /mock_robot, IK node /ros2_ik, in ROS domain '
            f'{os.environ.get("ROS_DOMAIN_ID", "0")}.\nTry in a second terminal:\n{lines}'
            'Ctrl-C ends the demo.')


def _runner() -> str:
    """Return what stands in front of a command: environment, and tools/run in a checkout."""
    prefix = ''.join(f'{name}={os.environ[name]} ' for name in ('ROS_DOMAIN_ID',)
                     if name in os.environ)
    tool = Path(__file__).resolve().parents[2] / 'tools' / 'run'
    if not tool.exists():
        return prefix
    path = os.path.relpath(tool)
    return f'{prefix}{shlex.quote(str(tool) if path.startswith("..") else path)} '


def _request_yaml(wanted: WantedPose) -> str:
    pose = pose_message(wanted.T, None).pose
    fields = [', '.join(f'{axis}: {getattr(part, axis):.6f}' for axis in axes)
              for part, axes in ((pose.position, 'xyz'), (pose.orientation, 'xyzw'))]
    return (f'{{tips: [{wanted.tip}], targets: [{{pose: {{position: {{{fields[0]}}}, '
            f'orientation: {{{fields[1]}}}}}}}]}}')
