"""Record of all joint_states messages."""

from collections.abc import Sequence
import math
import threading
from typing import Any, NamedTuple

from node_harness import eventually
import numpy as np
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState


class MeasuredMotion(NamedTuple):
    """Stamps (k,) [s], positions (k, n) and velocities (k, n; NaN if absent) of joint_states."""

    times: np.ndarray
    positions: np.ndarray
    velocities: np.ndarray


class StateRecord:
    """All joint_states messages with all `joints`; the reliable, deep queue loses none."""

    def __init__(self, node: Any, joints: Sequence[str]) -> None:
        self._node, self.joints, self._lock = node, tuple(joints), threading.Lock()
        self._rows: list[tuple[float, list[float], list[float]]] = []
        self.others: dict[str, float] = {}     # latest positions of other joints
        self._subscription = node.create_subscription(JointState, 'joint_states', self._receive,
                                                      QoSProfile(depth=5000))

    def _receive(self, message: JointState) -> None:
        if not {*self.joints} <= {*message.name}:
            return
        stamp = message.header.stamp.sec + message.header.stamp.nanosec * 1e-9
        velocities = message.velocity or [math.nan] * len(message.name)
        at = dict(zip(message.name, zip(message.position, velocities, strict=True), strict=True))
        positions, velocities = zip(*(at[joint] for joint in self.joints), strict=True)
        with self._lock:
            self._rows.append((stamp, list(positions), list(velocities)))
            self.others = {name: position for name, (position, _) in at.items()
                           if name not in self.joints}

    def __len__(self) -> int:
        return len(self._rows)

    def motion(self, since: int = 0) -> MeasuredMotion:
        """Return the messages from index `since` on, sorted by stamp."""
        with self._lock:
            rows = sorted(self._rows[since:], key=lambda row: row[0])
        return MeasuredMotion(*(np.array(column) for column in zip(*rows, strict=True)))

    def read(self) -> np.ndarray:
        """Wait for the next message; return its positions, (n,)."""
        count = len(self)
        eventually(lambda: len(self) > count, 'joint_states')
        return self.motion(-1).positions[-1]

    def wait_for_rest(self, count: int = 20, within: float = 1e-6) -> np.ndarray:
        """Wait until `count` messages have the same positions; return these, (n,)."""
        start = len(self)
        eventually(lambda: len(self) >= start + count
                   and np.ptp(self.motion(-count).positions, axis=0).max() < within, 'rest', 60)
        return self.motion(-1).positions[-1]

    def close(self) -> None:
        self._node.destroy_subscription(self._subscription)
