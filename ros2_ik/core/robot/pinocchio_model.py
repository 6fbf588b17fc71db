"""
Builds Pinocchio's model of a robot with one number a joint.

Pinocchio keeps a continuous joint as (cos, sin) and a planar one as (x, y, cos, sin). Here the
continuous joint becomes a revolute one without limits and the planar one two prismatic joints
and a turn, so that turns are kept and sums of angles are sums.
"""

import math
from typing import Any, TYPE_CHECKING
from xml.etree import ElementTree

import pinocchio as pin

from ros2_ik.core.errors import RobotDescriptionError
from ros2_ik.core.robot.urdf import DEFAULT_AXIS, JointElement, numbers, RobotTree

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

PLANAR_PARTS = ('x', 'y', 'theta')
_RANK = '|'
_UNBOUNDED = 1e308   # urdfdom reads no inf; the robot sets the limits after the model is built


def build_model(tree: RobotTree, root_joint: str, root_frame: str, root_name: str) -> Any:
    """
    Build the pinocchio.Model of a robot; its limits are left to the caller.

    `root_joint` is fixed, planar or freeflyer; the latter two hang the robot's root on a new
    link `root_frame` by a joint `root_name`. Raises RobotDescriptionError.
    """
    text = _kinematic_text(tree, root_joint, root_frame, root_name)
    try:
        model = pin.buildModelFromXML(text, mimic=True)
    except (ValueError, RuntimeError) as error:
        raise RobotDescriptionError(f'Pinocchio cannot build the robot: {error}') from None
    for index, name in enumerate(model.names):
        model.names[index] = _plain_name(name)
    for frame in model.frames:
        if frame.type != pin.FrameType.BODY:
            frame.name = _plain_name(frame.name)
    return model


def _kinematic_text(tree: RobotTree, root_joint: str, root_frame: str, root_name: str) -> str:
    """Write the URDF that Pinocchio is given: kinematics and inertia, one number a joint."""
    root = ElementTree.Element('robot', name=tree.name)
    for link in tree.element.findall('link'):
        copy = ElementTree.SubElement(root, 'link', name=link.get('name', ''))
        if (inertial := link.find('inertial')) is not None:
            copy.append(_inertial(inertial, link.get('name', '')))
    if root_joint != 'fixed':
        ElementTree.SubElement(root, 'link', name=root_frame)
        kind = {'planar': 'planar', 'freeflyer': 'floating'}[root_joint]
        element = _element(root_name, kind, root_frame, tree.root)
        _append(root, element, JointElement(root_name, kind, root_frame, tree.root))
    elements = {element.get('name', ''): element for element in tree.element.findall('joint')}
    for name in elements:
        _append(root, elements[name], tree.joints[name])
    _prefix_ranks(root, tree)
    return ElementTree.tostring(root, encoding='unicode')


def _plain_name(name: str) -> str:
    """Take away the rank that `_kinematic_text` puts before the names of joints."""
    rank, separator, plain = name[:6], name[6:7], name[7:]
    return plain if separator == _RANK and rank.isdigit() else name


def _prefix_ranks(root: 'Element', tree: RobotTree) -> None:
    """
    Put ranks before the joints' names.

    urdfdom gives the joints of a link in the order of their names, and Pinocchio must meet a
    joint before those that mimic it.
    """
    ranks = {name: rank for rank, name in enumerate(_leaders_first(tree))}
    for joint in root.findall('joint'):
        name = joint.get('name', '')
        rank = ranks.get(name, ranks.get(name.rsplit('/', 1)[0], 0))
        joint.set('name', f'{rank:06d}{_RANK}{name}')
        if (mimic := joint.find('mimic')) is not None:
            leader = mimic.get('joint', '')
            mimic.set('joint', f'{ranks[leader]:06d}{_RANK}{leader}')


