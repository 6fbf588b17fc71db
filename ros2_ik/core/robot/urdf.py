"""
A strict reader of URDF files.

urdfdom accepts many invalid files, for example with lower limits above upper limits or with
unconnected links; this reader rejects them. Reference: http://wiki.ros.org/urdf/XML
"""

from collections import Counter
from dataclasses import dataclass, field
import math
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

import numpy as np
import pinocchio as pin

from ros2_ik.core.checks import direction, one_of
from ros2_ik.core.errors import RobotDescriptionError
from ros2_ik.core.robot.joint import Joint, Mimic

_KINDS = ('revolute', 'continuous', 'prismatic', 'fixed', 'floating', 'planar')
# joint limits of at least this magnitude count as absent [rad, m]
_NO_LIMIT = 1e15


@dataclass(frozen=True)
class RobotTree:
    """Links and joints of a valid URDF: one root, no cycles, no duplicate names."""

    name: str
    links: tuple[str, ...]
    joints: dict[str, Joint]
    root: str
    element: Element = field(repr=False, compare=False)
    parent_joint: dict[str, str] = field(repr=False, default_factory=dict)
    warnings: tuple[str, ...] = ()

    def chain(self, link: str) -> list[str]:
        """Return the names of all joints from the root to `link`, fixed joints included."""
        names = []
        while link != self.root:
            names.append(self.parent_joint[link])
            link = self.joints[names[-1]].parent
        return names[::-1]


def parse_urdf(text: str) -> RobotTree:
    """Parse a URDF; raises RobotDescriptionError with the invalid element and the reason."""
    root = parse_xml(text, 'URDF')
    links = [_name(link, 'link') for link in root.findall('link')]
    joints = [_joint(element) for element in root.findall('joint')]
    for what, names in (('link', links), ('joint', [joint.name for joint in joints])):
        for name, count in Counter(names).most_common(1):
            if count > 1:
                raise RobotDescriptionError(f"{what} '{name}' is defined twice")
    by_name = {joint.name: joint for joint in joints}
    _check_mimics(by_name)
    return RobotTree(root.get('name') or 'robot', tuple(links), by_name, _root(links, joints),
                     root, {joint.child: joint.name for joint in joints}, _warnings(joints))


def parse_xml(text: str, what: str) -> Element:
    """
    Parse XML with the root element <robot>; `what` names the text in errors.

    As in urdfdom, namespaces are not resolved, because real files have undeclared prefixes. Raises
    RobotDescriptionError, also for entities, which can expand without bound.
    """
    if '<!DOCTYPE' in text or '<!ENTITY' in text:
        raise RobotDescriptionError(f'the {what} declares a DOCTYPE or entities; '
                                    'they are refused because they can expand without bound')
    # ElementTree.fromstring would refuse undeclared prefixes; expat alone ignores namespaces
    builder, parser = TreeBuilder(), expat.ParserCreate('utf-8')
    parser.StartElementHandler, parser.EndElementHandler = builder.start, builder.end
    parser.CharacterDataHandler, parser.buffer_text = builder.data, True
    try:
        parser.Parse(text.encode(), True)
    except (expat.ExpatError, ValueError) as error:
        raise RobotDescriptionError(f'the {what} is not well-formed XML: {error}') from None
    root = builder.close()
    if root.tag != 'robot':
        raise RobotDescriptionError(f'the root element of the {what} is <{root.tag}>, '
                                    'not <robot>; SDF, MJCF and other formats are not read')
    if any(element.tag.startswith('xacro:') for element in root.iter()):
        raise RobotDescriptionError(f'the {what} still contains xacro macros: pass it as a '
                                    '.xacro file, or run xacro on it')
    return root


def _joint(element: Element) -> Joint:
    name = _name(element, 'joint')
    kind = one_of(element.get('type', ''), f"the type of joint '{name}'", _KINDS,
                  RobotDescriptionError)
    ends = [end.get('link', '') if (end := element.find(tag)) is not None else ''
            for tag in ('parent', 'child')]
    if not all(ends):
        raise RobotDescriptionError(f"joint '{name}' has no parent or no child link")
    return Joint(name, kind, ends[0], ends[1], read_origin(element, f"joint '{name}', "),
                 _axis(element, name, kind), *_limits(element, name, kind),
                 _mimic(element, name, kind))


def _axis(element: Element, name: str, kind: str) -> tuple[float, ...]:
    """Return the joint axis in the frame of the joint, scaled to length 1."""
    found = element.find('axis')
    if found is None or kind in ('fixed', 'floating'):
        return 1.0, 0.0, 0.0
    axis = numbers(found.get('xyz', '1 0 0'), 3, f"joint '{name}', axis")
    return tuple(direction(axis, f"the axis of joint '{name}'", RobotDescriptionError).tolist())


