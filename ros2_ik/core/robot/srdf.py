"""
Reading of SRDF files: groups, group states, disabled collision pairs, passive and virtual joints.

As in MoveIt an element that names something unknown is left out and the rest is used; here each
one left out is reported. Reference: srdfdom, https://github.com/moveit/srdfdom
"""

from dataclasses import dataclass, field
import math
from xml.etree.ElementTree import Element

from ros2_ik.core.robot.urdf import parse_xml, RobotTree


@dataclass
class Semantics:
    """What an SRDF says; joint names of groups include fixed and mimic ones."""

    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    group_tips: dict[str, tuple[str, ...]] = field(default_factory=dict)
    states: dict[str, dict[str, dict[str, list[float]]]] = field(default_factory=dict)
    disabled_pairs: frozenset[tuple[str, str]] = frozenset()
    passive_joints: frozenset[str] = frozenset()
    virtual_joint: tuple[str, str] | None = None   # its name and its parent frame
    world_frame: str | None = None                 # that frame, where the joint is fixed
    warnings: tuple[str, ...] = ()


def parse_srdf(text: str, tree: RobotTree) -> Semantics:
    """
    Read an SRDF for the robot of `tree`.

    Raises RobotDescriptionError when it is no XML or its root is not <robot>.
    """
    return _Reader(parse_xml(text, 'SRDF'), tree).read()


@dataclass
class _Members:
    joints: set[str] = field(default_factory=set)
    tips: list[str] = field(default_factory=list)
    subgroups: list[str] = field(default_factory=list)


def _reached(group: str, members: dict[str, _Members]) -> list[str]:
    """Return the group and all its subgroups, each once, however they name each other."""
    reached, waiting = {group: None}, [group]
    while waiting:
        for name in members[waiting.pop()].subgroups:
            if name and name not in reached:
                reached[name] = None
                waiting.append(name)
    return list(reached)


class _Reader:
    def __init__(self, root: Element, tree: RobotTree) -> None:
        self.root, self.tree = root, tree
        self.found = Semantics()
        self.warnings: list[str] = []
        self.elements = {element.get('name', ''): element for element in root.findall('group')}
        virtual = [e for e in root.findall('virtual_joint') if e.get('child_link') == tree.root]
        if virtual:
            self.found.virtual_joint = (virtual[0].get('name', 'root_joint'),
                                        virtual[0].get('parent_frame', 'world'))
            if virtual[0].get('type') == 'fixed':
                self.found.world_frame = self.found.virtual_joint[1]
        self.joints = set(tree.joints) | {e.get('name', '') for e in virtual}

    def read(self) -> Semantics:
        members = {name: self._members(name) for name in self.elements}
        for name in self.elements:
            joints: set[str] = set()
            tips: dict[str, None] = {}
            for part in _reached(name, members):
                joints |= members[part].joints
                tips.update(dict.fromkeys(members[part].tips))
            if joints:
                self.found.groups[name] = tuple(sorted(joints))
                self.found.group_tips[name] = tuple(tips)
            else:
                self.warnings.append(f"group '{name}' has no joints and is left out")
        self._end_effectors()
        for element in self.root.findall('group_state'):
            self._state(element)
        self.found.disabled_pairs = self._pairs()
        self.found.passive_joints = frozenset(
            self._known(element.get('name', ''), self.joints, 'passive joint')
            for element in self.root.findall('passive_joint')) - {''}
        self.found.warnings = tuple(self.warnings)
        return self.found

    def _end_effectors(self) -> None:
        """As in MoveIt, a group without a chain ends in the parent link of its end effector."""
        for element in self.root.findall('end_effector'):
            group = element.get('parent_group', '')
            what = f"parent link of end effector '{element.get('name', '')}'"
            link = self._known(element.get('parent_link', ''), set(self.tree.links), what)
            if link and self.found.group_tips.get(group) == ():
                self.found.group_tips[group] = (link,)

    def _known(self, name: str, names: set[str], what: str) -> str:
        if name in names:
            return name
        self.warnings.append(f"{what} '{name}' is not part of the robot and is left out")
        return ''

    def _members(self, name: str) -> '_Members':
        """Return what the group names itself, subgroups by name only."""
        members, links = _Members(), set(self.tree.links)
        for element in self.elements[name]:
            given = element.get('name', '')
            if element.tag == 'joint':
                members.joints |= {self._known(given, self.joints, 'joint')} - {''}
            elif element.tag == 'link':
                link = self._known(given, links, 'link')
                members.joints |= {self.tree.parent_joint.get(link, '')} - {''}
            elif element.tag == 'chain':
                self._add_chain(members, element, links)
            elif element.tag == 'group':
                members.subgroups.append(self._known(given, set(self.elements), 'subgroup'))
        return members

    def _add_chain(self, members: '_Members', element: Element, links: set[str]) -> None:
        base, tip = (self._known(element.get(f'{end}_link', ''), links, 'link of a chain')
                     for end in ('base', 'tip'))
        if base and tip:    # both climb to their common link
            members.joints |= set(self.tree.chain(base)) ^ set(self.tree.chain(tip))
            members.tips.append(tip)

    def _state(self, element: Element) -> None:
        name, group = element.get('name', ''), element.get('group', '')
        if group not in self.found.groups:
            self.warnings.append(f"state '{name}' is of the unknown group '{group}' "
                                 'and is left out')
            return
        values = {}
        for joint in element.findall('joint'):
            key = self._known(joint.get('name', ''), self.joints, f"joint of state '{name}'")
            try:
                values[key] = [float(part) for part in joint.get('value', '').split()]
            except ValueError:
                values[key] = [math.nan]
            if not all(map(math.isfinite, values[key])):
                self.warnings.append(f"state '{name}': value of '{key}' is no finite number")
                del values[key]
        values.pop('', None)
        self.found.states.setdefault(group, {})[name] = values

    def _pairs(self) -> frozenset[tuple[str, str]]:
        """Disabled pairs; links disabled by default lose the pairs enabled again."""
        links = set(self.tree.links)
        pairs: dict[str, set[tuple[str, str]]] = {'enable': set(), 'disable': set()}
        for kind, found in pairs.items():
            for element in self.root.findall(f'{kind}_collisions'):
                ends = [self._known(element.get(key, ''), links, f'link of {kind}_collisions')
                        for key in ('link1', 'link2')]
                if all(ends):
                    found.add((min(ends), max(ends)))
        for element in self.root.findall('disable_default_collisions'):
            link = self._known(element.get('link', ''), links, 'link of disable_default')
            mine = {(min(link, other), max(link, other)) for other in links - {link} if link}
            pairs['disable'] |= mine - pairs['enable']
        return frozenset(pairs['disable'])
