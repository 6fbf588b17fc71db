"""Array types: real numbers are float64; docstrings state the shapes of arrays."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
# element type of an Array; `dtype is FLOAT` takes a third of the time of `dtype == FLOAT`
FLOAT = np.dtype(np.float64)
Indices: TypeAlias = npt.NDArray[np.intp]
Mask: TypeAlias = npt.NDArray[np.bool_]
# signatures quote 'ArrayLike': unquoted, help() would print the whole union
ArrayLike: TypeAlias = npt.ArrayLike
# a (4, 4) array or a pinocchio.SE3; Any because Pinocchio has no type stubs
Pose: TypeAlias = Any
# joint values by name, or in the order of q; `Robot.to_q` converts them
JointValues: TypeAlias = Mapping[str, float | Sequence[float] | Array] | Sequence[float] | Array
