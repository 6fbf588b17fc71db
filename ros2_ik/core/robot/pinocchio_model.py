"""
Construction of Pinocchio's model of a robot, with one number a joint.

Pinocchio reads a continuous joint of a URDF as (cos, sin) and a planar one as (x, y, cos, sin).
Here the continuous joint becomes a revolute one without limits and the planar one two prismatic
joints and a turn, so that full turns are kept and angles can be added as numbers.
"""

from collections.abc import Iterable
from dataclasses import replace
from xml.etree.ElementTree import Element

import numpy as np
import pinocchio as pin

from ros2_ik.core.errors import RobotDescriptionError
from ros2_ik.core.robot.urdf import JointElement, numbers, read_origin, RobotTree

PLANAR_PARTS = (('/x', 'prismatic', (1.0, 0.0, 0.0)), ('/y', 'prismatic', (0.0, 1.0, 0.0)),
                ('', 'revolute', (0.0, 0.0, 1.0)))
# models of an axis along x, y and z take less time than those of another axis
_ALONG = {'revolute': (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ),
          'prismatic': (pin.JointModelPX, pin.JointModelPY, pin.JointModelPZ)}
_UNALIGNED = {'revolute': pin.JointModelRevoluteUnaligned,
              'prismatic': pin.JointModelPrismaticUnaligned}


def model_joints(joint: JointElement) -> list[JointElement]:
    """Return the joints of the model that a joint of the robot becomes: a planar one is three."""
    if joint.kind != 'planar':
        return [joint]
    return [replace(joint, name=f'{joint.name}{part}', kind=kind, axis=axis)
            for part, kind, axis in PLANAR_PARTS]


def build_model(tree: RobotTree, root: str, joints: Iterable[JointElement]) -> pin.Model:
    """
    Build the model of a robot without limits; raises RobotDescriptionError.

    The joints follow depth first from the link `root`, those on one link by name, but each after
    the one that it mimics.
    """
    model, inertias = pin.Model(), link_inertias(tree)
    model.name = tree.name

    def is_early(joint: JointElement) -> bool:
        return joint.mimic is not None and not model.existJointName(joint.mimic.leader)

    def on(link: str) -> list[JointElement]:
        return sorted(children.get(link, ()), key=lambda joint: (is_early(joint), joint.name))
    children: dict[str, list[JointElement]] = {}
    for joint in joints:
        children.setdefault(joint.parent, []).append(joint)
    model.addBodyFrame(root, 0, pin.SE3.Identity(), 0)
    waiting = on(root)
    while waiting:
        found = next((joint for joint in waiting if not is_early(joint)), None)
        if not found:
            pairs = ', '.join(f"'{joint.name}' mimics '{joint.mimic.leader}'"
                              for joint in waiting if joint.mimic)
            raise RobotDescriptionError('joints mimic others that hang on them, which Pinocchio '
                                        f'does not support: {pairs}')
        waiting.remove(found)
        _add(model, found, inertias.get(found.child, pin.Inertia.Zero()))
        waiting = on(found.child) + waiting
    return model


def link_inertias(tree: RobotTree) -> dict[str, pin.Inertia]:
    """Return the inertia of each link in its own axes."""
    return {link.get('name', ''): _inertia(link) for link in tree.element.findall('link')}


def _inertia(link: Element) -> pin.Inertia:
    inertial, found = link.find('inertial'), pin.Inertia.Zero()
    if inertial is None:
        return found

    def number(tag: str, key: str) -> float:
        part = inertial.find(tag)
        return 0.0 if part is None else numbers(part.get(key, ''), 1, f'{where}{tag} {key}')[0]
    where = f"link '{link.get('name')}', "
    xx, xy, xz, yy, yz, zz = (number('inertia', key)
                              for key in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'))
    # set one by one, as the constructor refuses tensors that are not positive, which files have
    found.mass, found.inertia = number('mass', 'value'), np.array(
        [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return read_origin(inertial, where).act(found)


def _add(model: pin.Model, joint: JointElement, inertia: pin.Inertia) -> None:
    """Add a joint with its child link and their frames."""
    before = model.getFrameId(joint.parent, pin.FrameType.BODY)
    parent, place = model.frames[before].parentJoint, model.frames[before].placement * joint.origin
    if joint.kind == 'fixed':
        before = model.addFrame(pin.Frame(joint.name, parent, before, place,
                                          pin.FrameType.FIXED_JOINT))
    else:
        for part in model_joints(joint):
            parent = model.addJoint(parent, _joint_model(model, part), place, part.name)
            before, place = model.addJointFrame(parent, before), pin.SE3.Identity()
    model.appendBodyToJoint(parent, inertia, place)
    model.addBodyFrame(joint.child, parent, place, before)


def _joint_model(model: pin.Model, joint: JointElement) -> pin.JointModel:
    if joint.kind == 'floating':
        return pin.JointModelFreeFlyer()
    kind = 'prismatic' if joint.kind == 'prismatic' else 'revolute'
    found = (_ALONG[kind][joint.axis.index(1.0)]() if 1.0 in joint.axis
             else _UNALIGNED[kind](np.array(joint.axis)))
    if joint.mimic is None:
        return found
    leader = model.joints[model.getJointId(joint.mimic.leader)]
    found.setIndexes(leader.id, leader.idx_q, leader.idx_v, leader.idx_vExtended)
    return pin.JointModelMimic(found, joint.mimic.multiplier, joint.mimic.offset)
