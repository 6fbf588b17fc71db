"""What makes no sense in constraints and costs is refused, with its place."""

import math

from diagnostic_msgs.msg import KeyValue
from geometry_msgs.msg import Point, Pose, Quaternion, Vector3
import numpy as np
import pytest

from ros2_ik.core import collision_checker, Scene, Status
from ros2_ik.msg import (
    AllowedCollisionEntry,
    AllowedCollisionMatrix,
    AxisAlignment,
    Bounds,
    CenterOfMass,
    FramePose,
    FramePosition,
    GazeAngle,
    HalfSpaces,
    IKConstraints,
    IKCosts,
    JointCoupling,
    JointPositions,
    LinkPadding,
    Manipulability,
    MinimumDistance,
    PairDistance,
    PointToLineDistance,
)
from ros2_ik.node.conversions.collision_rules import MAX_NAMES, with_rules
from ros2_ik.node.conversions.constraints import MAX_FUNCTIONS, read_wanted
from ros2_ik.node.conversions.functions import MAX_ROWS
from ros2_ik.node.conversions.solver_options import MAX_OPTIONS, read_options
from ros2_ik.node.refusal import Refusal
from ros2_ik.srv import ComputeIK

GOAL, LINK, OBJECT = (Status.INVALID_GOAL_CONSTRAINTS, Status.INVALID_LINK_NAME,
                      Status.INVALID_OBJECT_NAME)
HAND, NAN = 'panda_hand', math.nan
AIM = {'frame': HAND, 'axis': Vector3(z=1.0), 'target': Point(x=0.5),
       'bounds': Bounds(upper=[0.1])}
