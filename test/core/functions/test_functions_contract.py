"""Contract of every function in function_samples.py."""

from dataclasses import replace
import inspect
import pickle
from typing import get_args

from function_samples import ROBOTS, SAMPLES
from judge import step
import numpy as np
import pytest

from ros2_ik.core import (
    Configuration,
    fields,
    GazeAngle,
    InvalidConstraintError,
    KinematicFunction,
    register_function,
)
from ros2_ik.core.errors import InvalidOptionError, UnknownFrameError
from ros2_ik.core.internals import function_kinds, spec_fields

CASES = [pytest.param((make, name, relative), id=f'{kind}-{i}-{name}-{"relative" * relative}')
         for kind, makers in SAMPLES.items() for i, make in enumerate(makers) for name in ROBOTS
         for relative in (False, True)]

# bounds at which a function has an equality form, by kind
EQUALITY_BOUNDS = {
    'angle_between_vectors': [0, np.pi], 'frame_orientation': [0], 'gaze_angle': [0, np.pi],
    'point_to_line_distance': [0], 'point_to_point_distance': [0]}
# kinds whose fields name no frame
WITHOUT_FRAMES = {'joint_coupling', 'joint_positions', 'minimum_distance', 'pair_distance',
                  'user_function'}
NAN = np.nan
# malformed values of each type of field
MALFORMED = {
    fields.Point: [None, 'x', (1, 2), (1, 2, NAN), ((1, 2, 3),)],
    fields.Axis: [(0, 0, 0), (1e-12, 0, 0), (1, 0), (NAN, 0, 1), 'z', None],
    fields.Points: [[], (1, 2, 3), [(1, 2, NAN)], [(1e200, 0, 0)], 'x'],
    fields.Matrix: ['A', [[1, NAN]], np.zeros((0, 3)), [(1,), (1, 2)]],
    fields.Names: ['ab', [], [3], ['a', 'a']], fields.RowNumbers: [np.inf, 'x'],
    fields.Rotation: [np.eye(2), np.diag([1, 1, -1]), np.eye(3) * 1.01, np.full((3, 3), NAN), 'R'],
    fields.Axes: ['xx', None], fields.Number: [NAN, 'x'], fields.Length: [0.0, NAN, 'far'],
    fields.RowCount: [0, 1.5]}


def malformed_values(field):
    """Return malformed values of a field; for a choice field, values it does not allow."""
    non_choices = ['no such word', 3] if ' | ' in field.type.form else []
    return next((values for kind, values in MALFORMED.items()
                 if get_args(kind)[1] is field.type), non_choices)


def jacobian_by_differences(function, robot, q, h=1e-6):
    """Return the Jacobian by central differences in the tangent space, (m, nv)."""
    def value(v):
        return function.value(Configuration(robot, step(robot, q, v), robot.scratch_data()))
    return np.array([(value(v) - value(-v)) / (2 * h) for v in np.eye(robot.nv) * h]).T


@pytest.fixture
def robot_of(load, small):
    def robot(name):
        root = ROBOTS[name][0]
        return load(name) if root is None else small(name, root)
    return robot


@pytest.fixture
def case(request, robot_of):
    """Return a function and a robot at a random configuration."""
    make, name, relative = request.param
    robot, (_, frame, other) = robot_of(name), ROBOTS[name]
    at = Configuration(robot, robot.random_q(np.random.default_rng(3)))
    return make(robot, frame, other if relative else None), at


def test_each_function_kind_has_samples():
    assert set(SAMPLES) == set(function_kinds())


def test_registering_a_function_kind_twice_is_refused():
    with pytest.raises(InvalidOptionError, match="'gaze_angle' is registered for .*GazeAngle; ch"):
        @register_function('gaze_angle')
        class Another(KinematicFunction):
            pass
    assert function_kinds()['gaze_angle'] is GazeAngle


@pytest.mark.parametrize('kind', SAMPLES)
def test_signature_of_each_function_kind_shows_plain_types(kind):
    signature = str(inspect.signature(function_kinds()[kind]))
    assert not any(word in signature for word in ('Annotated', 'FieldType', 'numpy'))


@pytest.mark.parametrize('case', CASES, indirect=True)
def test_jacobians_of_functions_agree_with_finite_differences(case):
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
    joints = function.joints(at.robot)     # the other joints do not change the value
    assert joints <= set(at.robot.joint_names)
    for joint in at.robot.joints:
        columns = J[:, joint.velocity_index:joint.velocity_index + joint.velocity_size]
        assert joint.name in joints or np.abs(columns).max() < 1e-15


