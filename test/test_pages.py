"""Examples and commands of README and docs run; the names and defaults on the pages exist."""

from pathlib import Path
import re
import shlex

import numpy as np
import pytest

from ros2_ik import core
from ros2_ik.cli import main
from ros2_ik.cli.command import make_parser

ROOT = Path(__file__).parents[1]
PAGES = {path.stem: path.read_text(encoding='utf-8')
         for path in (ROOT / 'README.md', *(ROOT / 'docs').glob('*.md'))}
README, PATHS, SAFETY, VELOCITY = (
    PAGES[name] for name in ('README', 'paths', 'safety', 'velocity'))
SHELL = {name: [line for block in re.findall(r'```bash\n(.*?)```', PAGES[name], re.S)
                for line in block.splitlines()] for name in ('README', 'safety')}
# words of the safety page that look like parameters of the node
OTHER_NAMES = {'controllers', 'joint_limits', 'offset', 'execute', 'position', 'joint_trajectory',
               'follow_joint_trajectory', 'joint_state', 'joint_states', 'follow_frames',
               'joint_changes', 'max_joint_change', 'not_checked', 'compute_ik',
               'solve_constrained_ik', 'use_sim_time'}


def run_examples(page):
    """Run the Python blocks of a page in order; yield each block and the variables so far."""
    variables = {}
    for block in re.findall(r'```python\n(.*?)```', page, re.S):
        exec(compile(block, 'page', 'exec'), variables)
        yield block, variables


def test_library_examples_of_the_readme_succeed():
    for block, variables in run_examples(README):
        if 'solution' in variables:
            assert variables['solution'].success, variables['solution'].explain()
        if 'right_gripper' in block:
            assert variables['solution'].errors[1].tip == 'right_gripper'
    assert variables['ik'].solve().success


@pytest.mark.parametrize('line', [line for line in SHELL['README']
                                  if line.startswith('tools/run ros2_ik')])
def test_commands_of_the_readme_succeed(line, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    arguments = [word for word in shlex.split(line)[2:] if word != '--execute']
    if arguments[0] == 'call':              # solved without a node
        arguments = ['solve', 'panda', *arguments[1:]]
    elif arguments[0] == 'constrained':
        arguments += ['--robot', 'panda']
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert out and (arguments[0] == 'robots' or 'SUCCESS' in out)


@pytest.mark.parametrize('name', PAGES)
def test_links_and_paths_on_a_page_exist(name):
    folder = ROOT if name == 'README' else ROOT / 'docs'
    for link in re.findall(r'\]\(([^)#:]+)(?:#[^)]*)?\)', PAGES[name]):
        assert (folder / link).exists(), link
    for path in re.findall(r'`((?:ros2_ik/[\w/]+\.py)|(?:test/[^`]+))`', PAGES[name]):
        assert (ROOT / path).exists(), path


# -- docs/safety.md ------------------------------------------------------------------------

def test_safety_page_states_the_defaults_of_the_parameters():
    pytest.importorskip('rclpy')
    from ros2_ik.node.parameters import PARAMETERS
    defaults = {spec.name: spec.default for spec in PARAMETERS}
    named = set(re.findall(r'`([a-z]+(?:_[a-z]+)+)`', SAFETY)) - OTHER_NAMES
    assert named and named <= set(defaults)
    for name, value in re.findall(r'`(\w+_scaling)` (0\.\d+)', SAFETY.partition('## A floor')[0]):
        assert defaults[name] == float(value)


@pytest.mark.parametrize('line', [line for line in SHELL['safety'] if line.startswith('ros2_ik')])
def test_commands_of_the_safety_page_are_valid(line):
    assert make_parser().parse_args(shlex.split(line)[1:]).run


def test_examples_scenes_and_launch_arguments_of_the_safety_page_exist():
    assert list(run_examples(SAFETY))
    assert set(re.findall(r'scene:=(\w+)', SAFETY)) <= set(core.shipped_scenes())
    for name in re.findall(r'(\w+):=', ' '.join(SHELL['safety'])):
        assert f"DeclareLaunchArgument('{name}'" in (ROOT / 'launch/ik.launch.py').read_text()
    assert "Trigger, '~/stop'" in (ROOT / 'ros2_ik/node/endpoints/execute.py').read_text()


# -- docs/paths.md -------------------------------------------------------------------------

def test_example_of_the_paths_page_ends_at_the_end_of_its_path():
    *_, (_, variables) = run_examples(PATHS)
    path, motion = variables['path'], variables['motion']
    assert path.success and motion.duration > 0.6 / 0.1
    assert abs(motion.goal - path.q[-1]).max() < 1e-9


def test_paths_page_lists_every_path_class():
    rows = set(re.findall(r'`(\w+)\(', PATHS[PATHS.index('| path |'):PATHS.index('Poses are')]))
    assert rows == {name for name, kind in vars(core).items() if isinstance(kind, type)
                    and issubclass(kind, core.ToolPath)} - {'ToolPath'}


# -- docs/velocity.md ----------------------------------------------------------------------

def test_example_of_the_velocity_page_arrives_within_joint_limits():
    *_, (_, variables) = run_examples(VELOCITY)
    step, panda = variables['step'], variables['panda']
    assert step.success and np.abs(step.errors['panda_hand_tcp']).max() < 1e-3
    assert (step.q >= panda.lower).all() and (step.q <= panda.upper).all()


def test_velocity_page_lists_every_task_and_only_existing_limits():
    table = VELOCITY[VELOCITY.index('## Tasks'):VELOCITY.index('- **Gain.**')]
    assert set(re.findall(r'`(\w+_task)`', table)) == {
        name for name in dir(core) if name.endswith('_task')}
    for name in re.findall(r'`([A-Z]\w+(?:Limit|Barrier))`', VELOCITY):
        assert hasattr(core, name), name


def test_velocity_examples_name_the_peers_listed_on_the_page():
    table = VELOCITY[VELOCITY.index('## Examples'):VELOCITY.index('## Coming from Pink')]
    rows = [[cell.strip() for cell in line.strip('|').split('|')]
            for line in table.splitlines() if line.startswith('| [')]
    files = {path.stem: path for path in (ROOT / 'examples/velocity').glob('*.py')}
    assert {re.match(r'\[(\w+)\]', cells[0])[1] for cells in rows} == set(files)
    for cells in rows:
        name, link = re.fullmatch(r'\[(\w+)\]\((.*)\)', cells[0]).groups()
        assert (ROOT / 'docs' / link).resolve() == files[name].resolve()
        docstring = ' '.join(files[name].read_text(encoding='utf-8').split('"""')[1].split())
        for peer in filter(None, ', '.join(cells[1:3]).split(', ')):
            assert re.search(rf'(?<![\w/]){re.escape(peer)}(?!\w)', docstring), (name, peer)
