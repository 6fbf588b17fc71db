"""Solutions: fields, status numbers and explanations."""

from judge import pose
import numpy as np
import pytest

from ros2_ik.core import (
    Configuration,
    Constraint,
    FramePosition,
    IKProblem,
    IKSolution,
    solve,
    solve_pose,
    Status,
)

MOVEIT = {'SUCCESS': 1, 'NO_IK_SOLUTION': -31, 'TIMED_OUT': -6, 'GOAL_IN_COLLISION': -12,
          'GOAL_CONSTRAINTS_VIOLATED': -14, 'PREEMPTED': -7, 'INVALID_ROBOT_STATE': -17,
          'ROBOT_STATE_STALE': -23, 'FRAME_TRANSFORM_FAILURE': -21, 'INVALID_LINK_NAME': -18,
          'INVALID_GROUP_NAME': -15, 'INVALID_GOAL_CONSTRAINTS': -16, 'INVALID_OBJECT_NAME': -19,
          'START_STATE_IN_COLLISION': -10, 'CONTROL_FAILED': -4, 'INVALID_MOTION_PLAN': -2,
          'COLLISION_CHECKING_UNAVAILABLE': -22, 'FAILURE': 99999}


@pytest.fixture
def solved(small):
    robot = small('scara')
    T = Configuration(robot, [0.3, -0.5, -0.1, 0.7]).transform('tip')
    return solve_pose(robot, 'tip', T, random_state=0, solutions=2, timeout=30.0)


@pytest.fixture
def failed(small):
    return solve_pose(small('scara'), 'tip', pose((3, 0, 0.2)), max_iterations=60,
                      random_state=0, timeout=30.0)


def test_status_numbers_equal_those_of_moveit():
    added = {'APPROXIMATE': 2}    # the codes of MoveIt are 1, negative, or FAILURE
    assert {status.name: status.value for status in Status} == MOVEIT | added


def test_successful_solution_has_all_fields(small, solved):
    robot = small('scara')
    assert solved.success is True and solved.status is Status.SUCCESS
    assert list(solved.joints) == list(robot.joint_names)
    assert list(solved.joints.values()) == list(solved.q) == list(solved.best_q)
    assert solved.best_joints == solved.joints
    assert solved.impossible is False and solved.violations == () and solved.contacts == ()
    assert [error.tip for error in solved.errors] == ['tip']
    assert solved.pose_error_norm == pytest.approx(
        np.hypot(solved.errors[0].position, solved.errors[0].orientation))
    assert solved.solver == 'lm' and solved.solver_reason
    assert solved.iterations > 0 and solved.seconds > 0 and solved.restarts >= 0
    assert solved.exit_flag.name == 'CONVERGED'
    other, = solved.alternatives
    assert isinstance(other, IKSolution) and other.success and other.joints
    assert np.abs(other.q - solved.q).max() > 1e-2


def test_numbers_of_a_solution_are_python_types(solved, failed):
    """JSON and ROS messages need these types."""
    for solution in (solved, failed):
        assert all(type(value) is float for value in solution.best_joints.values())
        assert type(solution.errors[0].position) is type(solution.seconds) is float
        assert type(solution.iterations) is int and type(solution.pose_error_norm) is float
    with pytest.raises(AttributeError, match="an IKSolution has no 'sucess'"):
        solved.sucess   # noqa: B018


def test_explanation_of_success_names_tip_solver_and_iterations(solved):
    text = solved.explain()
    assert text.startswith('SUCCESS: ') and "'tip'" in text
    assert 'lm' in text and 'iterations' in text and 'restart' in text
    assert 'try' not in text and 'violated' not in text


def test_explanation_of_failure_states_violations_and_their_size(failed):
    text = failed.explain()
    assert text.startswith('NO_IK_SOLUTION: ')
    assert "position error of 'tip': 2.3 m" in text
    assert 'out of reach' in text and 'try:' not in text


def test_explanation_suggests_no_longer_timeout_for_infeasible_problems(small, failed):
    no_restarts = solve_pose(small('scara'), 'tip', pose((3, 0, 0.2)), allow_restarts=False)
    timed_out = solve_pose(small('scara'), 'tip', pose((3, 0, 0.2)), timeout=1e-9)
    cancelled = solve_pose(small('scara'), 'tip', pose((3, 0, 0.2)), cancel=lambda: True)
    boxes = [Constraint(FramePosition('tip'), low, low + 0.1) for low in (0.0, 0.5)]
    excluded = solve(IKProblem(small('scara'), constraints=boxes), timeout=30.0)
    assert excluded.status is Status.GOAL_CONSTRAINTS_VIOLATED
    for solution in (failed, no_restarts, timed_out, cancelled, excluded):
        assert solution.impossible and 'try:' not in solution.explain()
