"""Problems: active joints, reference frames of targets, and refusals."""

from judge import pose
import numpy as np
import pytest
from small_robots import TWO_ARMS

from ros2_ik.core import (
    Configuration,
    Constraint,
    FramePosition,
    IKError,
    IKProblem,
    JointPositions,
    LeastSquares,
    PoseTarget,
    Robot,
    ScalarCost,
    solve_pose,
)
from ros2_ik.core.errors import (
    InvalidConstraintError,
    InvalidOptionError,
    InvalidStateError,
    InvalidTargetError,
    UnknownFrameError,
    UnknownGroupError,
    UnknownJointError,
)

LEFT = tuple(f'left_{i}' for i in range(1, 7))
RIGHT = tuple(f'right_{i}' for i in range(1, 7))
SRDF = ('<robot name="small"><group name="left"><chain base_link="chest" tip_link="left_hand"/>'
        '</group><group name="torso"><joint name="torso"/></group></robot>')
BOX = Constraint(FramePosition('left_hand'), -1, 1)
COST = LeastSquares(FramePosition('right_c'))


@pytest.fixture(scope='module')
def robot():
    return Robot.from_urdf(TWO_ARMS, srdf=SRDF)


def target(tip='left_hand', T=None, relative_to=None):
    """Return a target, by default at the origin of the root."""
    return PoseTarget(tip, np.eye(4) if T is None else T, relative_to)


def test_active_joints_without_a_group_are_all_ancestors_of_the_tips(robot):
    assert IKProblem(robot, [target()]).joint_names == ('torso', *LEFT)
    both = IKProblem(robot, [target(), target('right_c')])
    assert both.joint_names == ('torso', *LEFT, *RIGHT[:3])
    assert IKProblem(robot, target('chest')).joint_names == ('torso',)


def test_active_joints_with_a_group_are_those_of_the_group_except_locked_ones(robot):
    assert IKProblem(robot, [target()], 'left').joint_names == LEFT
    assert IKProblem(robot, [target()], 'torso').joint_names == ('torso',)
    problem = IKProblem(robot, [target()], 'left', locked=['left_2', 'torso'])
    assert problem.joint_names == tuple(n for n in LEFT if n != 'left_2')
    assert 'torso' not in IKProblem(robot, [target()], locked=['torso']).joint_names
    assert IKProblem(robot, [target()], locked=('torso' for _ in range(1))).joint_names == LEFT


def test_locked_joints_given_with_values_are_refused(robot):
    for call in (lambda: IKProblem(robot, [target()], locked={'torso': 0.1}),
                 lambda: solve_pose(robot, target().tip, target().transform,
                                    locked={'torso': 0.1})):
        with pytest.raises(InvalidOptionError, match='locked joints keep their values'):
            call()


def test_active_joints_exclude_common_ancestors_of_tip_and_reference_frame(robot):
    problem = IKProblem(robot, [target(relative_to='right_hand')])
    assert problem.joint_names == LEFT + RIGHT
    assert problem.targets[0].relative_to == 'right_hand'


