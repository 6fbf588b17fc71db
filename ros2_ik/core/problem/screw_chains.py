"""Screw axes of the joints that move target tips, for the forward kinematics of acceptance."""

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from ros2_ik.core.arrays import Array, Indices
from ros2_ik.core.problem.pose_target import TargetShape
from ros2_ik.core.robot import Robot


def screw_chains(robot: Robot, targets: Sequence[TargetShape]) -> tuple[Indices, Array] | None:
    """
    Return the arrays of targets for `kernels.acceptance.check_targets`, from Pinocchio's model.

    None if a target has free axes, or if a mimic, floating or other joint of several values is
    between its tip and its reference frame.
    """
    data, chains, screws = robot.model.createData(), list[int](), list[Array]()
    pin.computeJointJacobians(robot.model, data, pin.neutral(robot.model))
    for target in targets:
        chain = None if target.weights else _chain(robot, data, target)
        if chain is None:
            return None
        places, axes, home = chain
        chains += [len(places), *places]
        screws += [*axes, home.rotation.T.reshape(-1), home.translation,
                   np.array([target.position_tolerance, target.orientation_tolerance])]
    return np.array(chains, dtype=np.int64), np.concatenate(screws)


def _chain(robot: Robot, data: pin.Data, target: TargetShape
           ) -> tuple[list[int], list[Array], pin.SE3] | None:
    """
    Return indices in q, screw axes (6,) and the tip's pose at q = 0 in the reference frame.

        T_reference_tip(q) = exp(q_k S_k) ... exp(q_1 S_1) T_reference_tip(0)

    The joints are in order from the tip to the reference frame; those that move the reference
    frame have the opposite sign. Joints that move both frames cancel out.
    """
    model = robot.model
    frames = (robot.frame_id(target.tip),
              0 if target.relative_to is None else robot.frame_id(target.relative_to))
    tip, base = (pin.updateFramePlacement(model, data, frame) for frame in frames)
    carrying, under = (list(model.supports[model.frames[frame].parentJoint]) for frame in frames)
    # (6,) for a robot with one velocity
    J_tip, J_base = (pin.getFrameJacobian(model, data, frame, pin.WORLD).reshape(6, -1)
                     for frame in frames)
    steps = [(J_tip, joint) for joint in reversed(carrying) if joint not in under] + [
        (-J_base, joint) for joint in under if joint not in carrying]
    joints = [model.joints[joint] for _, joint in steps]
    if any(joint.nq != 1 for joint in joints):
        return None
    axes = [base.actInv(pin.Motion(J[:, joint.idx_v])).vector
            for (J, _), joint in zip(steps, joints, strict=True)]
    return [joint.idx_q for joint in joints], axes, base.actInv(tip)
