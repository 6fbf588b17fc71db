"""Groups: named sets of joints that move together."""

from dataclasses import dataclass

from ros2_ik.core.robot.srdf import Semantics
from ros2_ik.core.robot.urdf import RobotTree


@dataclass(frozen=True)
class Group:
    """
    A group of joints: an SRDF group or, without an SRDF, the chain to a leaf link.

    `joint_names` are the joints of the group that can be commanded (no fixed, mimic or passive
    joints), in the robot's order. `tips` are the links at the ends of the group, `base` is the
    link at its beginning.
    """

    name: str
    joint_names: tuple[str, ...]
    tips: tuple[str, ...]
    base: str


def find_groups(tree: RobotTree, semantics: Semantics,
                joint_names: tuple[str, ...]) -> dict[str, Group]:
    """Return the groups of an SRDF, or, if the SRDF has none, a group for each leaf link."""
    parents = {joint.parent for joint in tree.joints.values()}
    members = semantics.groups or {leaf: (tuple(tree.chain(leaf)), (leaf,)) for leaf in tree.links
                                   if leaf not in parents}
    groups = {}
    for name, (joints, tips) in members.items():
        names = set(joints) - semantics.passive_joints
        moving = tuple(joint for joint in joint_names if joint in names)
        if moving:
            elements = [tree.joints[joint] for joint in joints if joint in tree.joints]
            parents = {element.parent for element in elements}
            ends = tips or tuple(e.child for e in elements if e.child not in parents)
            # the parent link nearest to the root; a group of only the base joint has no parent
            base = min(parents, key=lambda link: (len(tree.chain(link)), link), default=tree.root)
            groups[name] = Group(name, moving, _outer(ends, moving, tree) or tips or (tree.root,),
                                 base)
    return groups


def _outer(tips: tuple[str, ...], moving: tuple[str, ...], tree: RobotTree) -> tuple[str, ...]:
    """Return the tips that carry no moving joint of the group."""
    carrying = {tree.joints[above].parent for joint in moving if joint in tree.joints
                for above in tree.chain(tree.joints[joint].child)}
    return tuple(tip for tip in tips if tip not in carrying)
