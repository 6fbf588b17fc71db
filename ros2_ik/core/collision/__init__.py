"""Collision checks: contacts and distances of a robot in a scene."""

from ros2_ik.core.collision.collision_checker import collision_checker, CollisionChecker
from ros2_ik.core.collision.contacts import Contact, Distances
from ros2_ik.core.collision.not_checked import COLLISIONS_OFF, not_checked, self_collision_check
from ros2_ik.core.collision.self_pairs import self_pairs, SelfPairs

__all__ = [
    'COLLISIONS_OFF', 'CollisionChecker', 'Contact', 'Distances', 'SelfPairs',
    'collision_checker', 'not_checked', 'self_collision_check', 'self_pairs',
]
