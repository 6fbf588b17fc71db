"""Pose error of a frame from a reference pose."""

from dataclasses import dataclass
from functools import cached_property

from ros2_ik.core import algebra as v
from ros2_ik.core.arrays import Array
from ros2_ik.core.functions.fields import Frame, Placement
from ros2_ik.core.functions.kinematic_function import register_function
from ros2_ik.core.functions.relative_function import RelativeFunction
from ros2_ik.core.kernels.source import formula
from ros2_ik.core.poses import as_placement
from ros2_ik.core.robot.tree import se3_to_array


@register_function('frame_pose', drake='AddPositionConstraint + AddOrientationConstraint',
                   matlab='constraintPoseTarget, constraintFixedJoint',
                   moveit='PositionConstraint + OrientationConstraint',
                   pink='FrameTask, RelativeFrameTask')
@dataclass(frozen=True, eq=False)
class FramePose(RelativeFunction):
    """
    Pose error of a frame from a reference, along the reference's axes, (6,).

    With T = T_relative_frame and the reference T* = (R*, p*):

        f = [R*^T (p - p*);  log3(R*^T R)]     x y z [m], rx ry rz [rad]

    Position rows do not depend on orientation errors and vice versa, so that a row that is left
    out, however large, does not change the others. f = 0 exactly at the reference. Not
    differentiable where the angle is pi: there the rotation vector jumps to its opposite.
    """

    frame: Frame
    reference: Placement
    relative_to: Frame | None = None
    reference_field = 'reference'
    labels = ('x [m]', 'y [m]', 'z [m]', 'rx [rad]', 'ry [rad]', 'rz [rad]')

    def __post_init__(self) -> None:
        object.__setattr__(self, 'reference',
                           as_placement(self.reference, f"target of '{self.frame}'"))

    @cached_property
    def parameters(self) -> Array:
        return se3_to_array(self.reference)

    @formula
    def rows(B: v.Floats, A: v.Floats, parameters: v.Floats, f: v.Buffer, W: v.Buffer) -> None:
        # position p of the frame, orientation C and offset of the reference, in the root frame
        p, C = v.origin(B), v.product(A, v.rotation(parameters, 0))
        away = v.sub(p, v.point(A, v.vector(parameters, 9)))
        turned = v.log3(v.product_back(C, B))
        rates = v.jlog3(turned)
        for i in range(3):
            # position along axis i: a force at the frame; orientation: a moment
            axis = v.column(C, i)
            f[i] = v.dot(axis, away)
            v.force(W, i, p, axis)
            f[3 + i] = turned[i]
            v.moment(W, 3 + i, v.rotate(B, v.row(rates, i)))
