"""Functions that make common tasks, named after the tasks of Pink, mink and placo."""

from collections.abc import Mapping, Sequence
import math
from typing import Any

import numpy as np

from ros2_ik.core.arrays import ArrayLike, JointValues, Pose
from ros2_ik.core.checks import row_numbers
from ros2_ik.core.errors import InvalidTargetError
from ros2_ik.core.functions import (
    AngleBetweenVectors,
    CenterOfMass,
    FramePose,
    GazeAngle,
    JointCoupling,
    JointPositions,
    Manipulability,
    PointToPointDistance,
)
from ros2_ik.core.functions.fields import Matrix, Numbers, RowNumbers
from ros2_ik.core.velocity.frame_twist import FrameTwist, RollingContact
from ros2_ik.core.velocity.task import PREVIOUS, Task


def frame_task(frame: str, target: Pose | None = None, *, position_weight: 'ArrayLike' = 1.0,
               orientation_weight: 'ArrayLike' = 1.0, relative_to: str | None = None,
               **options: Any) -> Task:
    """
    Make a task for the pose of a frame (Pink, mink: FrameTask, RelativeFrameTask).

    `target` is the frame's pose in `relative_to` (default: the root frame), a (4, 4) array or
    pinocchio.SE3. If you omit it, call `VelocityProgram.set_target` before the first step.
    `position_weight` and `orientation_weight` are each one number, or three along the target's
    axes; 0 masks an axis. `weight`, one number or six, multiplies both.
    """
    weights = [np.full(count, row_numbers(value, f'{name} of {frame}', InvalidTargetError,
                                          math.inf, count))
               for value, name, count in ((position_weight, 'position_weight', 3),
                                          (orientation_weight, 'orientation_weight', 3),
                                          (options.pop('weight', 1.0), 'weight', 6))]
    pose = np.eye(4) if target is None else target
    weight = np.concatenate(weights[:2]) * weights[2]
    task = Task(FramePose(frame, pose, relative_to), weight=weight, **{'name': frame, **options})
    task.awaits_target = target is None
    return task


def twist_task(frame: str, twist: 'ArrayLike' = 0.0, *, relative_to: str | None = None,
               own_axes: bool = False, **options: Any) -> Task:
    """
    Make a task for the velocity of a frame: [linear; angular] (6,) [m/s, rad/s].

    The axes are those of `relative_to` (default: the root frame) or, with `own_axes`, of the frame
    itself. The task is `scaled` by default: limits slow it down rather than redirect it.
    """
    return Task(FrameTwist(frame, relative_to, own_axes), None, velocity=twist,
                **{'scaled': True, 'name': frame, **options})


def com_task(target: 'ArrayLike', *, axes: str = 'xyz', **options: Any) -> Task:
    """Make a task for the position of the centre of mass [m] (Pink, mink: ComTask)."""
    return Task(CenterOfMass(axes=axes), target, **{'name': 'com', **options})


def posture_task(target: JointValues, *, names: Sequence[str] | None = None,
                 **options: Any) -> Task:
    """
    Make a task for joint values (Pink: PostureTask).

    `target` is a mapping from joint names to values (missing joints: 0), or values in the order of
    `names` (default: all joints). To exclude a mobile base, pass the `names` of the other joints.
    """
    return Task(JointPositions(names, target), **{'name': 'posture', **options})


def damping_task(weight: 'ArrayLike', *, names: Sequence[str] | None = None,
                 **options: Any) -> Task:
    """Make a task that damps joint motion: cost 1/2 weight |v|^2 (Pink, mink: DampingTask)."""
    return joint_velocity_task(0.0, names=names, weight=weight, **{'name': 'damping', **options})


def joint_velocity_task(velocity: 'ArrayLike', *, names: Sequence[str] | None = None,
                        **options: Any) -> Task:
    """Make a task for joint velocities [rad/s, m/s] (Pink: JointVelocityTask)."""
    return Task(JointPositions(names, wrap=False), None, velocity=velocity,
                **{'name': 'joint velocity', **options})


def low_acceleration_task(weight: 'ArrayLike', *, names: Sequence[str] | None = None,
                          **options: Any) -> Task:
    """Make a task that keeps the joint velocities of the last step (Pink: LowAccelerationTask)."""
    return joint_velocity_task(PREVIOUS, names=names, weight=weight,
                               **{'name': 'low acceleration', **options})


def linear_holonomic_task(A: 'Matrix', b: 'RowNumbers' = 0.0, q_0: JointValues | None = None, *,
                          names: Sequence[str] | None = None, **options: Any) -> Task:
    """Make a task for A (q - q_0) = b (Pink: LinearHolonomicTask)."""
    return Task(JointCoupling(names, A, b, q_0), **{'name': 'linear', **options})


def joint_coupling_task(ratios: Mapping[str, float], offset: float = 0.0,
                        **options: Any) -> Task:
    """Make a task for sum ratio_i q_i = offset (Pink: JointCouplingTask; placo: GearTask)."""
    return Task(JointCoupling(tuple(ratios), [list(ratios.values())], offset),
                **{'name': 'coupling', **options})


def rolling_task(hub: str, radius: float, *, floor: str | None = None, **options: Any) -> Task:
    """
    Make a task for a wheel that rolls on the plane z = 0 of `floor` (Pink: RollingTask).

    `weight` (1, 0, 1) permits slip along the floor's y axis (Pink: OmniwheelTask).
    """
    return Task(RollingContact(hub, floor, radius), **{'name': f'wheel {hub}', **options})


def manipulability_task(frame: str, rate: float = 0.1, *, rows: str = 'all',
                        relative_to: str | None = None, **options: Any) -> Task:
    """Make a task that increases Yoshikawa's manipulability (Pink: ManipulabilityTask)."""
    return Task(Manipulability(frame, relative_to, rows), None, velocity=rate,
                **{'name': f'manipulability of {frame}', **options})


def look_at_task(frame: str, point: Numbers, *, axis: Numbers = (0, 0, 1),
                 origin: Numbers = (0, 0, 0),
                 relative_to: str | None = None, **options: Any) -> Task:
    """Make a task that points an axis of a frame at a point (mink: LookAtTask)."""
    return Task(GazeAngle(frame, origin, axis, point, relative_to),
                **{'name': f'gaze of {frame}', **options})


def axis_align_task(frame: str, axis: Numbers, direction: Numbers, *,
                    relative_to: str | None = None, **options: Any) -> Task:
    """Make a task that aligns an axis of a frame with a direction (mink, placo: AxisAlignTask)."""
    return Task(AngleBetweenVectors(frame, axis, direction, relative_to),
                **{'name': f'axis of {frame}', **options})


def distance_task(frame: str, other: str, distance: float, *, point: Numbers = (0, 0, 0),
                  other_point: Numbers = (0, 0, 0), **options: Any) -> Task:
    """Make a task for the distance between two points [m] (placo: DistanceTask)."""
    return Task(PointToPointDistance(frame, point, other_point, other), distance,
                **{'name': f'distance of {frame}', **options})
