"""What holds for every function: a new one needs a row in SAMPLES."""

import inspect
import pickle

from differences import jacobian_by_differences
from judge import pose
import numpy as np
import pytest

from ros2_ik.core import (
    AngleBetweenVectors,
    CenterOfMass,
    Configuration,
    FrameOrientation,
    FramePose,
    FramePosition,
    function_kinds,
    GazeAngle,
    InvalidOptionError,
    JointCoupling,
    JointPositions,
    KinematicFunction,
    Manipulability,
    MinimumDistance,
    PairDistance,
    PointToLineDistance,
    PointToPlane,
    PointToPointDistance,
    Polyhedron,
    region_surfaces,
    RegionDistance,
    register_function,
    SupportPolygon,
    UnknownFrameError,
    UserFunction,
)
from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.scene import Box, Cone, Cylinder, Scene, SceneObject, Sphere

T = pose((0.1, -0.2, 0.4), (0.5, -0.9, 0.7))
R = T[:3, :3]
TURN = pose(rotvec=(-0.3, 0.2, 1.1))[:3, :3]
P, Q, A, B = (0.03, -0.02, 0.11), (0.6, 0.3, -0.4), (0.2, -0.1, 2), (1, -0.2, 0.4)
LINE = (1.0, -0.5)
# two regions each, which the point is outside of, or in
REGIONS = [region_surfaces([(shape, pose(Q, A)), (Box(size), pose(B))]) for shape, size in (
    (Sphere(0.3), (0.2, 0.3, 0.4)), (Cylinder(0.3, 0.5), (0.1, 0.1, 0.1)),
    (Cone(0.3, 0.5), (9, 8, 7)))]


def last(robot):
    return [joint.name for joint in robot.joints if joint.is_scalar][-2:]


def reach(at):
    return at.transform(at.robot.frame_names[-1])[0, 3] * at.q[:2]


def two_balls(robot, a, b):
    """Give a checker of a ball on a frame and one on another, or in the world."""
    a, b = (name if name in robot.frame_names else 'panda_hand' for name in (a, b or a))
    held = SceneObject('held', [(Sphere(0.05), pose(P))])
    other = SceneObject('other', [(Sphere(0.1), pose(Q))])
    scene = Scene(robot).attach(held, a)
    return CollisionChecker(robot, scene.add(other) if a == b else scene.attach(other, b)).only(
        'held', 'other')


# name of the robot: its root joint, a frame, another frame
ROBOTS = {'panda': (None, 'panda_hand', 'panda_link3'),
          'baxter': (None, 'left_gripper', 'right_gripper'),
          'two_arms': ('freeflyer', 'left_hand', 'right_hand'),
          'one_joint': ('fixed', 'tip', 'base'),
          'mimic_chain': ('fixed', 'tip', 'lb'),
          'nested': ('fixed', 'tip', 'cart')}

