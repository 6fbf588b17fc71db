"""
A reader of SRDF files: groups, states, disabled collisions, passive joints, virtual joints.

As in MoveIt, an element that refers to an unknown name is ignored; `Semantics.warnings` describe
such elements. Reference: srdfdom, https://github.com/moveit/srdfdom
"""

from collections.abc import Collection
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from ros2_ik.core.errors import RobotDescriptionError
from ros2_ik.core.robot.urdf import numbers, parse_xml, RobotTree


def sorted_pair(one: str, other: str) -> tuple[str, str]:
    """Return two names in alphabetical order; all pairs of links are stored in this order."""
    return (one, other) if one < other else (other, one)


@dataclass(frozen=True)
class Group:
    """
    A group of joints: an SRDF group or, if the SRDF has none, the chain to a leaf link.

    `joint_names` are the joints of the group that can be commanded (no fixed, mimic or passive
    joints), in the robot's order. `tips` are the links at the ends of the group.
    """

    name: str
    joint_names: tuple[str, ...]
    tips: tuple[str, ...]


class Semantics:
    """
    The content of an SRDF for the robot in `tree`; `what` names the text in warnings and errors.

    `states[group][state][joint]` is a list of values. `base_joint` has the name and the parent
    frame of the virtual joint of the root link (default: 'root_joint', 'world'). `world_frame` is
    this parent frame if the virtual joint has the type 'fixed', otherwise None.

    Raises RobotDescriptionError for invalid XML (see `parse_xml`), a URDF instead of an SRDF, and
    a state whose values are not finite numbers.
    """

    def __init__(self, text: str, tree: RobotTree, what: str) -> None:
        root = parse_xml(text, what)
        if root.find('link') is not None:
            raise RobotDescriptionError(f'the {what} has <link> elements, as a URDF has; an SRDF '
                                        'has groups, group states and disabled collisions')
        self._tree, self._links, self.warnings = tree, set(tree.links), list[str]()
        if (name := root.get('name', tree.name)) != tree.name:
            self.warnings.append(f"it describes robot '{name}', the URDF '{tree.name}'")
        # only a virtual joint of the root link connects the robot to the world
        virtual = [element for element in root.findall('virtual_joint')
                   if element.get('child_link') == tree.root]
        self._joints = {*tree.joints, *(element.get('name', '') for element in virtual)}
        first = virtual[0] if virtual else Element('virtual_joint')
        self.base_joint = first.get('name', 'root_joint'), first.get('parent_frame', 'world')
        self.world_frame = self.base_joint[1] if first.get('type') == 'fixed' else None
        self._elements = {element.get('name', ''): element for element in root.findall('group')}
        # joints (fixed and mimic joints included) and tips of each group
        self._groups: dict[str, tuple[list[str], tuple[str, ...]]] = {}
        for name in self._elements:
            joints, tips = self._members(name)
            if joints:
                self._groups[name] = sorted(joints), tips
            else:
                self.warnings.append(f"group '{name}' has no joints and is left out")
        # a group without a chain has the parent link of its end effector as its tip
        for element in root.findall('end_effector'):
            link = self._known(element.get('parent_link', ''), self._links,
                               f"parent link of end effector '{element.get('name', '')}'")
            name = element.get('parent_group', '')
            if link and name in self._groups and not self._groups[name][1]:
                self._groups[name] = self._groups[name][0], (link,)
        self.states: dict[str, dict[str, dict[str, list[float]]]] = {}
        for element in root.findall('group_state'):
            self._add_state(element)
        self.enabled_pairs, self.disabled_pairs = self._pairs(root)
        self.passive_joints = frozenset(
            self._known(element.get('name', ''), self._joints, 'passive joint')
            for element in root.findall('passive_joint')) - {''}
        self.warnings = [f'{what}: {warning}' for warning in dict.fromkeys(self.warnings)]

    def groups(self, joint_names: tuple[str, ...]) -> dict[str, Group]:
        """Return the groups of the SRDF, or, if it has none, a group for each leaf link."""
        tree, groups = self._tree, dict[str, Group]()
        parents = {joint.parent for joint in tree.joints.values()}
        members = self._groups or {leaf: (tree.chain(leaf), (leaf,)) for leaf in tree.links
                                   if leaf not in parents}
        for name, (joints, tips) in members.items():
            moving = tuple(joint for joint in joint_names
                           if joint in joints and joint not in self.passive_joints)
            if moving:
                elements = [tree.joints[joint] for joint in joints if joint in tree.joints]
                parents = {element.parent for element in elements}
                ends = tips or tuple(e.child for e in elements if e.child not in parents)
                # keep only ends that carry no moving joint of the group
                carrying = {tree.joints[above].parent for joint in moving if joint in tree.joints
                            for above in tree.chain(tree.joints[joint].child)}
                outer = tuple(end for end in ends if end not in carrying)
                groups[name] = Group(name, moving, outer or tips or (tree.root,))
        return groups

    def _known(self, name: str, names: Collection[str], what: str) -> str:
        if name in names:
            return name
        self.warnings.append(f"{what} '{name}' is not part of the robot and is left out")
        return ''

    def _members(self, group: str) -> tuple[set[str], tuple[str, ...]]:
        """Return joints and tips of a group and its subgroups, which may refer to each other."""
        # `reached` grows while the loop reads it: subgroups are appended once each
        joints, tips, reached = set[str](), dict[str, None](), [group]
        for element in (element for part in reached for element in self._elements[part]):
            name = element.get('name', '')
            if element.tag == 'joint':
                joints.add(self._known(name, self._joints, 'joint'))
            elif element.tag == 'link':
                link = self._known(name, self._links, 'link')
                joints.add(self._tree.parent_joint.get(link, ''))
            elif element.tag == 'chain':
                base, tip = (self._known(element.get(f'{end}_link', ''), self._links,
                                         'link of a chain') for end in ('base', 'tip'))
                # the joints on the path between the two links
                if base and tip:
                    joints |= set(self._tree.chain(base)) ^ set(self._tree.chain(tip))
                    tips[tip] = None
            elif element.tag == 'group':
                subgroup = self._known(name, self._elements, 'subgroup')
                reached += [subgroup] if subgroup and subgroup not in reached else []
        return joints - {''}, tuple(tips)

    def _add_state(self, element: Element) -> None:
        name, group = element.get('name', ''), element.get('group', '')
        if group not in self._groups:
            self.warnings.append(f"state '{name}' belongs to the unknown group '{group}' "
                                 'and is left out')
            return
        values = {}
        for joint in element.findall('joint'):
            key = self._known(joint.get('name', ''), self._joints, f"joint of state '{name}'")
            if key:
                values[key] = numbers(joint.get('value', ''), None,
                                      f"state '{name}', joint '{key}'")
        self.states.setdefault(group, {})[name] = values

    def _pairs(self, root: Element) -> tuple[frozenset[tuple[str, str]], ...]:
        """Return the pairs of links with explicitly enabled collisions, and the disabled pairs."""
        enabled, disabled = (
            {sorted_pair(*(self._known(element.get(key, ''), self._links, f'link of {tag}')
                           for key in ('link1', 'link2'))) for element in root.findall(tag)}
            for tag in ('enable_collisions', 'disable_collisions'))
        # disable_default_collisions disables all pairs of a link except explicitly enabled pairs
        for element in root.findall('disable_default_collisions'):
            link = self._known(element.get('link', ''), self._links, 'link of disable_default')
            disabled |= {sorted_pair(link, other) for other in self._links - {link}} - enabled
        # `_known` returns '' for unknown links
        return tuple(frozenset(pair for pair in pairs if '' not in pair)
                     for pairs in (enabled, disabled))
