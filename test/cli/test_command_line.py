"""Help, import time, exit codes and output of all subcommands."""

import json
import os
from pathlib import Path
import subprocess
import sys

import pytest

from ros2_ik.cli.answer import Answer, answer_json, print_answer
from ros2_ik.core.internals import TargetError

SLOW_IMPORTS = {'numpy', 'scipy', 'pinocchio', 'rclpy', 'ros2_ik.core', 'yaml',
                'xml.etree.ElementTree'}
MAIN = 'import sys; from ros2_ik.cli import main; sys.exit(main(sys.argv[1:]))'


@pytest.mark.parametrize('arguments', [[], ['solve'], ['constrained'], ['robots'], ['call']])
def test_help_shows_an_example_without_slow_imports(arguments):
    code = ('import sys; from ros2_ik.cli import main\n'
            f'try: main({[*arguments, "--help"]})\n'
            f'except SystemExit as end: print("END", end.code, set(sys.modules) & {SLOW_IMPORTS})')
    out = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                         timeout=60).stdout
    assert f'ros2_ik {" ".join(arguments)}' in out
    assert ('examples:' if arguments else 'more: ros2_ik solve --help') in out
    assert out.splitlines()[-1] == 'END 0 set()'


@pytest.mark.parametrize(('arguments', 'message'), [
    (['call', '--exec'], "arguments: --exec; did you mean '--execute'?"),
    (['robots', 'panda', 'ur5'], 'unrecognized arguments: ur5'),
    (['servo', '--enable', -1], ', 29, 30, 31)'),
    (['solve', 'panda', '--xyz', 1, 2], 'argument --xyz: expected 3 arguments')])
def test_abbreviated_options_and_wrong_counts_are_refused(command, arguments, message):
    """By default argparse completes --exec to --execute, which moves a robot."""
    reason = command(*arguments).refusal()
    assert reason.endswith(f'{message} (options: ros2_ik {arguments[0]} --help)')


@pytest.mark.parametrize('missing, arguments, remedy', [
    ('rclpy', ['call', '--xyz', '1', '2', '3'], 'tools/run'),
    ('pinocchio', ['robots', 'panda'], 'pip install pin')])
def test_missing_package_is_named_with_its_remedy(missing, arguments, remedy):
    code = (f'import sys; sys.modules[{missing!r}] = None\n'
            'from ros2_ik.cli import main; sys.exit(main(sys.argv[1:]))')
    run = subprocess.run([sys.executable, '-c', code, *arguments], capture_output=True, text=True,
                         timeout=60)
    assert run.returncode == 2
    assert 'Traceback' not in run.stderr
    assert f'{missing} is missing' in run.stderr and remedy in run.stderr


def test_closed_output_causes_no_traceback():
    process = subprocess.Popen([sys.executable, '-c', MAIN, 'robots', 'baxter'],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.close()   # what `| head` does
    assert 'Traceback' not in process.communicate(timeout=60)[1]


@pytest.mark.parametrize('success', [True, False])
def test_answer_is_printed_as_text_and_json(capsys, success):
    answer = Answer('SUCCESS' if success else 'TIMED_OUT', 'found', success, {'lift': 0.1},
                    [TargetError('tip', 1.5e-6, 0.0)], {
                        'solver': 'lm', 'iterations': 1, 'restarts': 0, 'seconds': 0.1},
                    [{'lift': 0.2}])
    content = json.loads(answer_json(answer))
    print_answer(answer, None)
    lines = capsys.readouterr().out.splitlines()
    assert answer.exit == (not success) and content['success'] is success
    assert content['joints'] == ({'lift': 0.1} if success else None)
    assert content['best_joints'] == {'lift': 0.1} and content['alternatives'] == [{'lift': 0.2}]
    assert content['targets'][0]['position_error'] == 1.5e-6
    assert lines[0] == f'{answer.status}: found' and 'solution 2:' in lines
    assert ('best attempt:' in lines) is not success


# -- without ROS -------------------------------------------------------------------------------

ROOT = Path(__file__).parents[2]
ROS_MODULES = (
    'rclpy builtin_interfaces geometry_msgs moveit_msgs rcl_interfaces '
    'sensor_msgs std_msgs std_srvs trajectory_msgs visualization_msgs ros2_ik.msg '
    'ros2_ik.srv ros2_ik.action')
TRAY = ROOT / 'examples/ros/upright_tray.yaml'
PROGRAM = """
import sys
from argparse import Namespace
from ros2_ik.cli import main
from ros2_ik.cli.view import make_session
tray = sys.argv[1]
assert main(['constrained', tray, '--robot', 'panda']) == 0
assert main(['solve', 'panda', '--xyz', '0.4', '0.1', '0.4', '--scene', 'table']) == 0
session = make_session(Namespace(robot='panda', srdf=None, package_dir=[], xacro_arg=[],
                                 tip=[], scene='table', problem=tray))
print(session.status)
"""


def test_solve_constrained_and_view_session_run_without_ros():
    environment = {**os.environ, 'ROS2_IK_WITHOUT': ROS_MODULES, 'PYTHONPATH': os.pathsep.join(
        [str(ROOT / 'test/without'), os.environ.get('PYTHONPATH', '')])}
    run = subprocess.run([sys.executable, '-c', PROGRAM, TRAY], env=environment,
                         capture_output=True, text=True, timeout=60)
    assert run.returncode == 0 and run.stdout.count('SUCCESS') == 3, run.stdout + run.stderr
