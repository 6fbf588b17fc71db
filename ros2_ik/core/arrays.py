"""The array type of the library: float64, shapes in docstrings."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
Indices: TypeAlias = npt.NDArray[np.intp]
Mask: TypeAlias = npt.NDArray[np.bool_]
ArrayLike: TypeAlias = npt.ArrayLike    # quote it in signatures: help() writes its union out
Pose: TypeAlias = Any   # a (4, 4) array or a pinocchio SE3, which has no types of its own
# see Robot.to_q
JointValues: TypeAlias = Mapping[str, float | Sequence[float] | Array] | Sequence[float] | Array
