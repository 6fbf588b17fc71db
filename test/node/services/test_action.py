"""~/solve_constrained_ik over DDS: results, feedback, cancellation, many goals."""

from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from node_harness import eventually, matrix, neutral, reachable, unreachable, values
import numpy as np
from std_msgs.msg import String

from ros2_ik.msg import Status

TIP = 'panda_hand_tcp'
LONG = Duration(sec=9)


def test_goal_returns_a_solution_that_holds_in_yourdfpy(client, panda, panda_judge):
    target = reachable(panda, TIP, 1)
    state, result = client.goal(targets=[target]).result()
    assert (state, result.status) == (GoalStatus.STATUS_SUCCEEDED, Status.SUCCESS)
    T = panda_judge.transform(values(result.solution), TIP, panda.root_frame)
    assert np.abs(T - matrix(target.pose)).max() < 2e-4
    assert result.position_errors[0] < 1e-5 and result.solver and not result.explanation
    assert not result.best_attempt.joint_state.name


def test_refused_goal_has_a_status_and_a_message(client):
    state, result = client.goal(group='leg').result()
    assert state == GoalStatus.STATUS_ABORTED
    assert result.status == Status.INVALID_GROUP_NAME and "'leg'" in result.message


def test_feedback_of_a_failing_search_never_gets_worse(client, panda):
    target = reachable(panda, TIP, 3)
    target.pose.position.z += 2.0
    goal = client.goal(targets=[target], timeout=Duration(sec=2))
    state, result = goal.result()
    assert state == GoalStatus.STATUS_ABORTED
    assert result.status in (Status.NO_IK_SOLUTION, Status.TIMED_OUT)
    assert result.best_attempt.joint_state.name and not result.solution.joint_state.name
    assert 'NO_IK_SOLUTION' in result.explanation or 'TIMED_OUT' in result.explanation
    told = [f for f in goal.feedback
            if f.phase == 'searching' and f.best_attempt.joint_state.name]
    assert len(told) >= 3
    assert all(len(f.position_errors) == 1 for f in told)
    for before, after in zip(told, told[1:], strict=False):
        assert before.seconds < after.seconds and before.iterations <= after.iterations
        assert before.restarts <= after.restarts
    errors = [error(f) for f in told]
    assert all(after <= before * (1 + 1e-9) for before, after in zip(errors, errors[1:],
                                                                     strict=False))
    assert error(result) <= errors[-1] * (1 + 1e-9)


def error(message):
    return np.hypot(message.position_errors[0], message.orientation_errors[0])


def test_cancelled_search_returns_its_best_attempt(client, panda, panda_judge):
    """The reported errors are those of the best attempt."""
    target = unreachable()
    goal = client.goal(targets=[target], timeout=LONG).searching()
    answer = goal.cancel()
    assert len(answer.goals_canceling) == 1
    state, result = goal.result()
    assert (state, result.status) == (GoalStatus.STATUS_CANCELED, Status.PREEMPTED)
    assert 'cancelled' in result.message
    T = panda_judge.transform(values(result.best_attempt), TIP, panda.root_frame)
    distance = np.linalg.norm(T[:3, 3] - matrix(target.pose)[:3, 3])
    assert abs(distance - result.position_errors[0]) < 1e-6


def test_goal_cancelled_before_the_first_report_returns_the_attempt_of_its_worker(client, panda):
    """The node's thread runs no part of a search by another solver than lm."""
    iterations = []
    for _ in range(5):
        goal = client.goal(targets=[unreachable()], solver='sqp', timeout=LONG)
        goal.handle()
        client.fk(state=neutral(panda))     # answered after the search was sent to the worker
        goal.cancel()
        state, result = goal.result()
        assert (state, result.status) == (GoalStatus.STATUS_CANCELED, Status.PREEMPTED)
        assert result.best_attempt.joint_state.name
        iterations.append(result.iterations)
    # a cancellation may arrive before the first iteration
    assert any(iterations)


def test_cancelled_search_returns_a_solution_found_before(client, panda):
    """select='nearest' keeps searching after the first solution."""
    goal = client.goal(targets=[reachable(panda, TIP, 2)], select='nearest', timeout=LONG)
    eventually(lambda: any(f.position_errors and f.position_errors[0] < 1e-5
                           for f in list(goal.feedback)), 'a solution')
    goal.cancel()
    state, result = goal.result()
    assert (state, result.status) == (GoalStatus.STATUS_CANCELED, Status.SUCCESS)
    assert result.solution.joint_state.name


def test_long_goals_share_the_worker_and_delay_no_short_ones(client, panda):
    """There is one worker."""
    long = [client.goal(targets=[unreachable()], timeout=Duration(sec=2)).searching()
            for _ in range(3)]
    for number in range(5):     # each has its own result
        target = reachable(panda, TIP, number)
        state, result = client.goal(targets=[target]).result()
        assert (state, result.status) == (GoalStatus.STATUS_SUCCEEDED, Status.SUCCESS)
        alone = client.ik(targets=[target])
        assert np.allclose(result.solution.joint_state.position,
                           alone.solution.joint_state.position)
        assert client.ik(targets=[target], solutions=4).status == Status.SUCCESS
    for goal in long:
        _, result = goal.result()
        assert result.status in (Status.NO_IK_SOLUTION, Status.TIMED_OUT)
        assert result.seconds > 1.9


def test_cancel_right_after_the_goal_is_answered(client, panda):
    """The goal may be queued, in its first slice, or finished."""
    for number in range(20):
        goal = client.goal(**({'targets': [reachable(panda, TIP, number)]} if number % 2 else
                              {'targets': [unreachable()], 'timeout': LONG}))
        answer, (state, result) = goal.cancel(), goal.result()
        if answer.goals_canceling:
            assert state == GoalStatus.STATUS_CANCELED
            assert result.status in (Status.PREEMPTED, Status.SUCCESS)
        else:
            assert number % 2 and state == GoalStatus.STATUS_SUCCEEDED


def test_goal_65_is_refused_as_busy(client, panda):
    assert client.set('max_timeout', 60.0).successful   # 65 goals take a busy computer over 9 s
    goals = [client.goal(targets=[unreachable()], timeout=Duration(sec=60)) for _ in range(65)]
    state, result = goals[64].result()
    for goal in goals[:64]:
        goal.cancel()
        assert goal.result()[1].status == Status.PREEMPTED
    assert client.set('max_timeout', 10.0).successful
    assert state == GoalStatus.STATUS_ABORTED and result.status == Status.TIMED_OUT
    assert result.message.startswith('busy') and '64 searches are open' in result.message


def test_search_ends_when_the_robot_is_replaced(client, panda):
    """A solution for the old robot would be wrong."""
    goal = client.goal(targets=[unreachable()], timeout=LONG).searching()
    other = panda.urdf.replace('name="panda"', 'name="another"')
    assert other != panda.urdf
    client.publish('robot_description', String(data=other), latched=True)
    state, result = goal.result()
    client.describe(panda)
    assert (state, result.status) == (GoalStatus.STATUS_ABORTED, Status.INVALID_ROBOT_STATE)
    assert 'replaced' in result.message
