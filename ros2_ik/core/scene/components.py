"""What hangs together by links between pairs."""

import numpy as np
import scipy

from ros2_ik.core.arrays import Indices


def components(one: Indices, other: Indices, count: int) -> Indices:
    """Return for each of `count` things the number of its component, (count,); links are (k,)."""
    links = scipy.sparse.coo_array((np.ones(len(one)), (one, other)), shape=(count, count))
    labels: Indices = scipy.sparse.csgraph.connected_components(links, directed=False)[1]
    return labels