# kind: ways to make one for two frames of a robot, of which the second may be None
SAMPLES = {
    'angle_between_vectors': [lambda _, a, b: AngleBetweenVectors(a, A, B, b),
                              lambda _, a, b: AngleBetweenVectors(a, A, B, b, 'vector'),
                              lambda _, a, b: AngleBetweenVectors(a, A, B, b, 'chord')],
    'center_of_mass': [lambda _, a, b: CenterOfMass(relative_to=b),
                       lambda _, a, b: CenterOfMass([a], b, 'zx'),
                       lambda _, a, b: CenterOfMass([a], b, A=[A, B])],
    'frame_orientation': [
        lambda _, a, b: FrameOrientation(a, R, b),
        lambda _, a, b: FrameOrientation(a, T, b, TURN, 'zx'),
        *(lambda _, a, b, form=form: FrameOrientation(a, T, b, TURN, form=form)
          for form in ('angle', 'chord', 'euler')),
        lambda _, a, b: FrameOrientation(a, R, b, TURN, 'zx', 'euler')],
    'frame_pose': [lambda _, a, b: FramePose(a, T, b)],
    'frame_position': [lambda _, a, b: FramePosition(a, P, b),
                       lambda _, a, b: FramePosition(a, P, b, T, 'zx')],
    'gaze_angle': [lambda _, a, b: GazeAngle(a, P, A, Q, b),
                   lambda _, a, b: GazeAngle(a, P, A, Q, b, 'vector')],
    'polyhedron': [lambda _, a, b: Polyhedron(a, [P, Q], [[*A, *B], [*Q, *P]], b)],
    'region_distance': [lambda _, a, b, rows=rows: RegionDistance(a, P, rows, b)
                        for rows in REGIONS],
    'joint_coupling': [lambda robot, a, b: JointCoupling(last(robot), LINE[:len(last(robot))])],
    'joint_positions': [lambda robot, a, b: JointPositions(last(robot), {last(robot)[0]: 0.1}),
                        lambda robot, a, b: JointPositions()],
    'manipulability': [lambda _, a, b: Manipulability(a, b),
                       lambda _, a, b: Manipulability(a, b, 'orientation')],
    'minimum_distance': [lambda robot, a, b: MinimumDistance(two_balls(robot, a, b), 5.0, 2)],
    'pair_distance': [lambda robot, a, b: PairDistance(two_balls(robot, a, b), 'held', 'other')],
    'point_to_line_distance': [lambda _, a, b: PointToLineDistance(a, P, Q, A, b)],
    'point_to_plane': [lambda _, a, b: PointToPlane(a, P, Q, A, b)],
    'point_to_point_distance': [lambda _, a, b: PointToPointDistance(a, P, Q, b)],
    'support_polygon': [lambda _, a, b: SupportPolygon([P, Q, A], b),
                        lambda _, a, b: SupportPolygon([P, Q, A, B], b, B, [a])],
    'user_function': [lambda robot, a, b: UserFunction(reach, min(robot.nq, 2))],
}
CASES = [pytest.param((make, name, relative), id=f'{kind}-{i}-{name}-{"relative" * relative}')
         for kind, ways in SAMPLES.items() for i, make in enumerate(ways) for name in ROBOTS
         for relative in (False, True)]

# bounds that need an equality form, by kind
EXACT = {'angle_between_vectors': [0, np.pi], 'frame_orientation': [0], 'gaze_angle': [0, np.pi],
         'point_to_line_distance': [0], 'point_to_point_distance': [0]}


@pytest.fixture
def robot_of(load, small):
    def robot(name):
        root = ROBOTS[name][0]
        return load(name) if root is None else small(name, root)
    return robot


@pytest.fixture
def case(request, robot_of):
    """Give a function and a robot at a random configuration."""
    make, name, relative = request.param
    robot, (_, frame, other) = robot_of(name), ROBOTS[name]
    at = Configuration(robot, robot.random_q(np.random.default_rng(3)))
    return make(robot, frame, other if relative else None), at


def test_every_kind_has_samples():
    assert set(SAMPLES) == set(function_kinds())


def test_the_name_of_a_kind_is_taken():
    with pytest.raises(InvalidOptionError, match="'gaze_angle' is that of .*GazeAngle; choose"):
        @register_function('gaze_angle')
        class Another(KinematicFunction):
            pass
    assert function_kinds()['gaze_angle'] is GazeAngle


@pytest.mark.parametrize('kind', SAMPLES)
def test_help_shows_plain_types(kind):
    shown = str(inspect.signature(function_kinds()[kind]))
    assert 'Annotated' not in shown and 'FieldType' not in shown and 'numpy' not in shown


@pytest.mark.parametrize('case', CASES, indirect=True)
def test_value_and_jacobian(case):
    function, at = case
    value, J = function.evaluate(at)
    bound = function.bind(at.robot)
    assert bound.spec is function and bound.bind(at.robot) is bound
    np.testing.assert_array_equal(bound.evaluate(at)[0], value)
    assert value.shape == (len(bound.labels),) and J.shape == (len(value), at.robot.nv)
    assert np.isfinite(value).all() and np.isfinite(J).all()
    low, high = function.range
    assert (value >= low).all() and (value <= high).all()
    np.testing.assert_array_equal(function.value(at), value)
    np.testing.assert_array_equal(function.jacobian(at), J)
    np.testing.assert_allclose(J, jacobian_by_differences(function, at.robot, at.q), atol=1e-6)
    joints = function.joints(at.robot)     # the others do not change it
    assert joints <= set(at.robot.joint_names)
    for joint in at.robot.joints:
        columns = J[:, joint.velocity_index:joint.velocity_index + joint.velocity_size]
        assert joint.name in joints or np.abs(columns).max() < 1e-15


