"""The quadratic program behind one velocity."""

from typing import NamedTuple

from ros2_ik.core.arrays import Array


class VelocityQP(NamedTuple):
    """
    min 1/2 x^T H x + g^T x + 1/2 stiffness |slack|^2, with A x + slack and x within bounds.

    x (N,) is the step v dt [rad, m], and after it, where tasks are scaled, how far these go: from
    0 to the whole length of their steps, one under the other.
    H (N, N) and g (N,) are the tasks, A (m, N) with its lower and upper `bounds` (2, m) gaps,
    barriers and what is hard, `box` (2, N) the limits of the joints. All of H and g is divided by
    the largest number on the diagonal of H. (A step makes up for small slacks: it solves it again
    with bounds that are further by these.)
    """

    H: Array
    g: Array
    A: Array
    bounds: Array
    box: Array
    stiffness: float