def _limits(element: Element, name: str, kind: str) -> tuple[float, float, float]:
    """
    Return the lower, upper and velocity limit of a joint.

    Missing limits are infinite, but a missing lower or upper limit is 0 if the other is present.
    The soft limits of a <safety_controller> narrow the limits, as in MoveIt.
    """
    given = {tag: {} if (found := element.find(tag)) is None else found.attrib
             for tag in ('limit', 'safety_controller')}

    def number(tag: str, key: str, absent: float = 0.0) -> float:
        text = given[tag].get(key)
        return absent if text is None else numbers(text, 1, f"joint '{name}', {tag} {key}")[0]

    velocity = number('limit', 'velocity', math.inf)
    if velocity < 0:
        raise RobotDescriptionError(f"joint '{name}': velocity limit {velocity:g} is negative")
    # exporters write 0 for an absent limit; MoveIt and Pink ignore a velocity limit of 0, too
    velocity = velocity or math.inf
    if kind not in ('revolute', 'prismatic') or not {'lower', 'upper'} & given['limit'].keys():
        return -math.inf, math.inf, velocity
    # in the URDF specification, a missing limit is 0 if the other limit is present
    lower, upper = number('limit', 'lower'), number('limit', 'upper')
    # exporters write a huge number for an absent limit
    lower = -math.inf if lower <= -_NO_LIMIT else lower
    upper = math.inf if upper >= _NO_LIMIT else upper
    if lower > upper:
        raise RobotDescriptionError(f"joint '{name}': lower limit {lower:g} is above "
                                    f'upper limit {upper:g}')
    # absent soft limits are read as 0 and 0; ignore soft limits that leave no range
    soft = [number('safety_controller', f'soft_{side}_limit') for side in ('lower', 'upper')]
    if soft[0] < soft[1] and max(lower, soft[0]) <= min(upper, soft[1]):
        lower, upper = max(lower, soft[0]), min(upper, soft[1])
    return lower, upper, velocity


def _warnings(joints: list[Joint]) -> tuple[str, ...]:
    """Return a warning about joints without limits, which are treated as unlimited."""
    # absent limits are 0 and 0 in the specification, but mean no limits in files of real robots
    names = [f"'{joint.name}'" for joint in joints
             if joint.kind in ('revolute', 'prismatic') and joint.mimic is None
             and math.isinf(joint.lower) and math.isinf(joint.upper)]
    return (f'no limits: joint {", ".join(names)}: treated as unlimited, although absent limits '
            'are 0 in the URDF specification',) if names else ()


def _mimic(element: Element, name: str, kind: str) -> Mimic | None:
    mimic = element.find('mimic')
    if mimic is None or kind == 'fixed':
        return None
    if kind in ('floating', 'planar'):
        raise RobotDescriptionError(f"joint '{name}' is {kind} and cannot mimic another")
    multiplier, offset = (numbers(mimic.get(key, default), 1, f"joint '{name}', mimic")[0]
                          for key, default in (('multiplier', '1'), ('offset', '0')))
    return Mimic(mimic.get('joint', ''), multiplier, offset)


def _check_mimics(joints: dict[str, Joint]) -> None:
    """Raise RobotDescriptionError if a leader is missing, fixed, multi-valued or a mimic joint."""
    for joint in joints.values():
        leader = joints.get(joint.mimic.leader) if joint.mimic else None
        if joint.mimic and (leader is None or leader.mimic
                            or leader.kind not in ('revolute', 'continuous', 'prismatic')):
            raise RobotDescriptionError(
                f"joint '{joint.name}' mimics '{joint.mimic.leader}'"
                f'{"" if leader else ", which does not exist"}; valid: a revolute, '
                'continuous or prismatic joint that mimics no other')


def _root(links: list[str], joints: list[Joint]) -> str:
    """Return the root link; raises RobotDescriptionError unless the links form one tree."""
    if not links:
        raise RobotDescriptionError('the URDF has no links')
    parents: dict[str, str] = {}
    for joint in joints:
        for end in (joint.parent, joint.child):
            if end not in links:
                raise RobotDescriptionError(f"joint '{joint.name}' names link '{end}', "
                                            'which does not exist')
        if joint.child in parents:
            raise RobotDescriptionError(f"link '{joint.child}' is the child of two joints: "
                                        f"'{parents[joint.child]}' and '{joint.name}'")
        parents[joint.child] = joint.name
    # breadth first from the first root; links not reached are unconnected or in a cycle
    roots = [link for link in links if link not in parents]
    reached = roots[:1]
    for link in reached:
        reached += [joint.child for joint in joints if joint.parent == link]
    if apart := sorted(set(links) - set(reached)):
        raise RobotDescriptionError('the links must form one tree without a cycle; roots: '
                                    f'{roots}, not connected to the first root: {apart}')
    return roots[0]


def _name(element: Element, what: str) -> str:
    name = element.get('name', '')
    if not name:
        raise RobotDescriptionError(f'a {what} has no name')
    if name == 'universe':
        raise RobotDescriptionError(f"a {what} is named 'universe', which Pinocchio reserves")
    return name


def numbers(text: str, count: int | None, where: str) -> list[float]:
    """Parse `count` finite numbers (None: any count); error messages begin with `where`."""
    try:
        values = [float(part) for part in text.split()]
    except ValueError:
        values = [math.nan]
    if count not in (None, len(values)) or not all(math.isfinite(value) for value in values):
        wanted = 'a finite number' if count == 1 else f'{count or "a list of"} finite numbers'
        raise RobotDescriptionError(f"{where}: '{text}' is not {wanted}")
    return values


def read_origin(element: Element, where: str = '') -> pin.SE3:
    """Return the pose in the <origin> of an element; raises RobotDescriptionError."""
    origin = element.find('origin')
    xyz, rpy = ([0.0, 0.0, 0.0] if origin is None else numbers(
        origin.get(key, '0 0 0'), 3, f'{where}origin {key}') for key in ('xyz', 'rpy'))
    return pin.SE3(pin.rpy.rpyToMatrix(*rpy), np.array(xyz))