LIFT = {'frame': HAND, 'axes': 'z'}
# field, message, status, words of the refusal
WRONG = [
    ('gaze_angle', GazeAngle(**{**AIM, 'axis': Vector3()}), GOAL, 'axis has length zero'),
    ('gaze_angle', GazeAngle(**{**AIM, 'target': Point(y=NAN)}), GOAL, 'target must be 3 finite'),
    ('gaze_angle', GazeAngle(**{**AIM, 'frame': ''}), LINK, 'frame is empty'),
    ('gaze_angle', GazeAngle(**{**AIM, 'frame': 'panda_hnad'}), LINK,
     "frame: unknown frame 'panda_hnad'; did you mean 'panda_hand'"),
    ('gaze_angle', GazeAngle(**{**AIM, 'relative_to': 'nowhere'}), LINK,
     "relative_to: unknown frame 'nowhere'"),
    ('gaze_angle', GazeAngle(**{**AIM, 'bounds': Bounds()}), GOAL, 'one of target, lower'),
    ('gaze_angle', GazeAngle(**{**AIM, 'bounds': Bounds(lower=[4.0])}), GOAL, 'never met'),
    ('gaze_angle', GazeAngle(**{**AIM, 'bounds': Bounds(lower=[2.0], upper=[1.0])}), GOAL,
     'lower bound 2 is above the upper bound 1'),
    ('gaze_angle', GazeAngle(**{**AIM, 'bounds': Bounds(target=[0.0], upper=[1.0])}), GOAL,
     'target alone, or lower, upper or both'),
    ('gaze_angle', GazeAngle(**{**AIM, 'bounds': Bounds(upper=[NAN])}), GOAL, 'not a number'),
    ('gaze_angle', GazeAngle(**{**AIM, 'bounds': Bounds(upper=[1.0], tolerance=-1.0)}), GOAL,
     'tolerance must be a number from 1e-12 to 1e+09'),
    ('gaze_angle', GazeAngle(**{**AIM, 'bounds': Bounds(upper=[1.0], tolerance=NAN)}), GOAL,
     'tolerance must be a number from 1e-12 to 1e+09'),
    ('gaze_angle', GazeAngle(**{**AIM, 'bounds': Bounds(upper=[1.0], weight=[2.0])}), GOAL,
     'bounds.weight: a hard constraint has no weight'),
    ('gaze_angle', GazeAngle(**{**AIM, 'bounds': Bounds(upper=[1.0], soft=True, tolerance=0.1)}),
     GOAL, 'bounds.tolerance: what is soft'),
    ('gaze_angle', GazeAngle(**{**AIM, 'bounds': Bounds(soft=True)}), GOAL, 'asks for nothing'),
    ('gaze_angle', GazeAngle(**{**AIM, 'bounds': Bounds(upper=[1.0], soft=True, weight=[-1.0])}),
     GOAL, 'weight of gaze_angle is negative'),
    ('gaze_angle', GazeAngle(**{**AIM, 'bounds': Bounds(upper=[1.0], soft=True, weight=[NAN])}),
     GOAL, 'weight of gaze_angle is not finite'),
    ('gaze_angle', GazeAngle(**{**AIM, 'bounds': Bounds(upper=[0.1, 0.2])}), GOAL,
     'upper bound of gaze_angle must be one number or 1'),
    ('gaze_angle', GazeAngle(**{**AIM, 'bounds': Bounds(upper=[0.1] * 100_000)}), GOAL,
     'bounds.upper has 100000 numbers'),
    ('axis_alignment', AxisAlignment(frame=HAND, vector=Vector3(x=1.0),
                                     bounds=Bounds(target=[0.0])), GOAL,
     'other_vector has length zero'),
    ('frame_position', FramePosition(**{**LIFT, 'axes': 'xw'}, bounds=Bounds(target=[0.0])), GOAL,
     "axes is 'xw'"),
    ('frame_position', FramePosition(**{**LIFT, 'axes': ''}, bounds=Bounds(target=[0.0])), GOAL,
     "axes is ''"),
    ('frame_position', FramePosition(
        **LIFT, t_relative_a=Pose(orientation=Quaternion(w=0.0)), bounds=Bounds(target=[0.0])),
     GOAL, 'the quaternion of t_relative_a is zero'),
    ('frame_position', FramePosition(frame=HAND, bounds=Bounds(
        target=[0.0], soft=True, weight=[1.0, 2.0])), GOAL,
     'bounds.weight has 2 numbers; valid: none, 1, 3 (one a row) or 9'),
    ('frame_position', FramePosition(frame=HAND, bounds=Bounds(
        target=[0.0], soft=True, weight=[1.0, 2, 0, 0, 1, 0, 0, 0, 1])), GOAL, 'not symmetric'),
    ('frame_pose', FramePose(frame=HAND, reference=Pose(orientation=Quaternion(w=2.0)),
                             bounds=Bounds(target=[0.0])), GOAL, 'reference has norm 2'),
    ('center_of_mass', CenterOfMass(links=['panda_hnad'], bounds=Bounds(target=[0.0])), LINK,
     "'panda_hnad'"),
    ('half_spaces', HalfSpaces(frame=HAND, bounds=Bounds(upper=[0.0])), GOAL, 'a has 0 numbers'),
    ('half_spaces', HalfSpaces(frame=HAND, points=[Point()], a=[1.0, 2],
                               bounds=Bounds(upper=[0.0])), GOAL, 'a has 2 numbers; it takes 3'),
    ('half_spaces', HalfSpaces(frame=HAND, points=[Point()] * 20_000, bounds=Bounds(upper=[0.0])),
     GOAL, 'points has 20000 items'),
    ('half_spaces', HalfSpaces(frame=HAND, points=[Point()], a=[1.0] * 6000,
                               bounds=Bounds(upper=[0.0])), GOAL, 'a has 2000 rows'),
    ('joint_coupling', JointCoupling(names=['panda_joint1'], bounds=Bounds(target=[0.0])), GOAL,
     'ratios has 0 numbers'),
    ('joint_coupling', JointCoupling(names=['panda_jiont1'], ratios=[1.0],
                                     bounds=Bounds(target=[0.0])), GOAL,
     "unknown joint 'panda_jiont1'; did you mean 'panda_joint1'"),
    ('joint_positions', JointPositions(names=['panda_joint1'] * 2, bounds=Bounds(target=[0.0])),
     GOAL, "names has 'panda_joint1' twice"),
    ('joint_positions', JointPositions(names=['panda_joint1'], reference=[0.0, 1.0],
                                       bounds=Bounds(target=[0.0])), GOAL, 'the reference 2'),
    ('joint_positions', JointPositions(names=['panda_joint1'], bounds=Bounds(target=[0.0, 1.0])),
     GOAL, 'must be one number or 1'),
    ('manipulability', Manipulability(frame=HAND, rows='any', bounds=Bounds(lower=[0.1])), GOAL,
     "rows is 'any'; valid: all, position, orientation"),
    ('minimum_distance', MinimumDistance(rows=4_000_000_000, bounds=Bounds(lower=[0.1])), GOAL,
     'rows is 4000000000; at most 1000'),
    ('minimum_distance', MinimumDistance(rows=0, bounds=Bounds(lower=[0.1])), GOAL,
     'rows must be a whole number from 1'),
    ('minimum_distance', MinimumDistance(influence=NAN, bounds=Bounds(lower=[0.1])), GOAL,
     'influence must be a positive finite number'),
    ('pair_distance', PairDistance(first=HAND, second='bxo', bounds=Bounds(lower=[0.1])), OBJECT,
     "unknown link or object with geometry 'bxo'; valid: panda_hand, "),
    ('pair_distance', PairDistance(first=HAND, second='', bounds=Bounds(lower=[0.1])), OBJECT,
     'panda_rightfinger (11 in all)'),
    ('point_to_line_distance', PointToLineDistance(frame=HAND, bounds=Bounds(upper=[0.1])), GOAL,
     'line_direction has length zero'),
]


