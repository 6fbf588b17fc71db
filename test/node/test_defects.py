"""Whatever goes wrong in a callback becomes an answer: nothing may leave it."""

from collections import deque
from functools import partial
from types import MethodType, SimpleNamespace

import pytest

from ros2_ik.core import InvalidTargetError, Status
from ros2_ik.messages.request_error import RequestError
from ros2_ik.node.endpoints.compute_fk import ComputeFK
from ros2_ik.node.endpoints.compute_ik import ComputeIK
from ros2_ik.node.node_context import NodeContext
from ros2_ik.node.statistics import Statistics
from ros2_ik.node.workers import WorkerError
from ros2_ik.srv import ComputeFK as ComputeFKService, ComputeIK as ComputeIKService

CASES = [
    (ZeroDivisionError('division by zero'), Status.FAILURE, 'ZeroDivisionError: division', True),
    (AssertionError(), Status.FAILURE, 'AssertionError', True),
    (WorkerError('died'), Status.FAILURE, 'died', False),
    (InvalidTargetError('no'), Status.INVALID_GOAL_CONSTRAINTS, 'no', False),
    (RequestError(Status.INVALID_LINK_NAME, 'who?'), Status.INVALID_LINK_NAME, 'who?', False),
]


@pytest.fixture
def logged():
    return []


def parts(error, logged):
    """Give parts whose robot cannot be had."""
    def robot():
        raise error
    log = SimpleNamespace(error=lambda text, **_: logged.append(text))
    still = SimpleNamespace(settling=False, may_pass=lambda *_: False)
    parts = SimpleNamespace(robot=robot, statistics=Statistics(), log=log, transforms=still,
                            scene=SimpleNamespace(geometry=still),
                            execution=SimpleNamespace(stops=0), turns=deque())
    parts.settled = MethodType(NodeContext.settled, parts)
    return parts


def finish(coroutine):
    """Run a coroutine that waits for nothing."""
    with pytest.raises(StopIteration) as end:
        coroutine.send(None)
    return end.value.value


@pytest.mark.parametrize(('error', 'status', 'message', 'traced'), CASES)
def test_compute_ik(error, status, message, traced, logged):
    endpoint = ComputeIK(parts(error, logged), None, None)
    half_filled = ComputeIKService.Response(status=1, message='all is well')
    response = finish(endpoint.answer(ComputeIKService.Request(), half_filled))
    assert response.status == status and message in response.message
    assert any('Traceback' in text for text in logged) == traced


@pytest.mark.parametrize(('error', 'status', 'message', 'traced'), CASES)
def test_compute_fk(error, status, message, traced, logged):
    endpoint = ComputeFK(parts(error, logged))
    response = finish(endpoint.answer(ComputeFKService.Request(), ComputeFKService.Response()))
    assert response.status == status and message in response.message
    assert any('Traceback' in text for text in logged) == traced


def test_questions_that_wait_are_read_in_order():
    """One to move the robot must not overtake an older one."""
    context, settling, order = parts(None, []), SimpleNamespace(settling=True), []
    context.scene.geometry = settling

    class Sleep:
        def __await__(self):
            yield
    context.sleep = lambda _: Sleep()
    older, newer = (context.settled(partial(order.append, name)) for name in ('older', 'newer'))
    older.send(None)
    newer.send(None)
    settling.settling = False
    newer.send(None)    # its timer came first
    finish(older)
    finish(newer)
    assert order == ['older', 'newer'] and not context.turns
