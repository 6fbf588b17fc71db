"""The example function of CONTRIBUTING.md, installed as a package, works like a built-in kind."""

from importlib.util import find_spec
import os
from pathlib import Path
import re
import subprocess
import sys
from typing import Annotated, get_origin

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / 'CONTRIBUTING.md').read_text(encoding='utf-8')
PYTHON, YAML = (re.search(rf'^```{language}\n(.*?)```', PAGE, re.M | re.S)[1]
                for language in ('python', 'yaml'))
PYTHON_CHECK = """
import numpy as np
from my_package import squared_radius
from ros2_ik.core import Configuration, Constraint, IKProblem, InverseKinematics, Robot, solve
robot = Robot.load('panda')
function = squared_radius.SquaredRadius('panda_hand', [0, 0, 0.1], 'panda_link2')
rng = np.random.default_rng(0)
for q in rng.uniform(robot.lower, robot.upper, (5, robot.nq)):
    at = Configuration(robot, q)
    T = np.linalg.inv(at.transform('panda_link2')) @ at.transform('panda_hand')
    p = (T @ [0, 0, 0.1, 1])[:2]
    assert abs(function.value(at)[0] - p @ p) < 1e-12
    for k, column in enumerate(function.jacobian(at)[0]):
        step = 1e-6 * np.eye(robot.nq)[k]
        ends = [function.value(Configuration(robot, q + sign * step))[0] for sign in (1, -1)]
        assert abs((ends[0] - ends[1]) / 2e-6 - column) < 1e-8
solution = solve(IKProblem(robot, constraints=[Constraint(function, 0.09, 0.16)]), timeout=5.0)
assert solution.success, solution.message
at = Configuration(robot, solution.q)
p = (np.linalg.inv(at.transform('panda_link2')) @ at.transform('panda_hand')
     @ [0, 0, 0.1, 1])[:2]
assert 0.09 - 1e-6 <= p @ p <= 0.16 + 1e-6
"""
MESSAGE_CHECK = """
from ros2_ik.messages.constraints import function_message, make_function
message = function_message('squared_radius', frame='panda_hand', point=[0, 0, 0.1])
function = make_function(message, robot)
assert type(function).__name__ == 'SquaredRadius' and function.point.tolist() == [0, 0, 0.1]
"""


@pytest.fixture
def run_python(tmp_path):
    """Return a function that runs Python with the example package installed as by pip."""
    package = tmp_path / 'my_package'
    package.mkdir()
    (package / '__init__.py').touch()
    (package / 'squared_radius.py').write_text(PYTHON, encoding='utf-8')
    info = tmp_path / 'my_package-1.0.dist-info'
    info.mkdir()
    (info / 'METADATA').write_text('Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n')
    (info / 'entry_points.txt').write_text(
        '[ros2_ik.functions]\nsquared_radius = my_package.squared_radius\n'
        'broken = no_such_package\n')
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])

    def run(*arguments):
        done = subprocess.run([sys.executable, *map(str, arguments)], text=True, timeout=300,
                              env={**os.environ, 'PYTHONPATH': path}, cwd=tmp_path,
                              capture_output=True)
        assert done.returncode == 0, done.stderr
        return done
    return run


def test_example_function_works_in_python_and_in_messages(run_python):
    run_python('-c', PYTHON_CHECK + MESSAGE_CHECK * bool(find_spec('rclpy')))


def test_example_function_works_in_a_problem_file_of_the_command(run_python, tmp_path):
    command = ROOT / 'scripts/ros2_ik'
    (tmp_path / 'problem.yaml').write_text(YAML)
    answer = run_python(command, 'constrained', tmp_path / 'problem.yaml', '--robot', 'panda')
    assert 'squared radius [m^2]' in answer.stdout and 'holds' in answer.stdout
    assert "functions of 'broken'" in answer.stderr


def test_contributing_page_names_every_field_type():
    from ros2_ik.core import fields
    types = {name for name, value in vars(fields).items() if get_origin(value) is Annotated}
    named = re.search(r'write them: (.*?), and `choice', PAGE, re.S)[1]
    assert types == set(re.findall(r'`(\w+)`', named))
