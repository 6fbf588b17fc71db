"""A program of functions gives what each of them gives alone."""

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
    IKProblem,
    JointPositions,
    Manipulability,
    PointToLineDistance,
    Polyhedron,
    SupportPolygon,
    UserFunction,
)
from ros2_ik.core.problem.program import Program
from ros2_ik.core.problem.structure import ActiveJoints

P, A, B = (0.03, -0.02, 0.11), (0.2, -0.1, 2), (1, -0.2, 0.4)
# name: root joint (None: a shipped robot), two frames
ROBOTS = {'panda': (None, 'panda_hand', 'panda_link3'),
          'talos': (None, 'left_sole_link', 'gripper_left_base_link'),
          'two_arms': ('freeflyer', 'left_hand', 'right_hand'),
          'turntable': ('fixed', 'tip', 'wheel'),
          'fingers': ('fixed', 'left_tip', 'right_tip'),
          'nested': ('fixed', 'tip', 'cart'),
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
             GazeAngle(a, P, A, B, b), Polyhedron(b, [P, A], [[*A, *B]]),
             PointToLineDistance(robot.root_frame, P, A, B, b), AngleBetweenVectors(a, A, B),
             FramePosition(robot.root_frame)]
    if robot.nv:
        found[3:3] = [CenterOfMass(), JointPositions(), Manipulability(a), CenterOfMass([a], b),
                      SupportPolygon([[-0.1, -0.1, 0], [0.1, -0.1, 0], [0, 0.1, 0]], b)]
    return found


def program(robot, functions, names=None, start=None):
    """Bind functions of all joints, or of some."""
    free = ActiveJoints(robot, robot.joint_names if names is None else tuple(names))
    return Program(robot, [function.bind(robot) for function in functions], free,
                   robot.neutral if start is None else start)


def check(bound, robot, q):
    """Hold a program against its functions, each in a configuration of its own."""
    f, J = bound.evaluate(q)
    at = Configuration(robot, q)
    assert f.shape == (bound.size,) and len(J) == bound.size
    for function, rows in zip(bound.functions, bound.rows, strict=True):
        np.testing.assert_allclose(f[rows], function.value(at), atol=1e-12)
        np.testing.assert_allclose(J[rows], function.jacobian(at)[:, bound.active.columns],
                                   atol=1e-10)


def test_program_gives_what_each_function_gives_alone(robot_and_frames):
    """Also beside other use of the robot's scratch data, and with q read-only."""
    robot, *frames = robot_and_frames
    bound, generator = program(robot, mixed(robot, *frames)), np.random.default_rng(0)
    for _ in range(3):
        q = robot.random_q(generator)
        q.setflags(write=False)
        first = bound.evaluate(q)
        Configuration(robot, robot.random_q(generator), robot.scratch_data()).transform(frames[0])
        check(bound, robot, q)
        np.testing.assert_array_equal(np.column_stack(first), np.column_stack(bound.evaluate(q)))
    assert bound.size == sum(len(function.labels) for function in bound.functions)
    f, J = program(robot, []).evaluate(q)
    assert f.shape == (0,) and J.shape == (0, robot.nv)


def test_joints_that_are_held(robot_and_frames):
    robot, *frames = robot_and_frames
    generator = np.random.default_rng(1)
    for names in (robot.joint_names[::2], robot.joint_names[1::2], ()):
        start = robot.random_q(generator)
        bound = program(robot, mixed(robot, *frames), names, start)
        q = start.copy()
        q[bound.active.indices] = robot.random_q(generator)[bound.active.indices]
        check(bound, robot, q)
        assert bound.evaluate(q)[1].shape[1] == len(bound.active.columns)


def test_users_who_ask_something_on_the_way(robot_and_frames):
    """Their calls use the scratch data for another configuration."""
    robot, *frames = robot_and_frames
    functions = [FramePosition(frames[0]), UserFunction(reach, 2),
                 FramePosition(frames[1], P, frames[0]), UserFunction(reach, 2)]
    if robot.nv:
        functions += [CenterOfMass([frames[0]]), Manipulability(frames[0])]
    generator = np.random.default_rng(3)
    for order in (functions, functions[::-1]):
        check(program(robot, order), robot, robot.random_q(generator))


def test_threads(load):
    """Each thread with its own bound of the one robot."""
    robot = load('panda')
    functions = mixed(robot, 'panda_hand', 'panda_link3')
    every = np.array([robot.random_q(np.random.default_rng(i)) for i in range(40)])
    expected = [np.column_stack(program(robot, functions).evaluate(q)) for q in every]
    wrong = []

    def work(part):
        bound = program(robot, functions)
        for i in part:
            if not np.array_equal(np.column_stack(bound.evaluate(every[i])), expected[i]):
                wrong.append(i)
    threads = [threading.Thread(target=work, args=(range(i, 40, 4),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_masses_run_compiled(load, monkeypatch):
    """A support polygon and a box of the centre of mass ask nothing of Python in a descent."""
    robot = load('talos')
    foot = 'left_sole_link'
    functions = [CenterOfMass(None, foot, axes='zx'),
                 SupportPolygon([[-0.1, -0.1, 0], [0.1, -0.1, 0], [0, 0.1, 0]], foot)]
    bound = program(robot, functions)
    monkeypatch.setattr(Program, 'fill_python_rows', None)
    check(bound, robot, robot.random_q(np.random.default_rng(4)))
