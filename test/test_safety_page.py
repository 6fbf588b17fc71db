"""docs/safety.md: names exist, defaults are as it says, examples run."""

from pathlib import Path
import re
import shlex

import pytest

from ros2_ik.cli import main
from ros2_ik.core import shipped_scenes

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / 'docs' / 'safety.md').read_text(encoding='utf-8')
COMMANDS = [line for block in re.findall(r'```bash\n(.*?)```', PAGE, re.S)
            for line in block.splitlines()]
OTHERS = {'controllers', 'joint_limits', 'offset', 'execute', 'position', 'joint_trajectory',
          'follow_joint_trajectory', 'joint_state', 'joint_states', 'follow_frames',
          'joint_changes', 'max_joint_change', 'not_checked', 'compute_ik',
          'solve_constrained_ik', 'use_sim_time'}


def test_links_and_files_exist():
    for link in re.findall(r'\]\(([^)#]+)\)', PAGE):
        assert (ROOT / 'docs' / link).exists(), link
    for path in re.findall(r'`(test/[^`]+)`', PAGE):
        assert (ROOT / path).exists(), path
    assert set(re.findall(r'scene:=(\w+)', PAGE)) <= set(shipped_scenes())


def test_parameters_exist_and_have_the_defaults_that_are_named():
    pytest.importorskip('rclpy')
    from ros2_ik.node.parameters.table import PARAMETERS
    defaults = {spec.name: spec.default for spec in PARAMETERS}
    named = set(re.findall(r'`([a-z]+(?:_[a-z]+)+)`', PAGE)) - OTHERS
    assert named and named <= set(defaults)
    for name, value in re.findall(r'`(\w+_scaling)` (0\.\d+)', PAGE.partition('## A floor')[0]):
        assert defaults[name] == float(value)


def test_the_example_runs():
    for block in re.findall(r'```python\n(.*?)```', PAGE, re.S):
        exec(compile(block, 'safety.md', 'exec'), {})


@pytest.mark.parametrize('line', [line for line in COMMANDS if line.startswith('ros2_ik')])
def test_the_commands_are_known(line, capsys):
    with pytest.raises(SystemExit) as end:
        main([*shlex.split(line)[1:], '--help'])
    assert end.value.code == 0


def test_the_launch_arguments_and_service_are_known():
    for name in re.findall(r'(\w+):=', ' '.join(COMMANDS)):
        assert f"DeclareLaunchArgument('{name}'" in (ROOT / 'launch/ik.launch.py').read_text()
    assert "Trigger, '~/stop'" in (ROOT / 'ros2_ik/node/endpoints/execute.py').read_text()
