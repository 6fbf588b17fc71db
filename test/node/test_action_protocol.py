"""The services and topics of solve_constrained_ik one by one, as clients of any kind use them."""

import uuid

from action_msgs.msg import GoalInfo, GoalStatus, GoalStatusArray
from action_msgs.srv import CancelGoal
from builtin_interfaces.msg import Duration
from node_harness import eventually, reachable, unreachable
import numpy as np
import pytest
from rclpy.action.graph import (
    get_action_names_and_types,
    get_action_server_names_and_types_by_node,
)
from rclpy.qos import qos_profile_action_status_default
from unique_identifier_msgs.msg import UUID

from ros2_ik.action import SolveConstrainedIK
from ros2_ik.msg import Status

NAME = 'ros2_ik/solve_constrained_ik'
TIP = 'panda_hand_tcp'
LONG = Duration(sec=9)
SEND, RESULT = (SolveConstrainedIK.Impl.SendGoalService, SolveConstrainedIK.Impl.GetResultService)
ENDED = (GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_CANCELED, GoalStatus.STATUS_ABORTED)


@pytest.fixture(autouse=True)
def node(panda_node):
    return panda_node


@pytest.fixture
def told(client):
    """Give the status messages that have come."""
    messages = []
    subscription = client.node.create_subscription(
        GoalStatusArray, f'{NAME}/_action/status', messages.append,
        qos_profile_action_status_default)
    yield messages
    client.node.destroy_subscription(subscription)


class Raw:
    """A goal that is sent without an action client; nobody asks for its result."""

    def __init__(self, client, **fields):
        self.client, self.id = client, UUID(uuid=np.array(list(uuid.uuid4().bytes), np.uint8))
        self.request = SEND.Request(goal_id=self.id, goal=SolveConstrainedIK.Goal(**fields))
        self.sent = client.service(SEND, f'{NAME}/_action/send_goal').call_async(self.request)

    def accepted(self):
        return self.client.wait(self.sent)

    def cancel_later(self):
        return cancel_later(self.client, GoalInfo(goal_id=self.id))

    def result_later(self):
        return self.client.service(RESULT, f'{NAME}/_action/get_result').call_async(
            RESULT.Request(goal_id=self.id))

    def result(self, timeout=5):
        answer = self.client.wait(self.result_later(), timeout)
        return answer.status, answer.result

    def states(self, messages):
        """Give the states that the status has told of it, in order."""
        return [each.status for message in list(messages) for each in message.status_list
                if bytes(each.goal_info.goal_id.uuid) == bytes(self.id.uuid)]


def cancel_later(client, info):
    return client.service(CancelGoal, f'{NAME}/_action/cancel_goal').call_async(
        CancelGoal.Request(goal_info=info))


def cancel(client, info):
    """Give the return code, and the ids of the goals that are cancelled."""
    answer = client.wait(cancel_later(client, info))
    return answer.return_code, {bytes(each.goal_id.uuid) for each in answer.goals_canceling}


def short(panda, number=1):
    return {'targets': [reachable(panda, TIP, number)]}


def long():
    return {'targets': [unreachable()], 'timeout': LONG}


def test_graph(client):
    """Tools find the action, and who serves it."""
    kinds = ['ros2_ik/action/SolveConstrainedIK']
    eventually(lambda: (f'/{NAME}', kinds) in get_action_names_and_types(client.node), 'action')
    assert get_action_server_names_and_types_by_node(client.node, 'ros2_ik', '/') \
        == [(f'/{NAME}', kinds)]


def test_result_that_is_asked_for_late(client, panda, told):
    """The status tells of the end all the same; the result is kept, for more than one."""
    goal = Raw(client, **short(panda))
    assert goal.accepted().accepted
    eventually(lambda: GoalStatus.STATUS_SUCCEEDED in goal.states(told), 'its end', 2)
    answers = [goal.result() for _ in range(2)]
    assert [state for state, _ in answers] == [GoalStatus.STATUS_SUCCEEDED] * 2
    assert answers[0][1].status == Status.SUCCESS and answers[0] == answers[1]


def test_result_that_is_asked_for_at_once(client, panda):
    """A request for the result may come right after the goal."""
    for number in range(20):
        goal = Raw(client, **short(panda, number))
        later = goal.result_later()
        answer = client.wait(later)
        if answer.status == GoalStatus.STATUS_UNKNOWN:   # it was taken first
            answer = client.wait(goal.result_later())
        assert answer.result.status == Status.SUCCESS


