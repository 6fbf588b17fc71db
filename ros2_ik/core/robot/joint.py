"""A movable joint, as its values stand in q."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal['revolute', 'continuous', 'prismatic', 'floating', 'planar']


@dataclass(frozen=True)
class Joint:
    """
    A movable joint of a robot.

    `size` values from `index` on in q: one angle [rad] or distance [m]; a floating joint has
    x y z qx qy qz qw, a planar one x y theta. `velocity_size` columns from `velocity_index` on
    in the tangent space. Absent limits are infinite.
    """

    name: str
    kind: Kind
    index: int
    size: int
    velocity_index: int
    velocity_size: int
    lower: float = -float('inf')
    upper: float = float('inf')
    velocity_limit: float = float('inf')

    @property
    def single(self) -> bool:
        """Whether one number says where it stands."""
        return self.size == 1

    @property
    def rotary(self) -> bool:
        """Whether that number is an angle, so that a full turn is the same place."""
        return self.kind in ('revolute', 'continuous')