@pytest.fixture(scope='module')
def checker(panda):
    return collision_checker(panda, Scene(panda))


def refusal(request, robot, checker=None):
    with pytest.raises(Refusal) as error:
        read_wanted(request, robot, checker)
    return error.value


@pytest.mark.parametrize('case', WRONG, ids=lambda case: f'{case[0]}: {case[3][:30]}')
def test_constraint_refused_with_its_place(case, panda, checker):
    kind, message, status, words = case
    found = refusal(ComputeIK.Request(constraints=IKConstraints(**{kind: [message]})), panda,
                    checker)
    assert str(found).startswith(f'constraints.{kind}[0]: ') and words in str(found)
    assert found.status is status


@pytest.mark.parametrize(('bounds', 'words'), [
    (Bounds(upper=[1.0], tolerance=0.1), 'bounds.tolerance: what is soft has a weight'),
    (Bounds(target=[math.inf]), 'target of gaze_angle 2 is not finite'),
    (Bounds(weight=[-1.0]), 'weight of gaze_angle 2 is negative'),
    (Bounds(upper=[-1.0]), 'never met')])
def test_cost_refused_with_its_place(bounds, words, panda):
    costs = IKCosts(gaze_angle=[GazeAngle(frame=HAND, axis=Vector3(z=1.0)),
                                GazeAngle(**{**AIM, 'bounds': bounds})])
    found = refusal(ComputeIK.Request(costs=costs), panda)
    assert str(found).startswith('costs.gaze_angle[1]: ') and words in str(found)
    assert found.status is GOAL