def test_status(client, told):
    """What takes long is told of as it goes on."""
    goal = Raw(client, **long())
    eventually(lambda: goal.states(told)[-1:] == [GoalStatus.STATUS_EXECUTING], 'executing')
    client.wait(goal.cancel_later())
    assert goal.result()[0] == GoalStatus.STATUS_CANCELED
    eventually(lambda: goal.states(told)[-1:] == [GoalStatus.STATUS_CANCELED], 'canceled')
    states = goal.states(told)
    assert states == sorted(states, key=[1, 2, 3, 5].index)


def test_unknown_ids(client, panda):
    ended, unknown = Raw(client, **short(panda)), Raw.__new__(Raw)
    assert ended.result()[0] == GoalStatus.STATUS_SUCCEEDED
    unknown.client, unknown.id = client, UUID(uuid=np.arange(16, dtype=np.uint8))
    assert unknown.result()[0] == GoalStatus.STATUS_UNKNOWN
    assert cancel(client, GoalInfo(goal_id=unknown.id)) \
        == (CancelGoal.Response.ERROR_UNKNOWN_GOAL_ID, set())
    assert cancel(client, GoalInfo(goal_id=ended.id)) \
        == (CancelGoal.Response.ERROR_GOAL_TERMINATED, set())


def test_id_that_is_taken(client, panda):
    """The second goal is not the first one."""
    goal = Raw(client, **short(panda))
    assert goal.accepted().accepted
    service = client.service(SEND, f'{NAME}/_action/send_goal')
    assert not client.wait(service.call_async(goal.request)).accepted
    assert goal.result()[1].status == Status.SUCCESS


def test_cancel_all(client):
    goals = [Raw(client, **long()) for _ in range(3)]
    for goal in goals:
        assert goal.accepted().accepted
    code, ids = cancel(client, GoalInfo())
    assert code == CancelGoal.Response.ERROR_NONE
    assert ids == {bytes(goal.id.uuid) for goal in goals}
    assert {goal.result()[0] for goal in goals} == {GoalStatus.STATUS_CANCELED}
    assert cancel(client, GoalInfo()) == (CancelGoal.Response.ERROR_NONE, set())


def test_cancel_up_to_a_time(client):
    goals = []
    for _ in range(4):
        goals.append(Raw(client, **long()))
        assert goals[-1].accepted().accepted
    # rclpy stamps a goal once more after it has answered with a first stamp
    code, ids = cancel(client, GoalInfo(stamp=goals[2].accepted().stamp))
    assert code == CancelGoal.Response.ERROR_NONE
    assert ids == {bytes(goals[k].id.uuid) for k in (0, 1)}
    for k in (0, 1):
        assert goals[k].result()[0] == GoalStatus.STATUS_CANCELED
    assert cancel(client, GoalInfo()) \
        == (CancelGoal.Response.ERROR_NONE, {bytes(goals[k].id.uuid) for k in (2, 3)})
    for k in (2, 3):
        assert goals[k].result()[0] == GoalStatus.STATUS_CANCELED


def test_cancel_that_comes_at_once(client, panda):
    """Sent together with the goal, it finds it waiting, in its first slice, or ended."""
    for number in range(30):
        goal = Raw(client, **(short(panda, number) if number % 2 else long()))
        later = goal.cancel_later()
        assert goal.accepted().accepted
        answer = client.wait(later)
        if number % 2 == 0 and answer.return_code == CancelGoal.Response.ERROR_UNKNOWN_GOAL_ID:
            answer = client.wait(goal.cancel_later())   # it was taken before the goal
        state, result = goal.result()
        if answer.goals_canceling:
            assert state == GoalStatus.STATUS_CANCELED
            assert result.status in (Status.PREEMPTED, Status.SUCCESS)
        else:
            assert number % 2 and state == GoalStatus.STATUS_SUCCEEDED


def test_short_ones_at_once(client, panda):
    """Each has its own result."""
    goals = [Raw(client, **short(panda, number)) for number in range(20)]
    for number, goal in enumerate(goals):
        state, result = goal.result()
        assert (state, result.status) == (GoalStatus.STATUS_SUCCEEDED, Status.SUCCESS)
        alone = client.ik(**short(panda, number))
        assert np.allclose(result.solution.joint_state.position,
                           alone.solution.joint_state.position)


def test_a_short_one_does_not_wait_for_a_long_one(client, panda):
    first, second = Raw(client, **long()), Raw(client, **short(panda))
    assert first.accepted().accepted and second.accepted().accepted
    assert second.result()[1].status == Status.SUCCESS
    client.wait(first.cancel_later())
    assert first.result()[0] == GoalStatus.STATUS_CANCELED
