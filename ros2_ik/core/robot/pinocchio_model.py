"""
Construction of the Pinocchio model of a robot, with one number for each angle.

Pinocchio's own URDF reader represents a continuous joint as (cos, sin) and a planar joint as
(x, y, cos, sin). This module replaces a continuous joint by a revolute joint without limits, and
a planar joint by two prismatic joints and a revolute joint. Full turns are then preserved, and
angles can be added as numbers.
"""

from collections.abc import Iterable
from dataclasses import replace
from xml.etree.ElementTree import Element

import numpy as np
import pinocchio as pin

from ros2_ik.core.errors import RobotDescriptionError
from ros2_ik.core.robot.joint import Joint
from ros2_ik.core.robot.urdf import numbers, read_origin, RobotTree

# the joints of the model that replace a planar joint: name suffix, kind, axis
PLANAR_PARTS = (('/x', 'prismatic', (1.0, 0.0, 0.0)), ('/y', 'prismatic', (0.0, 1.0, 0.0)),
                ('', 'revolute', (0.0, 0.0, 1.0)))
# joint models with an axis along x, y or z: faster than models with an arbitrary axis
_ALIGNED = {'revolute': (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ),
            'prismatic': (pin.JointModelPX, pin.JointModelPY, pin.JointModelPZ)}
_UNALIGNED = {'revolute': pin.JointModelRevoluteUnaligned,
              'prismatic': pin.JointModelPrismaticUnaligned}


def model_joints(joint: Joint) -> list[Joint]:
    """Return the joints of the model for a joint of the robot: three for a planar joint."""
    if joint.kind != 'planar':
        return [joint]
    return [replace(joint, name=f'{joint.name}{part}', kind=kind, axis=axis)
            for part, kind, axis in PLANAR_PARTS]


def build_model(tree: RobotTree, root: str, joints: Iterable[Joint]) -> pin.Model:
    """
    Return the Pinocchio model of a robot, without limits; raises RobotDescriptionError.

    Joints are added depth first from the link `root`, in alphabetical order at each link. A mimic
    joint is added after its leader, as Pinocchio requires. Link frames carry the links' inertias.
    """
    model = pin.Model()
    model.name = tree.name
    inertias = {link.get('name', ''): _inertia(link) for link in tree.element.findall('link')}

    def lacks_leader(joint: Joint) -> bool:
        return joint.mimic is not None and not model.existJointName(joint.mimic.leader)

    def joints_on(link: str) -> list[Joint]:
        return sorted(children.get(link, ()), key=lambda joint: (lacks_leader(joint), joint.name))
    children: dict[str, list[Joint]] = {}
    for joint in joints:
        children.setdefault(joint.parent, []).append(joint)
    model.addFrame(pin.Frame(root, 0, 0, pin.SE3.Identity(), pin.FrameType.BODY,
                             inertias.get(root, pin.Inertia.Zero())))
    waiting = joints_on(root)
    while waiting:
        found = next((joint for joint in waiting if not lacks_leader(joint)), None)
        if not found:
            pairs = ', '.join(f"'{joint.name}' mimics '{joint.mimic.leader}'"
                              for joint in waiting if joint.mimic)
            raise RobotDescriptionError('joints mimic joints below them in the tree, which '
                                        f'Pinocchio does not support: {pairs}')
        waiting.remove(found)
        _add(model, found, inertias[found.child])
        waiting = joints_on(found.child) + waiting
    return model


def _inertia(link: Element) -> pin.Inertia:
    """Return the inertia of a <link>, in the frame of the link."""
    inertial, found = link.find('inertial'), pin.Inertia.Zero()
    if inertial is None:
        return found

    def number(tag: str, key: str) -> float:
        part = inertial.find(tag)
        return 0.0 if part is None else numbers(part.get(key, ''), 1, f'{where}{tag} {key}')[0]
    where = f"link '{link.get('name')}', "
    xx, xy, xz, yy, yz, zz = (number('inertia', key)
                              for key in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'))
    # set attributes: the constructor refuses indefinite tensors, which real URDF files contain
    found.mass, found.inertia = number('mass', 'value'), np.array(
        [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return read_origin(inertial, where).act(found)


def _add(model: pin.Model, joint: Joint, inertia: pin.Inertia) -> None:
    """Add a joint, its child link with `inertia`, and the frames of both to the model."""
    before = model.getFrameId(joint.parent, pin.FrameType.BODY)
    parent, place = model.frames[before].parentJoint, model.frames[before].placement * joint.origin
    if joint.kind == 'fixed':
        before = model.addFrame(pin.Frame(joint.name, parent, before, place,
                                          pin.FrameType.FIXED_JOINT))
    else:
        # the origin of a planar joint goes to the first of the joints that replace it
        for part in model_joints(joint):
            parent = model.addJoint(parent, _joint_model(model, part), place, part.name)
            before, place = model.addJointFrame(parent, before), pin.SE3.Identity()
    model.addFrame(pin.Frame(joint.child, parent, before, place, pin.FrameType.BODY, inertia))


def _joint_model(model: pin.Model, joint: Joint) -> pin.JointModel:
    if joint.kind == 'floating':
        return pin.JointModelFreeFlyer()
    kind = 'prismatic' if joint.kind == 'prismatic' else 'revolute'
    found = (_ALIGNED[kind][joint.axis.index(1.0)]() if 1.0 in joint.axis
             else _UNALIGNED[kind](np.array(joint.axis)))
    if joint.mimic is None:
        return found
    # a mimic joint uses the indices in q and v of its leader
    leader = model.joints[model.getJointId(joint.mimic.leader)]
    found.setIndexes(leader.id, leader.idx_q, leader.idx_v, leader.idx_vExtended)
    return pin.JointModelMimic(found, joint.mimic.multiplier, joint.mimic.offset)