def _leaders_first(tree: RobotTree) -> list[str]:
    """Order the joints by name, but of the joints on one link those that lead come first."""
    before: dict[str, set[str]] = {name: set() for name in tree.joints}
    for joint in tree.joints.values():
        if joint.mimic:
            leading, following = (tree.chain(tree.joints[name].child)
                                  for name in (joint.mimic.joint, joint.name))
            fork = next((pair for pair in zip(leading, following, strict=False)
                         if pair[0] != pair[1]), None)
            if fork:
                before[fork[1]].add(fork[0])
            elif len(leading) > len(following):
                raise RobotDescriptionError(f"joint '{joint.name}' mimics '{joint.mimic.joint}', "
                                            'which hangs on it; Pinocchio has no such joint')
    order: dict[str, None] = {}
    waiting = sorted(tree.joints)
    while waiting:
        ready = [name for name in waiting if before[name] <= order.keys()]
        if not ready:
            knot = ', '.join(f"'{name}'" for name in waiting if before[name])
            raise RobotDescriptionError('joints mimic each other across branches, each with a '
                                        f'leader of the other: {knot}')
        order.update(dict.fromkeys(ready))
        waiting = [name for name in waiting if name not in order]
    return list(order)


def _inertial(element: 'Element', link: str) -> 'Element':
    """Copy mass, inertia and their place; refuse numbers that urdfdom would drop."""
    copy = ElementTree.Element('inertial')
    parts = {'mass': {'value': 1}, 'origin': {'xyz': 3, 'rpy': 3},
             'inertia': dict.fromkeys(('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'), 1)}
    for tag, attributes in parts.items():
        part = element.find(tag)
        if part is None:
            continue
        for attribute, count in attributes.items():
            if part.get(attribute) is not None or tag != 'origin':
                numbers(part.get(attribute, ''), count, f"link '{link}', {tag} {attribute}")
        copy.append(_plain(part))
    return copy


def _plain(element: 'Element') -> 'Element':
    """Copy an element of numbers; urdfdom reads none with white space after it."""
    return ElementTree.Element(element.tag, {
        name: ' '.join(value.split()) for name, value in element.items()})


def _append(root: 'Element', element: 'Element', joint: JointElement) -> None:
    if joint.kind == 'planar':
        _append_planar(root, element, joint)
        return
    kind = 'revolute' if joint.kind == 'continuous' else joint.kind
    copy = _element(joint.name, kind, joint.parent, joint.child)
    copy.extend(_plain(origin) for origin in element.findall('origin'))
    if (axis := element.find('axis')) is not None:     # without xyz Pinocchio reads 0 0 0
        copy.append(_plain(ElementTree.Element('axis', xyz=axis.get('xyz', DEFAULT_AXIS))))
    if kind in ('revolute', 'prismatic'):
        _set_limit(copy, joint.velocity)
    if joint.mimic:
        ElementTree.SubElement(copy, 'mimic', joint=joint.mimic.joint,
                               multiplier=repr(joint.mimic.multiplier),
                               offset=repr(joint.mimic.offset))
    root.append(copy)


def _append_planar(root: 'Element', element: 'Element', joint: JointElement) -> None:
    """Write x, then y, then theta about z, as Pinocchio and MoveIt read a planar joint."""
    links = [joint.parent, f'{joint.name}/x_link', f'{joint.name}/y_link', joint.child]
    for link in links[1:3]:
        ElementTree.SubElement(root, 'link', name=link)
    for i, (part, axis) in enumerate(zip(PLANAR_PARTS, ('1 0 0', '0 1 0', '0 0 1'), strict=True)):
        kind = 'revolute' if part == 'theta' else 'prismatic'
        copy = _element(f'{joint.name}/{part}', kind, links[i], links[i + 1])
        if i == 0:
            copy.extend(_plain(origin) for origin in element.findall('origin'))
        ElementTree.SubElement(copy, 'axis', xyz=axis)
        _set_limit(copy, math.inf)
        root.append(copy)


def _element(name: str, kind: str, parent: str, child: str) -> 'Element':
    element = ElementTree.Element('joint', name=name, type=kind)
    ElementTree.SubElement(element, 'parent', link=parent)
    ElementTree.SubElement(element, 'child', link=child)
    return element


def _set_limit(element: 'Element', velocity: float) -> None:
    ElementTree.SubElement(element, 'limit', lower=repr(-_UNBOUNDED), upper=repr(_UNBOUNDED),
                           velocity=repr(min(velocity, _UNBOUNDED)), effort='0')
