"""An exception in a callback becomes a response with a status."""

from dataclasses import fields
from functools import partial
from types import SimpleNamespace

import pytest

from ros2_ik.core import Status
from ros2_ik.core.errors import InvalidTargetError
from ros2_ik.node.endpoints.answering import Statistics
from ros2_ik.node.endpoints.compute_ik import ComputeIK
from ros2_ik.node.state.settled import Settled
from ros2_ik.node.workers import WorkerError
from ros2_ik.srv import ComputeIK as ComputeIKService


def parts(error, logged):
    """Return a node, statistics, and a part that raises an error when it is used."""
    def fail(*_):
        raise error
    log = SimpleNamespace(error=lambda text, **_: logged.append(text))
    node = SimpleNamespace(create_service=lambda *_, **__: None, get_logger=lambda: log,
                           resolve_service_name=str, count_services=None)
    return node, Statistics(), SimpleNamespace(read=fail, current=fail)


def settled(geometry=None, sleep=None):
    still = SimpleNamespace(settling=False, may_pass=lambda *_: False)
    return Settled(SimpleNamespace(geometry=geometry or still), still, sleep)


def finish(coroutine):
    """Run a coroutine that does not wait; return its result."""
    with pytest.raises(StopIteration) as end:
        coroutine.send(None)
    return end.value.value


@pytest.mark.parametrize(('error', 'status', 'message', 'traced'), [
    (ZeroDivisionError('division by zero'), Status.FAILURE, 'ZeroDivisionError: division', True),
    (WorkerError('died'), Status.FAILURE, 'died', False),
    (InvalidTargetError('no'), Status.INVALID_GOAL_CONSTRAINTS, 'no', False)])
def test_exception_in_a_callback_becomes_a_response(error, status, message, traced):
    logged = []
    node, statistics, failing = parts(error, logged)
    given = dict.fromkeys(field.name for field in fields(ComputeIK)) | {
        'node': node, 'parameters': SimpleNamespace(moveit_names=False), 'statistics': statistics,
        'settled': settled(), 'ik_requests': failing, 'motions': SimpleNamespace(stops=0)}
    endpoint = ComputeIK(**given)
    half_filled = ComputeIKService.Response(status=1, message='all is well')
    response = finish(endpoint.answer(ComputeIKService.Request(), half_filled))
    assert response.status == status and message in response.message
    assert any('Traceback' in text for text in logged) == traced


def test_waiting_requests_are_read_in_order():
    """A request that moves the robot must not overtake an older one."""
    settling, order = SimpleNamespace(settling=True), []

    class Sleep:
        def __await__(self):
            yield
    reads = settled(settling, lambda _: Sleep())
    older, newer = (reads.read(partial(order.append, name)) for name in ('older', 'newer'))
    older.send(None)
    newer.send(None)
    settling.settling = False
    newer.send(None)    # its timer came first
    finish(older)
    finish(newer)
    assert order == ['older', 'newer']
