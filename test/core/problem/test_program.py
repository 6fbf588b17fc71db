"""Programs evaluate several functions at once, and agree with each function."""

from function_samples import ROBOTS, SAMPLES
import numpy as np
import pinocchio as pin
import pytest

from ros2_ik.core import Configuration
from ros2_ik.core.problem.program import Program
from ros2_ik.core.problem.structure import ActiveJoints


@pytest.fixture(params=ROBOTS)
def robot_and_functions(request, load, small):
    """Return a robot, and each kind of function for one of its frames and for two."""
    root, *frames = ROBOTS[request.param]
    robot = load(request.param) if root is None else small(request.param, root)
    return robot, [make(robot, frames[0], other) for other in (None, frames[1])
                   for makers in SAMPLES.values() for make in makers]


def program(robot, functions):
    """Return a program of functions with all joints active."""
    return Program(robot, [function.bind(robot) for function in functions],
                   ActiveJoints(robot, robot.joint_names), robot.neutral)


def assert_agrees(bound, robot, q):
    """Assert that a program agrees with its functions, evaluated one by one."""
    f, J = bound.evaluate(q)
    at = Configuration(robot, q)
    assert f.shape == (bound.size,) and len(J) == bound.size
    for function, rows in zip(bound.functions, bound.rows, strict=True):
        np.testing.assert_allclose(f[rows], function.value(at), atol=1e-12)
        np.testing.assert_allclose(J[rows], function.jacobian(at)[:, bound.active.columns],
                                   atol=1e-10)


def test_program_agrees_with_its_functions(robot_and_functions):
    """Also with a read-only q, and after other uses of the robot's scratch data."""
    robot, functions = robot_and_functions
    bound, generator = program(robot, functions), np.random.default_rng(0)
    for _ in range(3):
        q = robot.random_q(generator)
        q.setflags(write=False)
        first = bound.evaluate(q)
        pin.centerOfMass(robot.model, robot.scratch_data(), robot.random_q(generator))
        assert_agrees(bound, robot, q)
        np.testing.assert_array_equal(np.column_stack(first), np.column_stack(bound.evaluate(q)))
    assert bound.size == sum(len(function.labels) for function in bound.functions)
    f, J = program(robot, []).evaluate(q)
    assert f.shape == (0,) and J.shape == (0, robot.nv)
