"""Three ways to request a motion to joint values: ~/execute, compute_ik and the action."""

from typing import Any

from arm_harness import ARM, goal_request, HOME, Recorder
from builtin_interfaces.msg import Duration
from node_harness import Client, eventually

from ros2_ik.action import SolveConstrainedIK
from ros2_ik.messages.constraints import function_message as function
from ros2_ik.msg import Bounds
from ros2_ik.srv import ComputeIK, Execute

PATIENCE = 90.0   # for a motion on a busy machine [s]
FAR, NEAR = {'panda_joint1': 2.0}, {'panda_joint1': 0.3}
SLOW = {'velocity_scaling': 0.1, 'acceleration_scaling': 1.0}   # FAR is 9 s away


def at_joints(joints: dict[str, float]) -> dict[str, Any]:
    """Return request fields whose only solution is HOME with these joints changed."""
    reference = {**HOME, **joints}
    exactly = function('joint_positions', names=list(ARM),
                       reference=[reference[name] for name in ARM],
                             bounds=Bounds(target=[0.0]))
    return {'constraints': [exactly], 'group': 'arm',
            'timeout': Duration(sec=9), 'execute': True, 'max_joint_change': 10.0}


class Requested:
    """A requested motion."""

    def __init__(self, client: Client, way: str, joints: dict[str, float],
                 **fields: Any) -> None:
        self._client, self.goal = client, None
        if way == 'execute':
            request = goal_request({**HOME, **joints}, **fields)
            self._future = client.service(Execute, 'ros2_ik/execute').call_async(request)
        elif way == 'compute_ik':
            request = ComputeIK.Request(**at_joints(joints), **fields)
            self._future = client.service(ComputeIK, 'ros2_ik/compute_ik').call_async(request)
        else:
            self.goal = client.goal(**at_joints(joints), **fields)
            self._future = self.goal.result_later()

    def done(self) -> bool:
        """Return True if the response has arrived."""
        return self._future.done()

    def answer(self, timeout: float = PATIENCE) -> Execute.Response | ComputeIK.Response \
            | SolveConstrainedIK.Result:
        """Wait for the response and return it."""
        answer = self._client.wait(self._future, timeout)
        return answer.result if self.goal else answer


def moving(client: Client, record: Recorder, way: str, beyond: float = 0.03,
           **fields: Any) -> Requested:
    """Request a motion to FAR; return the request once the arm is `beyond` [rad] on its way."""
    asked = Requested(client, way, FAR, **fields)
    eventually(lambda: record.at()[0] > beyond or asked.done(), 'the arm moves', 60.0)
    assert not asked.done(), asked.answer()
    return asked