def test_too_many_at_once(panda):
    half = [GazeAngle(**AIM)] * (MAX_FUNCTIONS // 2 + 1)
    wanted = ComputeIK.Request(constraints=IKConstraints(gaze_angle=half),
                               costs=IKCosts(gaze_angle=half))
    assert str(refusal(wanted, panda)) == '102 constraints and costs; at most 100 are read'


def near_things(count, rows):
    return [MinimumDistance(rows=rows, bounds=Bounds(lower=[0.0]))] * count


@pytest.mark.parametrize(('fields', 'words'), [
    ({'constraints': IKConstraints(minimum_distance=near_things(99, 1000))},
     'constraints.minimum_distance[1]: its 1000 rows make 2000'),
    ({'constraints': IKConstraints(minimum_distance=near_things(60, 20))},
     'constraints.minimum_distance[50]: its 20 rows make 1020'),
    ({'constraints': IKConstraints(minimum_distance=near_things(9, 100)),
      'costs': IKCosts(minimum_distance=near_things(1, 101))},
     'costs.minimum_distance[0]: its 101 rows make 1001')])
def test_too_many_rows_together(fields, words, panda, checker):
    found = refusal(ComputeIK.Request(**fields), panda, checker)
    assert str(found).startswith(words) and 'at most 1000 are taken' in str(found)
    assert found.status is GOAL


def test_as_many_rows_as_are_taken(panda, checker):
    wanted = read_wanted(ComputeIK.Request(
        constraints=IKConstraints(minimum_distance=near_things(9, MAX_ROWS // 10)),
        costs=IKCosts(minimum_distance=near_things(1, MAX_ROWS // 10))), panda, checker)
    assert sum(len(function.labels) for function in wanted.functions) == MAX_ROWS


def test_names_are_told_apart(panda):
    named = GazeAngle(**{**AIM, 'bounds': Bounds(name='camera', upper=[0.1])})
    soft = GazeAngle(**{**AIM, 'bounds': Bounds(upper=[0.1], soft=True)})
    wanted = read_wanted(ComputeIK.Request(
        constraints=IKConstraints(gaze_angle=[GazeAngle(**AIM), named, soft, named]),
        costs=IKCosts(gaze_angle=[GazeAngle(frame=HAND, axis=Vector3(z=1.0))])), panda)
    assert [c.name for c in wanted.constraints] == ['gaze_angle', 'camera', 'camera 2']
    assert [c.name for c in wanted.costs] == ['gaze_angle 2', 'gaze_angle 3']


def test_a_weight_for_each_row_or_a_matrix(panda):
    weights = [], [3.0], [1.0, 2, 0], [2.0, 1, 0, 1, 2, 0, 0, 0, 1]
    messages = [FramePosition(frame=HAND, bounds=Bounds(weight=weight)) for weight in weights]
    wanted = read_wanted(ComputeIK.Request(costs=IKCosts(frame_position=messages)), panda)
    expected = np.eye(3), 3 * np.eye(3), np.diag([1, 2, 0]), [[2, 1, 0], [1, 2, 0], [0, 0, 1]]
    for cost, W in zip(wanted.costs, expected, strict=True):
        np.testing.assert_allclose(cost.factor.T @ cost.factor, W, atol=1e-12)


# -- collision rules and options ------------------------------------------------------------

def matrix(names, rows, defaults=()):
    return AllowedCollisionMatrix(
        entry_names=names, entry_values=[AllowedCollisionEntry(enabled=row) for row in rows],
        default_entry_names=list(defaults), default_entry_values=[True] * len(defaults))


@pytest.mark.parametrize(('fields', 'status', 'words'), [
    ({'link_padding': [LinkPadding(link_name='panda_hnad', padding=0.1)]}, LINK,
     "link_padding[0]: unknown link 'panda_hnad'"),
    ({'link_padding': [LinkPadding(link_name=HAND, padding=NAN)]}, GOAL, 'link_padding[0]: '),
    ({'link_padding': [LinkPadding(link_name=HAND, padding=-0.1)]}, GOAL, 'link_padding[0]: '),
    ({'allowed_collisions': matrix([HAND, 'bxo'], [[True] * 2] * 2)}, OBJECT,
     "allowed_collisions: unknown name 'bxo'"),
    ({'allowed_collisions': matrix([], [], ['bxo'])}, OBJECT, "unknown name 'bxo'"),
    ({'allowed_collisions': matrix([HAND], [])}, GOAL, 'the matrix has 0 rows for 1 names'),
    ({'allowed_collisions': matrix([HAND] * 300, [])}, GOAL,
     'allowed_collisions: entry_names has 300 items; at most 200'),
    ({'allowed_collisions': matrix([], [], ['bxo'] * 201)}, GOAL,
     'allowed_collisions: default_entry_names has 201 items; at most 200'),
    ({'link_padding': [LinkPadding(link_name=HAND, padding=0.01)] * 201}, GOAL,
     'link_padding has 201 items; at most 200')])
def test_rules_refused_with_their_place(fields, status, words, panda):
    with pytest.raises(Refusal) as error:
        with_rules(Scene(panda), ComputeIK.Request(**fields))
    assert words in str(error.value) and error.value.status is status


def test_as_many_names_as_are_read(panda):
    thick = [LinkPadding(link_name=HAND, padding=0.01)] * MAX_NAMES
    assert with_rules(Scene(panda), ComputeIK.Request(link_padding=thick)).padding == {HAND: 0.01}


def test_rules_only_allow_more(panda):
    scene = Scene(panda).allow('panda_link1', HAND).with_padding({'panda_link5': 0.02})
    names = ['panda_link1', HAND, 'panda_link3']
    with_more = with_rules(scene, ComputeIK.Request(
        allowed_collisions=matrix(names, [[False, False, True]] * 3),
        link_padding=[LinkPadding(link_name=HAND, padding=0.03)]))
    assert with_more.allowed.allowed('panda_link1', HAND)
    assert with_more.allowed.allowed('panda_link1', 'panda_link3')
    assert dict(with_more.padding) == {'panda_link5': 0.02, HAND: 0.03}
    assert with_rules(scene, ComputeIK.Request()) is scene


@pytest.mark.parametrize(('text', 'value'), [
    ('0.01', 0.01), ('1e-3', 1e-3), ('40', 40), ('-7', -7), ('010', 10), ('2.', 2.0),
    ('true', True), ('False', False), ('jlog6', 'jlog6'), ('', ''), ('[1, 2]', '[1, 2]'),
    ('{', '{'), ('null', 'null'), ('yes', 'yes'), ('off', 'off'), ('1:30', '1:30'),
    ('2020-99-99', '2020-99-99'), ('2020-01-01', '2020-01-01'), ('0x1f', '0x1f')])
def test_values_of_options(text, value):
    found = read_options([KeyValue(key='it', value=text)])['it']
    assert found == value and type(found) is type(value)


def test_options_refused():
    for pairs, words in (([KeyValue(key='a')] * 2, "solver_options has 'a' twice"),
                         ([KeyValue(key='a', value='x' * 1000)],
                          'value has 1000 characters; at most 200'),
                         ([KeyValue(key='a' * 1000)], 'key has 1000 characters; at most 200'),
                         ([KeyValue(key=str(i)) for i in range(MAX_OPTIONS + 1)],
                          'solver_options has 101 options; at most 100')):
        with pytest.raises(Refusal, match=words):
            read_options(pairs)
