"""A stack of functions gives what each of them gives alone."""

import threading

import numpy as np
import pytest

from ros2_ik.core import (
    accept,
    AngleBetweenVectors,
    CenterOfMass,
    Configuration,
    Constraint,
    FrameOrientation,
    FramePose,
    FramePosition,
    GazeAngle,
    HalfSpaces,
    IKProblem,
    InvalidConstraintError,
    JointPositions,
    Manipulability,
    PointToLineDistance,
    UnknownFrameError,
    UserFunction,
)
from ros2_ik.core.functions import FunctionStack

P, A, B = (0.03, -0.02, 0.11), (0.2, -0.1, 2), (1, -0.2, 0.4)
# name: root joint (None: a shipped robot), two frames
ROBOTS = {'panda': (None, 'panda_hand', 'panda_link3'),
          'baxter': (None, 'left_gripper', 'right_gripper'),
          'talos': (None, 'left_sole_link', 'gripper_left_base_link'),
          'two_arms': ('freeflyer', 'left_hand', 'right_hand'),
          'mimic_chain': ('fixed', 'tip', 'lb'),
          'turntable': ('fixed', 'tip', 'wheel'),
          'fingers': ('fixed', 'left_tip', 'right_tip'),
          'nested': ('fixed', 'tip', 'cart'),
          'one_joint': ('fixed', 'tip', 'base'),
          'all_fixed': ('fixed', 'tip', 'post')}


@pytest.fixture(params=ROBOTS)
def robot_and_frames(request, load, small):
    root, *frames = ROBOTS[request.param]
    return (load(request.param) if root is None else small(request.param, root)), *frames


def reach(at):
    """Give two numbers of a user, who asks something of the library elsewhere on the way."""
    robot, frame = at.robot, at.robot.frame_names[-1]
    accept(IKProblem(robot, constraints=[Constraint(FramePosition(frame))]), robot.neutral)
    return at.transform(frame)[:2, 3]


def mixed(robot, a, b):
    """Give functions of one frame and of two, that move and that stand still, of all sorts."""
    found = [FramePose(a, np.eye(4)), UserFunction(lambda at: at.q @ at.q), FramePosition(b, P, a),
             FrameOrientation(a, None, b, axes='zx'), FramePosition(a, P, a),
             GazeAngle(a, P, A, B, b), HalfSpaces(b, [P, A], [[*A, *B]]),
             PointToLineDistance(robot.root_frame, P, A, B, b), AngleBetweenVectors(a, A, B),
             FramePosition(robot.root_frame)]
    if robot.nv:
        found[3:3] = [CenterOfMass(), JointPositions(), Manipulability(a), CenterOfMass([a], b)]
    return found


def check(stack, robot, q, columns=slice(None)):
    """Hold a stack against its functions, each in a configuration of its own."""
    f, J = stack.evaluate(q)
    at = Configuration(robot, q)
    assert f.shape == (stack.size,) and len(J) == stack.size
    for function, rows in zip(stack.functions, stack.rows, strict=True):
        np.testing.assert_allclose(f[rows], function.value(at), atol=1e-12)
        np.testing.assert_allclose(J[rows], function.jacobian(at)[:, columns], atol=1e-10)
    np.testing.assert_array_equal(stack.value(q), f)


def test_as_each_function_alone(robot_and_frames):
    robot, *frames = robot_and_frames
    stack, generator = FunctionStack(robot, mixed(robot, *frames)), np.random.default_rng(0)
    for _ in range(5):
        check(stack, robot, robot.random_q(generator))
    assert stack.size == sum(len(function.labels) for function in stack.functions)
    assert [rows.start for rows in stack.rows[1:]] == [rows.stop for rows in stack.rows[:-1]]


