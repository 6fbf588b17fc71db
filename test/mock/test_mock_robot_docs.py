"""docs/controllers.md describes the mock robot as it is."""

from pathlib import Path
import re

import yaml

from ros2_ik.core import Robot, shipped_robots
from ros2_ik.mock.controlled_groups import controlled_groups, node_parameters, TRAJECTORY
from ros2_ik.mock.robot import FAULTS

PAGE = (Path(__file__).parents[2] / 'docs' / 'controllers.md').read_text(encoding='utf-8')


def test_page_has_the_parameters_of_the_launch_file():
    written = yaml.safe_load(re.search(r'```yaml\n(.*?)```', PAGE, re.S)[1])
    given = written['/**']['ros__parameters']
    shipped = shipped_robots()['panda']
    parameters = node_parameters(shipped, Robot.load(shipped))
    assert set(given['controllers']) <= set(parameters['controllers'])
    for name in given['controllers']:
        for field, value in given[name].items():
            assert parameters[f'{name}.{field}'] == value


def test_page_lists_the_faults_and_their_defaults():
    rows = dict(re.findall(r'^\| `(\w+)` \| (\S+) \| ', PAGE.partition('Faults')[2], re.M))
    assert {name: yaml.safe_load(text) for name, text in rows.items()} == {
        name: default for name, (default, *_) in FAULTS.items()}


def test_page_names_the_controllers_of_the_robots():
    text = re.search(r'So panda has(.*?)\. Each', PAGE, re.S)[1]
    for name in ('panda', 'ur5', 'baxter'):
        shipped = shipped_robots()[name]
        for group in controlled_groups(shipped, Robot.load(shipped)):
            assert f'`{group}{TRAJECTORY}`' in text
