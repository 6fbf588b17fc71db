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
    InvalidConstraintError,
    JointPositions,
    Manipulability,
    PointToLineDistance,
    Polyhedron,
    SupportPolygon,
    UnknownFrameError,
    UserFunction,
)
from ros2_ik.core.problem.program import Program
from ros2_ik.core.problem.structure import ActiveJoints

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
             GazeAngle(a, P, A, B, b), Polyhedron(b, [P, A], [[*A, *B]]),
             PointToLineDistance(robot.root_frame, P, A, B, b), AngleBetweenVectors(a, A, B),
             FramePosition(robot.root_frame)]
    if robot.nv:
        found[3:3] = [CenterOfMass(), JointPositions(), Manipulability(a), CenterOfMass([a], b)]
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


def test_as_each_function_alone(robot_and_frames):
    robot, *frames = robot_and_frames
    bound, generator = program(robot, mixed(robot, *frames)), np.random.default_rng(0)
    for _ in range(5):
        check(bound, robot, robot.random_q(generator))
    assert bound.size == sum(len(function.labels) for function in bound.functions)
    assert [rows.start for rows in bound.rows[1:]] == [rows.stop for rows in bound.rows[:-1]]


def test_joints_that_are_held(robot_and_frames):
    robot, *frames = robot_and_frames
    generator = np.random.default_rng(1)
    for names in (robot.joint_names[::2], robot.joint_names[1::2], robot.joint_names[:1], ()):
        start = robot.random_q(generator)
        bound = program(robot, mixed(robot, *frames), names, start)
        q = start.copy()
        q[bound.active.indices] = robot.random_q(generator)[bound.active.indices]
        check(bound, robot, q)
        assert bound.evaluate(q)[1].shape[1] == len(bound.active.columns)


def test_one_function_and_none(robot_and_frames):
    robot, *frames = robot_and_frames
    q = robot.random_q(np.random.default_rng(2))
    for function in mixed(robot, *frames):
        check(program(robot, [function]), robot, q)
    f, J = program(robot, []).evaluate(q)
    assert f.shape == (0,) and J.shape == (0, robot.nv)


def test_after_other_use_of_the_scratch_data(robot_and_frames):
    robot, *frames = robot_and_frames
    bound, generator = program(robot, mixed(robot, *frames)), np.random.default_rng(3)
    for _ in range(3):
        q = robot.random_q(generator)
        first = bound.evaluate(q)
        Configuration(robot, robot.random_q(generator), robot.scratch_data()).transform(frames[0])
        check(bound, robot, q)
        np.testing.assert_array_equal(np.column_stack(first), np.column_stack(bound.evaluate(q)))


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


def test_results_are_not_overwritten(robot_and_frames):
    robot, *frames = robot_and_frames
    bound, generator = program(robot, mixed(robot, *frames)), np.random.default_rng(4)
    f, J = bound.evaluate(robot.random_q(generator))
    kept = f.copy(), J.copy()
    bound.evaluate(robot.random_q(generator))
    np.testing.assert_array_equal(f, kept[0])
    np.testing.assert_array_equal(J, kept[1])


def test_q_is_not_written_to(load):
    robot = load('panda')
    q = robot.random_q(np.random.default_rng(0))
    kept = q.copy()
    bound = program(robot, mixed(robot, 'panda_hand', 'panda_link3'))
    bound.evaluate(q)
    np.testing.assert_array_equal(q, kept)
    q.setflags(write=False)
    bound.evaluate(q)


def test_two_programs_in_turn(load, small):
    robots = [(load('panda'), 'panda_hand'), (small('one_joint'), 'tip'),
              (load('baxter'), 'left_gripper')]
    programs = [(robot, program(robot, [FramePose(tip, np.eye(4)), CenterOfMass()]))
              for robot, tip in robots]
    generator = np.random.default_rng(5)
    for _ in range(3):
        for robot, bound in programs:
            check(bound, robot, robot.random_q(generator))


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


@pytest.mark.parametrize('function, error', [
    (FramePosition('nowhere'), UnknownFrameError),
    (GazeAngle('panda_hand', P, A, B, 'nowhere'), UnknownFrameError),
    (CenterOfMass(['nowhere']), UnknownFrameError),
    (JointPositions(reference=[1.0]), InvalidConstraintError)])
def test_misfits_are_told_when_it_is_made(load, function, error):
    with pytest.raises(error):
        program(load('panda'), [FramePosition('panda_hand'), function])


def test_errors_of_users_pass_through(load):
    def broken(at):
        raise KeyError('mine')
    bound = program(load('panda'), [UserFunction(broken)])
    with pytest.raises(KeyError, match='mine'):
        bound.evaluate(load('panda').neutral)


def test_masses_run_compiled(load, monkeypatch):
    """A support polygon and a box of the centre of mass ask nothing of Python in a descent."""
    robot = load('talos')
    foot = 'left_sole_link'
    functions = [CenterOfMass(None, foot, axes='zx'),
                 SupportPolygon([[-0.1, -0.1, 0], [0.1, -0.1, 0], [0, 0.1, 0]], foot)]
    bound = program(robot, functions)
    monkeypatch.setattr(Program, 'fill_python_rows', None)
    generator = np.random.default_rng(4)
    for _ in range(5):
        check(bound, robot, robot.random_q(generator))
    legs = [name for name in robot.joint_names if name.startswith('leg')]
    start = robot.random_q(generator)
    some = program(robot, functions, legs, start)
    for _ in range(5):
        q = start.copy()
        for name in legs:
            q[robot.joint(name).index] += generator.uniform(-0.2, 0.2)
        check(some, robot, q)
