"""A named set of joints that move together."""

from dataclasses import dataclass


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