@pytest.mark.parametrize('kind', SAMPLES)
@pytest.mark.parametrize('name', ROBOTS)
def test_functions_are_finite_at_zero_and_relative_to_their_own_frame(kind, name, robot_of):
    """At the zero configuration, axes are parallel or intersect."""
    robot, frame = robot_of(name), ROBOTS[name][1]
    at = Configuration(robot)
    for make in SAMPLES[kind]:
        for function in (make(robot, frame, frame), make(robot, frame, None)):
            value, J = function.evaluate(at)
            assert np.isfinite(value).all() and np.isfinite(J).all()
            if not function.joints(robot):
                np.testing.assert_allclose(J, 0, atol=1e-12)


@pytest.mark.parametrize('kind', SAMPLES)
def test_pickled_functions_have_equal_values(kind, robot_of):
    """Worker processes receive pickled functions."""
    robot = robot_of('panda')
    at = Configuration(robot, robot.random_q(np.random.default_rng(3)))
    for make in SAMPLES[kind]:
        function = make(robot, 'panda_hand', 'panda_link3')
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(function)).value(at),
                                      function.value(at))


@pytest.mark.parametrize('kind', SAMPLES)
def test_functions_have_their_kind_and_distinct_labels(kind, robot_of):
    for make in SAMPLES[kind]:
        function = make(robot_of('panda'), 'panda_hand', None)
        assert type(function) is function_kinds()[kind] and function.kind == kind
        assert kind in str(function) or str(function) == function.name   # UserFunction
        assert len(set(function.labels)) == len(function.labels)


@pytest.mark.parametrize('kind', sorted(SAMPLES.keys() - WITHOUT_FRAMES))
def test_unknown_frames_of_functions_are_refused(kind, robot_of):
    robot = robot_of('panda')
    made = [make(robot, *frames) for make in SAMPLES[kind]
            for frames in (('nowhere', None), ('panda_hand', 'nowhere'))]
    # one sample of some kinds uses the second frame only
    used = [function for function in made if 'nowhere' in repr(function)]
    assert len(used) >= len(made) - 1
    for function in used:
        with pytest.raises(UnknownFrameError, match="'nowhere'"):
            function.joints(robot)


@pytest.mark.parametrize('kind', SAMPLES)
def test_malformed_field_of_a_function_is_refused_with_its_name(kind, robot_of):
    function = SAMPLES[kind][0](robot_of('panda'), 'panda_hand', 'panda_link3')
    for name, field in spec_fields(type(function)).items():
        for value in malformed_values(field):
            with pytest.raises(InvalidConstraintError, match=name):
                replace(function, **{name: value})


def test_every_equality_form_is_tested():
    inherited = KinematicFunction.equality_form
    assert set(EQUALITY_BOUNDS) == {kind for kind, function in function_kinds().items()
                                    if function.equality_form is not inherited}


@pytest.mark.parametrize('kind, bound', [(kind, b) for kind, bounds in EQUALITY_BOUNDS.items()
                                         for b in bounds])
@pytest.mark.parametrize('name', ROBOTS)
def test_norm_of_the_equality_form_is_the_distance_from_the_bound(kind, bound, name, robot_of):
    """The form is zero exactly where the bound holds."""
    robot, (_, *frames) = robot_of(name), ROBOTS[name]
    for make in SAMPLES[kind]:
        function = make(robot, *frames)
        if getattr(function, 'form', 'angle') != 'angle':
            continue    # other forms are smooth and need none
        form = function.equality_form(np.array([bound]), np.array([bound]))
        assert form.joints(robot) == function.joints(robot)
        for seed in range(5):
            at = Configuration(robot, robot.random_q(np.random.default_rng(seed)))
            assert np.linalg.norm(form.value(at)) == pytest.approx(
                abs(function.value(at)[0] - bound), abs=1e-12)


@pytest.mark.parametrize('kind', EQUALITY_BOUNDS)
def test_interior_and_inequality_bounds_have_no_equality_form(kind, robot_of):
    for make in SAMPLES[kind]:
        function = make(robot_of('panda'), 'panda_hand', None)
        for bounds in ((0, 1e-6), (0.5, 0.5), (0.5, function.range[1]), (0, np.inf)):
            assert function.equality_form(*np.array(bounds).reshape(2, 1)) is None
