"""Motion of the servo's tip: achieved part of a twist, motion along surfaces."""

from collections.abc import Sequence

import numpy as np

from ros2_ik.core import Array, NearPair


def achieved_part(moved: Array, twist: Array) -> float:
    """Return the achieved fraction of a twist (6,), the smaller of linear and angular part."""
    parts = [1.0]
    # linear and angular part separately: component of the motion along the commanded twist
    for rows in (slice(0, 3), slice(3, 6)):
        if (squared := float(twist[rows] @ twist[rows])) > 0:
            parts.append(float(moved[rows] @ twist[rows]) / squared)
    return min(parts)


def along_surfaces(twist: Array, J: Array, pairs: Sequence[NearPair], columns: Array,
                   rate: float) -> Array:
    """
    Return a twist (6,) that slides along the surfaces of near pairs.

    Each gap closes at a speed of at most `rate` [1/s] times the gap. `J` (6, n) is the Jacobian of
    the tip w.r.t. the joints at `columns`.
    """
    inverse, slid = np.linalg.pinv(J)[:, :3], twist.copy()
    # Successive projections of the linear velocity onto the half-spaces of the pairs. They are
    # repeated, since a projection for one pair may violate the half-space of an earlier one.
    for _ in pairs:
        for pair in pairs:
            # gradient of the distance w.r.t. the position of the tip
            normal = pair.gradient[columns] @ inverse
            beyond = float(normal @ slid[:3]) + rate * max(pair.gap, 0.0)
            if beyond < 0:
                slid[:3] -= beyond / float(normal @ normal) * normal
    return slid
