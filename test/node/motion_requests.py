"""Motion requests to joint values by ~/execute, ~/compute_ik or ~/solve_constrained_ik."""

from typing import Any

from arm_harness import ARM, goal_request, HOME, Recorder
from builtin_interfaces.msg import Duration
from node_harness import Client, eventually

from ros2_ik.action import SolveConstrainedIK
from ros2_ik.messages.constraints import function_message as function
from ros2_ik.msg import Bounds
from ros2_ik.srv import ComputeIK, Execute

MOTION_TIMEOUT = 90.0   # on a busy machine [s]
FAR, NEAR = {'panda_joint1': 2.0}, {'panda_joint1': 0.3}   # goals, from HOME [rad]
SLOW = {'velocity_scaling': 0.1, 'acceleration_scaling': 1.0}   # FAR takes 9 s


def ik_fields(joints: dict[str, float]) -> dict[str, Any]:
    """Return request fields whose only solution is HOME with these joints changed."""
    reference = {**HOME, **joints}
    goal = function('joint_positions', names=list(ARM),
                    reference=[reference[name] for name in ARM], bounds=Bounds(target=[0.0]))
    return {'constraints': [goal], 'group': 'arm',
            'timeout': Duration(sec=9), 'execute': True, 'max_joint_change': 10.0}


class RequestedMotion:
    """A motion requested by an interface: execute, compute_ik or solve_constrained_ik."""

    def __init__(self, client: Client, interface: str, joints: dict[str, float],
                 **fields: Any) -> None:
        self._client, self.goal = client, None
        if interface == 'execute':
            request = goal_request({**HOME, **joints}, **fields)
            self._future = client.service(Execute, 'ros2_ik/execute').call_async(request)
        elif interface == 'compute_ik':
            request = ComputeIK.Request(**ik_fields(joints), **fields)
            self._future = client.service(ComputeIK, 'ros2_ik/compute_ik').call_async(request)
        else:
            self.goal = client.goal(**ik_fields(joints), **fields)
            self._future = self.goal.result_async()

    def done(self) -> bool:
        return self._future.done()

    def response(self, timeout: float = MOTION_TIMEOUT) -> Execute.Response | ComputeIK.Response \
            | SolveConstrainedIK.Result:
        """Wait for the response and return it."""
        response = self._client.wait(self._future, timeout)
        return response.result if self.goal else response


def start_motion(client: Client, record: Recorder, interface: str, beyond: float = 0.03,
                 **fields: Any) -> RequestedMotion:
    """Request a motion to FAR; return it once the first joint is beyond `beyond` [rad]."""
    motion = RequestedMotion(client, interface, FAR, **fields)
    eventually(lambda: record.read()[0] > beyond or motion.done(), 'the arm moves', 60.0)
    assert not motion.done(), motion.response()
    return motion