def test_columns(robot_and_frames):
    robot, *frames = robot_and_frames
    generator = np.random.default_rng(1)
    for columns in (np.arange(robot.nv)[::2], np.arange(robot.nv)[::-1], slice(0, 1),
                    slice(robot.nv // 2, robot.nv), np.zeros(0, dtype=np.intp)):
        stack = FunctionStack(robot, mixed(robot, *frames), columns)
        check(stack, robot, robot.random_q(generator), columns)
        assert stack.evaluate(robot.neutral)[1].shape[1] == len(np.arange(robot.nv)[columns])


def test_one_function_and_none(robot_and_frames):
    robot, *frames = robot_and_frames
    q = robot.random_q(np.random.default_rng(2))
    for function in mixed(robot, *frames):
        check(FunctionStack(robot, [function]), robot, q)
    f, J = FunctionStack(robot, []).evaluate(q)
    assert f.shape == (0,) and J.shape == (0, robot.nv)


def test_after_other_use_of_the_scratch_data(robot_and_frames):
    robot, *frames = robot_and_frames
    stack, generator = FunctionStack(robot, mixed(robot, *frames)), np.random.default_rng(3)
    for _ in range(3):
        q = robot.random_q(generator)
        first = stack.evaluate(q)
        Configuration(robot, robot.random_q(generator), robot.scratch_data()).transform(frames[0])
        check(stack, robot, q)
        np.testing.assert_array_equal(np.column_stack(first), np.column_stack(stack.evaluate(q)))


def test_users_who_ask_something_on_the_way(robot_and_frames):
    """Their calls use the scratch data for another configuration."""
    robot, *frames = robot_and_frames
    functions = [FramePosition(frames[0]), UserFunction(reach, 2),
                 FramePosition(frames[1], P, frames[0]), UserFunction(reach, 2)]
    if robot.nv:
        functions += [CenterOfMass([frames[0]]), Manipulability(frames[0])]
    generator = np.random.default_rng(3)
    for order in (functions, functions[::-1]):
        check(FunctionStack(robot, order), robot, robot.random_q(generator))


def test_results_are_not_overwritten(robot_and_frames):
    robot, *frames = robot_and_frames
    stack, generator = FunctionStack(robot, mixed(robot, *frames)), np.random.default_rng(4)
    f, J = stack.evaluate(robot.random_q(generator))
    kept = f.copy(), J.copy()
    stack.evaluate(robot.random_q(generator))
    np.testing.assert_array_equal(f, kept[0])
    np.testing.assert_array_equal(J, kept[1])


def test_q_is_not_written_to(load):
    robot = load('panda')
    q = robot.random_q(np.random.default_rng(0))
    kept = q.copy()
    stack = FunctionStack(robot, mixed(robot, 'panda_hand', 'panda_link3'))
    stack.evaluate(q)
    np.testing.assert_array_equal(q, kept)
    q.setflags(write=False)
    stack.evaluate(q)


def test_two_stacks_in_turn(load, small):
    robots = [(load('panda'), 'panda_hand'), (small('one_joint'), 'tip'),
              (load('baxter'), 'left_gripper')]
    stacks = [(robot, FunctionStack(robot, [FramePose(tip, np.eye(4)), CenterOfMass()]))
              for robot, tip in robots]
    generator = np.random.default_rng(5)
    for _ in range(3):
        for robot, stack in stacks:
            check(stack, robot, robot.random_q(generator))


def test_threads(load):
    """Each thread with its own stack of the one robot."""
    robot = load('panda')
    functions = mixed(robot, 'panda_hand', 'panda_link3')
    every = np.array([robot.random_q(np.random.default_rng(i)) for i in range(40)])
    expected = [np.column_stack(FunctionStack(robot, functions).evaluate(q)) for q in every]
    wrong = []

    def work(part):
        stack = FunctionStack(robot, functions)
        for i in part:
            if not np.array_equal(np.column_stack(stack.evaluate(every[i])), expected[i]):
                wrong.append(i)
    threads = [threading.Thread(target=work, args=(range(i, 40, 4),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize('function, error', [
    (FramePosition('nowhere'), UnknownFrameError),
    (GazeAngle('panda_hand', P, A, B, 'nowhere'), UnknownFrameError),
    (CenterOfMass(['nowhere']), UnknownFrameError),
    (JointPositions(reference=[1.0]), InvalidConstraintError)])
def test_misfits_are_told_when_it_is_made(load, function, error):
    with pytest.raises(error):
        FunctionStack(load('panda'), [FramePosition('panda_hand'), function])


def test_errors_of_users_pass_through(load):
    def broken(at):
        raise KeyError('mine')
    stack = FunctionStack(load('panda'), [UserFunction(broken)])
    with pytest.raises(KeyError, match='mine'):
        stack.evaluate(load('panda').neutral)
