"""~/solve_constrained_ik over DDS: results, feedback, cancellation, concurrent goals."""

from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from node_harness import eventually, matrix, neutral, reachable, unreachable, values
import numpy as np
from std_msgs.msg import String

from ros2_ik.msg import Status

TIP = 'panda_hand_tcp'
LONG = Duration(sec=9)


def test_goal_returns_a_solution_at_the_target(client, panda, panda_fk):
    target = reachable(panda, TIP, 1)
    state, result = client.goal(targets=[target]).result()
    assert (state, result.status) == (GoalStatus.STATUS_SUCCEEDED, Status.SUCCESS)
    T = panda_fk.transform(values(result.solution), TIP, panda.root_frame)
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
    reports = [f for f in goal.feedback
               if f.phase == 'searching' and f.best_attempt.joint_state.name]
    assert len(reports) >= 3
    assert all(len(f.position_errors) == 1 for f in reports)
    for before, after in zip(reports, reports[1:], strict=False):
        assert before.seconds < after.seconds and before.iterations <= after.iterations
        assert before.restarts <= after.restarts
    errors = [error(f) for f in reports]
    assert all(after <= before * (1 + 1e-9) for before, after in zip(errors, errors[1:],
                                                                     strict=False))
    assert error(result) <= errors[-1] * (1 + 1e-9)


def error(message):
    return np.hypot(message.position_errors[0], message.orientation_errors[0])


def test_cancelled_search_returns_its_best_attempt(client, panda, panda_fk):
    target = unreachable()
    goal = client.goal(targets=[target], timeout=LONG).wait_for_feedback()
    response = goal.cancel()
    assert len(response.goals_canceling) == 1
    state, result = goal.result()
    assert (state, result.status) == (GoalStatus.STATUS_CANCELED, Status.PREEMPTED)
    assert 'cancelled' in result.message
    T = panda_fk.transform(values(result.best_attempt), TIP, panda.root_frame)
    distance = np.linalg.norm(T[:3, 3] - matrix(target.pose)[:3, 3])
    assert abs(distance - result.position_errors[0]) < 1e-6


def test_goal_cancelled_right_after_its_start_returns_a_best_attempt(client, panda):
    """Searches by solvers other than lm run only in workers."""
    iterations = []
    for _ in range(5):
        goal = client.goal(targets=[unreachable()], solver='sqp', timeout=LONG)
        goal.handle()
        client.fk(state=neutral(panda))     # its response shows that a worker has the search
        goal.cancel()
        state, result = goal.result()
        assert (state, result.status) == (GoalStatus.STATUS_CANCELED, Status.PREEMPTED)
        assert result.best_attempt.joint_state.name
        iterations.append(result.iterations)
    # a cancellation may arrive before the first iteration
    assert any(iterations)


def test_cancelled_search_returns_a_solution_found_earlier(client, panda):
    """With select='nearest' the search continues after the first solution."""
    goal = client.goal(targets=[reachable(panda, TIP, 2)], select='nearest', timeout=LONG)
    eventually(lambda: any(f.position_errors and f.position_errors[0] < 1e-5
                           for f in list(goal.feedback)), 'a solution')
    goal.cancel()
    state, result = goal.result()
    assert (state, result.status) == (GoalStatus.STATUS_CANCELED, Status.SUCCESS)
    assert result.solution.joint_state.name


def test_long_goals_share_the_worker_with_short_requests(client, panda):
    """The node has one worker."""
    long_goals = [client.goal(targets=[unreachable()], timeout=Duration(sec=2)).wait_for_feedback()
                  for _ in range(3)]
    for number in range(5):
        target = reachable(panda, TIP, number)
        state, result = client.goal(targets=[target]).result()
        assert (state, result.status) == (GoalStatus.STATUS_SUCCEEDED, Status.SUCCESS)
        response = client.ik(targets=[target])
        assert np.allclose(result.solution.joint_state.position,
                           response.solution.joint_state.position)
        assert client.ik(targets=[target], solutions=4).status == Status.SUCCESS
    for goal in long_goals:
        _, result = goal.result()
        assert result.status in (Status.NO_IK_SOLUTION, Status.TIMED_OUT)
        assert result.seconds > 1.9


def test_cancel_right_after_sending_cancels_or_finishes_the_goal(client, panda):
    """The goal may be waiting, in its first slice, or finished."""
    for number in range(20):
        goal = client.goal(**({'targets': [reachable(panda, TIP, number)]} if number % 2 else
                              {'targets': [unreachable()], 'timeout': LONG}))
        response, (state, result) = goal.cancel(), goal.result()
        if response.goals_canceling:
            assert state == GoalStatus.STATUS_CANCELED
            assert result.status in (Status.PREEMPTED, Status.SUCCESS)
        else:
            assert number % 2 and state == GoalStatus.STATUS_SUCCEEDED


def test_65th_open_goal_is_refused_as_busy(client, panda):
    assert client.set('max_timeout', 60.0).successful   # a busy machine takes over 9 s for 65
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
    goal = client.goal(targets=[unreachable()], timeout=LONG).wait_for_feedback()
    other_urdf = panda.urdf.replace('name="panda"', 'name="another"')
    assert other_urdf != panda.urdf
    client.publish('robot_description', String(data=other_urdf), latched=True)
    state, result = goal.result()
    client.publish_robot(panda)
    assert (state, result.status) == (GoalStatus.STATUS_ABORTED, Status.INVALID_ROBOT_STATE)
    assert 'replaced' in result.message