@pytest.mark.parametrize('frame', ['base', 'chest', 'torso', 'right_hand'])
def test_targets_in_fixed_frames_are_transformed_to_the_root(robot, frame):
    start = {'torso': 0.7, 'right_1': 0.3, 'right_2': -0.4}
    at = Configuration(robot, start)
    T = pose((0.1, 0.2, 0.3), (0.3, -0.2, 0.1))
    problem = IKProblem(robot, [target(T=T, relative_to=frame)], 'left', start)
    transformed = problem.targets[0]
    assert transformed.relative_to is None
    moved = Configuration(robot, start | {'left_1': 1.0, 'left_4': 0.5})
    expected = target(T=at.transform(frame) @ T).errors(moved.placement('left_hand'))
    assert transformed.errors(moved.placement('left_hand')) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize('arguments, error, words', [
    ({'targets': None}, InvalidTargetError, []),
    ({'targets': [5]}, IKError, []),
    ({'targets': [target('hand')]}, UnknownFrameError, ["'hand'", "'left_hand'"]),
    ({'targets': [target(['left_hand'])]}, UnknownFrameError, []),
    ({'targets': [target(relative_to='hand')]}, UnknownFrameError, ["'hand'"]),
    ({'targets': [target('base')]}, InvalidTargetError, ["'base'", 'no active joint']),
    ({'targets': [target(), target('right_hand')], 'group': 'left'}, InvalidTargetError,
     ["'right_hand'"]),
    ({'targets': [target(relative_to='left_hand')]}, InvalidTargetError, ["'left_hand'"]),
    ({'targets': [target(relative_to='right_hand')], 'group': 'torso'}, InvalidTargetError,
     ["'torso'"]),
    ({'targets': [target('chest')], 'locked': ['torso']}, InvalidTargetError, ["'chest'"]),
    ({'group': 'lefft'}, UnknownGroupError, ["'lefft'", "'left'"]),
    ({'locked': ['left_9']}, UnknownJointError, ["'left_9'"]),
    ({'locked': 'torso'}, InvalidOptionError, ["'torso'"]),
    ({'start': [0.0]}, InvalidStateError, ['13 finite numbers', '[0.0]']),
    ({'start': {'torso': np.nan}}, InvalidStateError, ["'torso'"]),
    ({'targets': []}, InvalidConstraintError, ['neither targets nor constraints']),
    ({'constraints': BOX}, IKError, ['constraints']), ({'constraints': 'box'}, IKError, ['box']),
    ({'constraints': [COST]}, IKError, ['Constraint']), ({'costs': [BOX]}, IKError, ['Cost']),
    ({'costs': [lambda at: 0.0]}, IKError, ['Cost']), ({'costs': None}, IKError, []),
    ({'constraints': [Constraint(FramePosition('hand'), 0, 1)]}, UnknownFrameError,
     ["'hand'", "'left_hand'"]),
    ({'costs': [LeastSquares(JointPositions(['left_9']))]}, UnknownJointError, ["'left_9'"]),
    ({'constraints': [BOX], 'joint_limits': 0}, InvalidOptionError, ['joint_limits'])])
def test_malformed_problems_are_refused(robot, arguments, error, words):
    arguments = {'targets': [target()], **arguments}
    with pytest.raises(error) as caught:
        IKProblem(robot, **arguments)
    for word in words:
        assert word in str(caught.value)


def test_active_joints_are_those_of_targets_constraints_and_costs(robot):
    """A scalar cost may depend on any joint."""
    assert IKProblem(robot, constraints=[BOX]).joint_names == ('torso', *LEFT)
    assert IKProblem(robot, costs=[COST]).joint_names == ('torso', *RIGHT[:3])
    assert IKProblem(robot, constraints=[BOX], costs=[COST]).joint_names == (
        'torso', *LEFT, *RIGHT[:3])
    assert IKProblem(robot, [target('chest')], costs=[COST]).joint_names == ('torso', *RIGHT[:3])
    anything = ScalarCost(lambda at: 0.0)
    assert IKProblem(robot, costs=[anything]).joint_names == robot.joint_names
    elbow = Constraint(JointPositions(['left_3']), 0, 1)
    assert IKProblem(robot, constraints=[elbow]).joint_names == ('left_3',)


@pytest.mark.parametrize('weights, words', [
    ((1,) * 5, ['six', 'rx']), (None, ['six']), ([[1] * 6], ['six']),
    ((1, 1, 1, 1, 1, -1), ['negative']), ((1, 1, np.nan, 1, 1, 1), ['finite']),
    ((0,) * 6, ['zero']), (('a',) * 6, []), ([10**400] * 6, []), ([[1], [2, 3]], [])])
def test_malformed_weights_are_refused(weights, words):
    with pytest.raises(InvalidTargetError) as caught:
        PoseTarget('tip', np.eye(4), weights=weights)
    for word in [*words, 'weight', "'tip'"]:
        assert word in str(caught.value)


def test_targets_other_than_rigid_transforms_are_refused():
    with pytest.raises(InvalidTargetError,
                       match="target of 'tip'.*determinant -1.*left-handed: a mirror image"):
        PoseTarget('tip', np.diag([1.0, 1, -1, 1]))
    with pytest.raises(InvalidTargetError) as caught:
        PoseTarget('tip', np.diag([2.0, 1, 1, 1]))
    assert 'left-handed' not in str(caught.value)
