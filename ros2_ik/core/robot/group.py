"""A named set of joints that move together."""

from dataclasses import dataclass

from ros2_ik.core.robot.srdf import Semantics
from ros2_ik.core.robot.urdf import RobotTree


@dataclass(frozen=True)
class Group:
    """
    A group of joints: an SRDF group or, without SRDF, the chain that ends in a leaf link.

    `joint_names` are its joints that can be commanded (no fixed, mimic or passive ones) in the
    robot's order; `tips` the links it ends in; `base` the link it starts from.
    """

    name: str
    joint_names: tuple[str, ...]
    tips: tuple[str, ...]
    base: str


def find_groups(tree: RobotTree, semantics: Semantics,
                joint_names: tuple[str, ...]) -> dict[str, Group]:
    """Return the groups of an SRDF, or the chain of every leaf link where it has none."""
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
            # the link nearest to the root; a group of the base joint alone has none
            base = min(parents, key=lambda link: (len(tree.chain(link)), link), default=tree.root)
            groups[name] = Group(name, moving, _outer(ends, moving, tree) or tips or (tree.root,),
                                 base)
    return groups


def _outer(tips: tuple[str, ...], moving: tuple[str, ...], tree: RobotTree) -> tuple[str, ...]:
    """Leave out tips that carry other moving joints of their group."""
    carrying = {tree.joints[above].parent for joint in moving if joint in tree.joints
                for above in tree.chain(tree.joints[joint].child)}
    return tuple(tip for tip in tips if tip not in carrying)
