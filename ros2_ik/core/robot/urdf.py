"""
Reads a URDF strictly, and rewrites it so that Pinocchio has one number a joint.

Pinocchio keeps a continuous joint as (cos, sin) and a planar one as (x, y, cos, sin). Here the
continuous joint becomes a revolute one without limits and the planar one two prismatic joints
and a turn, so that turns are kept and sums of angles are sums.

urdfdom accepts much that is wrong (limits upside down, links that hang nowhere); this reader
refuses it in words. Reference: http://wiki.ros.org/urdf/XML
"""

from dataclasses import dataclass, field, replace
import math
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from ros2_ik.core.errors import RobotDescriptionError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MAX_CHARACTERS = 20_000_000
MAX_DEPTH = 1000   # urdfdom and Pinocchio recurse, and crash on a few thousand
PLANAR_PARTS = ('x', 'y', 'theta')
_KINDS = ('revolute', 'continuous', 'prismatic', 'fixed', 'floating', 'planar')
_RANK = '|'
_NO_LIMIT = 1e15
_UNBOUNDED = 1e308   # urdfdom reads no inf; the robot sets the limits after the model is built


@dataclass(frozen=True)
class Mimic:
    """A joint that follows another: value = multiplier * leader + offset."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True)
class JointElement:
    """A <joint> of the URDF."""

    name: str
    kind: str
    parent: str
    child: str
    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    mimic: Mimic | None = None


@dataclass(frozen=True)
class RobotTree:
    """Links and joints of a URDF, checked: one root, no cycles, every name once."""

    name: str
    links: tuple[str, ...]
    joints: dict[str, JointElement]
    root: str
    element: 'Element' = field(repr=False, compare=False)
    parent_joint: dict[str, str] = field(repr=False, default_factory=dict)

    def chain(self, link: str) -> list[str]:
        """Names of the joints from the root down to `link`, fixed ones too."""
        names = []
        while link != self.root:
            names.append(self.parent_joint[link])
            link = self.joints[names[-1]].parent
        return names[::-1]


def parse_urdf(text: str) -> RobotTree:
    """
    Read a URDF.

    Raises RobotDescriptionError that names the element and what is wrong with it.
    """
    root = parse_xml(text, 'URDF')
    links = [_name(link, 'link') for link in root.findall('link')]
    joints = [_joint(element) for element in root.findall('joint')]
    _unique('link', links)
    _unique('joint', [joint.name for joint in joints])
    by_name = _resolve_mimics({joint.name: joint for joint in joints})
    tree = RobotTree(root.get('name') or 'robot', tuple(links), by_name, _root(links, joints),
                     root, {joint.child: joint.name for joint in joints})
    _check_connected(tree)
    return tree


def parse_xml(text: str, what: str) -> 'Element':
    """Parse XML whose root is <robot>; no entities (they can blow up), no giant texts."""
    if len(text) > MAX_CHARACTERS:
        raise RobotDescriptionError(f'the {what} has {len(text)} characters; '
                                    f'at most {MAX_CHARACTERS} are read')
    if '<!DOCTYPE' in text or '<!ENTITY' in text:
        raise RobotDescriptionError(f'the {what} declares a DOCTYPE or entities; '
                                    'they are refused because they can expand without bound')
    try:
        root = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:
        raise RobotDescriptionError(f'the {what} is not well-formed XML: {error}') from None
    if root.tag != 'robot':
        raise RobotDescriptionError(f'the root element of the {what} is <{root.tag}>, '
                                    'not <robot>')
    if any('xacro}' in str(element.tag) for element in root.iter()):
        raise RobotDescriptionError(f'the {what} still holds xacro macros; run xacro on it first')
    return root


def kinematic_text(tree: RobotTree, root_joint: str, root_frame: str, root_name: str) -> str:
    """
    Write the URDF that Pinocchio is given: kinematics and inertia only, one number a joint.

    `root_joint` is fixed, planar or freeflyer; the latter two hang the robot's root on a new
    link `root_frame` by a joint `root_name`.
    """
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


def plain_name(name: str) -> str:
    """Take away the rank that `kinematic_text` puts before the names of joints."""
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
                _numbers(part.get(attribute, ''), count, f"link '{link}', {tag} {attribute}")
        ElementTree.SubElement(copy, tag, part.attrib)
    return copy


def _append(root: 'Element', element: 'Element', joint: JointElement) -> None:
    if joint.kind == 'planar':
        _append_planar(root, element, joint)
        return
    kind = 'revolute' if joint.kind == 'continuous' else joint.kind
    copy = _element(joint.name, kind, joint.parent, joint.child)
    copy.extend(element.findall('origin') + element.findall('axis'))
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
            copy.extend(element.findall('origin'))
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


def _joint(element: 'Element') -> JointElement:
    name = _name(element, 'joint')
    kind = element.get('type', '')
    if kind not in _KINDS:
        raise RobotDescriptionError(f"joint '{name}' has type '{kind}'; "
                                    f'valid: {", ".join(_KINDS)}')
    ends = [end.get('link', '') if (end := element.find(tag)) is not None else ''
            for tag in ('parent', 'child')]
    if not all(ends):
        raise RobotDescriptionError(f"joint '{name}' has no parent or no child link")
    _check_geometry(element, name, moves=kind in ('revolute', 'continuous', 'prismatic'))
    lower, upper, velocity = _limits(element, name, kind)
    mimic = _mimic(element, name, kind)
    return JointElement(name, kind, ends[0], ends[1], lower, upper, velocity, mimic)


def _check_geometry(element: 'Element', name: str, *, moves: bool) -> None:
    origin = element.find('origin')
    for attribute in ('xyz', 'rpy'):
        if origin is not None and origin.get(attribute) is not None:
            _numbers(origin.get(attribute, ''), 3, f"joint '{name}', origin {attribute}")
    axis = element.find('axis')
    if moves and axis is not None:
        values = _numbers(axis.get('xyz', '1 0 0'), 3, f"joint '{name}', axis")
        if math.hypot(*values) < 1e-9:
            raise RobotDescriptionError(f"joint '{name}' has an axis of length zero")


def _limits(element: 'Element', name: str, kind: str) -> tuple[float, float, float]:
    """Give lower, upper and velocity; <safety_controller> soft limits narrow, as in MoveIt."""
    limit = element.find('limit')
    values = {} if limit is None else {
        key: _numbers(limit.get(key, ''), 1, f"joint '{name}', limit {key}")[0]
        for key in ('lower', 'upper', 'velocity') if limit.get(key) is not None}
    velocity = values.get('velocity', math.inf)
    if velocity < 0:
        raise RobotDescriptionError(f"joint '{name}': velocity limit {velocity:g} is negative")
    if kind not in ('revolute', 'prismatic') or not {'lower', 'upper'} & set(values):
        return -math.inf, math.inf, velocity
    lower, upper = values.get('lower', 0.0), values.get('upper', 0.0)   # as the URDF page has it
    # exporters write the largest number they know for none
    lower = -math.inf if lower <= -_NO_LIMIT else lower
    upper = math.inf if upper >= _NO_LIMIT else upper
    if lower > upper:
        raise RobotDescriptionError(f"joint '{name}': lower limit {lower:g} is above "
                                    f'upper limit {upper:g}')
    safety = element.find('safety_controller')
    if safety is not None:
        where = f"joint '{name}', soft limit"
        soft = [_numbers(safety.get(f'soft_{side}_limit', '0'), 1, where)[0]
                for side in ('lower', 'upper')]
        if soft[0] < soft[1] and max(lower, soft[0]) <= min(upper, soft[1]):
            lower, upper = max(lower, soft[0]), min(upper, soft[1])
    return lower, upper, velocity


def _mimic(element: 'Element', name: str, kind: str) -> Mimic | None:
    mimic = element.find('mimic')
    if mimic is None or kind == 'fixed':
        return None
    if kind in ('floating', 'planar'):
        raise RobotDescriptionError(f"joint '{name}' is {kind} and cannot mimic another")
    where = f"joint '{name}', mimic"
    return Mimic(mimic.get('joint', ''), _numbers(mimic.get('multiplier', '1'), 1, where)[0],
                 _numbers(mimic.get('offset', '0'), 1, where)[0])


def _resolve_mimics(joints: dict[str, JointElement]) -> dict[str, JointElement]:
    """Make every mimic follow a joint that moves by itself: chains of mimics are collapsed."""
    resolved = {}
    for joint in joints.values():
        mimic, seen = joint.mimic, [joint.name]
        while mimic is not None:
            leader = joints.get(mimic.joint)
            if leader is None or leader.kind not in ('revolute', 'continuous', 'prismatic'):
                raise RobotDescriptionError(f"joint '{joint.name}' mimics '{mimic.joint}', "
                                            'which is not a moving joint of one value')
            if leader.name in seen:
                raise RobotDescriptionError('joints mimic each other in a circle: '
                                            + ' -> '.join([*seen, leader.name]))
            if leader.mimic is None:
                break
            seen.append(leader.name)
            mimic = Mimic(leader.mimic.joint, mimic.multiplier * leader.mimic.multiplier,
                          mimic.multiplier * leader.mimic.offset + mimic.offset)
        resolved[joint.name] = replace(joint, mimic=mimic)
    return resolved


def _root(links: list[str], joints: list[JointElement]) -> str:
    if not links:
        raise RobotDescriptionError('the URDF has no links')
    parents: dict[str, str] = {}
    known = set(links)
    for joint in joints:
        for end in (joint.parent, joint.child):
            if end not in known:
                raise RobotDescriptionError(f"joint '{joint.name}' names link '{end}', "
                                            'which does not exist')
        if joint.child in parents:
            raise RobotDescriptionError(f"link '{joint.child}' is the child of two joints: "
                                        f"'{parents[joint.child]}' and '{joint.name}'")
        parents[joint.child] = joint.name
    roots = [link for link in links if link not in parents]
    if len(roots) != 1:
        names = ', '.join(f"'{name}'" for name in roots) or 'none, the joints form a circle'
        raise RobotDescriptionError(f'the links must hang together in one tree; roots: {names}')
    return roots[0]


def _check_connected(tree: RobotTree) -> None:
    children: dict[str, list[str]] = {}
    for joint in tree.joints.values():
        children.setdefault(joint.parent, []).append(joint.child)
    depth, waiting = {tree.root: 0}, [tree.root]
    while waiting:
        link = waiting.pop()
        found = children.get(link, [])
        depth.update(dict.fromkeys(found, depth[link] + 1))
        waiting.extend(found)
    deepest = max(depth.values())
    if deepest > MAX_DEPTH:
        raise RobotDescriptionError(f'a chain of the robot has {deepest} joints; at most '
                                    f'{MAX_DEPTH} are read')
    lost = [link for link in tree.links if link not in depth]
    if lost:
        raise RobotDescriptionError(f"link '{lost[0]}' does not hang on the root "
                                    f"'{tree.root}': its joints form a circle")


def _name(element: 'Element', what: str) -> str:
    name = element.get('name', '')
    if not name:
        raise RobotDescriptionError(f'a {what} has no name')
    if name == 'universe':
        raise RobotDescriptionError(f"a {what} is named 'universe', which Pinocchio keeps for "
                                    'itself')
    return name


def _unique(what: str, names: list[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise RobotDescriptionError(f"{what} '{name}' is defined twice")
        seen.add(name)


def _numbers(text: str, count: int, where: str) -> list[float]:
    try:
        values = [float(part) for part in text.split()]
    except ValueError:
        values = []
    if len(values) != count or not all(math.isfinite(value) for value in values):
        wanted = 'a finite number' if count == 1 else f'{count} finite numbers'
        raise RobotDescriptionError(f"{where}: '{text}' is not {wanted}")
    return values