@pytest.mark.parametrize('kind', SAMPLES)
@pytest.mark.parametrize('name', ROBOTS)
def test_relative_to_itself(kind, name, robot_of):
    """With all joints at zero, where much is parallel or meets: finite; a frame alone is still."""
    robot, frame = robot_of(name), ROBOTS[name][1]
    at = Configuration(robot)
    for make in SAMPLES[kind]:
        for function in (make(robot, frame, frame), make(robot, frame, None)):
            value, J = function.evaluate(at)
            assert np.isfinite(value).all() and np.isfinite(J).all()
            if not function.joints(robot):
                np.testing.assert_allclose(J, 0, atol=1e-12)


@pytest.mark.parametrize('kind', SAMPLES)
def test_survives_pickling(kind, robot_of):
    """It may be solved in another process."""
    robot = robot_of('panda')
    at = Configuration(robot, robot.random_q(np.random.default_rng(3)))
    for make in SAMPLES[kind]:
        function = make(robot, 'panda_hand', 'panda_link3')
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(function)).value(at),
                                      function.value(at))


@pytest.mark.parametrize('kind', SAMPLES)
def test_names(kind, robot_of):
    for make in SAMPLES[kind]:
        function = make(robot_of('panda'), 'panda_hand', None)
        assert type(function) is function_kinds()[kind] and function.kind == kind
        assert kind in str(function) or str(function) == function.name   # the user's
        assert all(function.peers.values())
        assert len(set(function.labels)) == len(function.labels)


@pytest.mark.parametrize('kind', SAMPLES)
def test_unknown_frames(kind, robot_of):
    robot = robot_of('panda')
    for make in SAMPLES[kind]:
        for frames in (('nowhere', None), ('panda_hand', 'nowhere')):
            function = make(robot, *frames)
            named = (getattr(function, 'frame', None), getattr(function, 'relative_to', None))
            if 'nowhere' in named:
                with pytest.raises(UnknownFrameError):
                    function.joints(robot)


def test_every_equality_form_is_tested():
    assert set(EXACT) == {kind for kind, function in function_kinds().items()
                          if function.equality_form is not KinematicFunction.equality_form}


@pytest.mark.parametrize('kind, bound', [(kind, b) for kind, bounds in EXACT.items()
                                         for b in bounds])
@pytest.mark.parametrize('name', ROBOTS)
def test_equality_form_is_as_long_as_the_bound_is_off(kind, bound, name, robot_of):
    """So it is zero exactly where the bound is met."""
    robot, (_, *frames) = robot_of(name), ROBOTS[name]
    for make in SAMPLES[kind]:
        function = make(robot, *frames)
        if getattr(function, 'form', 'angle') != 'angle':
            continue    # the others are smooth
        form = function.equality_form(np.array([bound]), np.array([bound]))
        assert form.joints(robot) == function.joints(robot)
        for seed in range(5):
            at = Configuration(robot, robot.random_q(np.random.default_rng(seed)))
            assert np.linalg.norm(form.value(at)) == pytest.approx(
                abs(function.value(at)[0] - bound), abs=1e-12)


@pytest.mark.parametrize('kind', EXACT)
def test_no_equality_form_for_a_width(kind, robot_of):
    for make in SAMPLES[kind]:
        function = make(robot_of('panda'), 'panda_hand', None)
        for bounds in ((0, 1e-6), (0.5, 0.5), (0.5, function.range[1]), (0, np.inf)):
            assert function.equality_form(*np.array(bounds).reshape(2, 1)) is None
