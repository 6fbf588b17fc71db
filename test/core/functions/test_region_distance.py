"""Where a region's surface has no gradient of its own."""

import numpy as np
import pytest

from ros2_ik.core import Configuration, RegionDistance, Robot


@pytest.mark.parametrize('kind', [1, 2, 3])
@pytest.mark.parametrize('axis', [(1, 1, 1), (0, 0, 1), (1, 1, 0)])
def test_the_gradient_is_finite_on_the_axis(kind, axis):
    robot = Robot.load('panda')
    at = Configuration(robot)
    point = at.transform('panda_hand')[:3, 3]
    function = RegionDistance('panda_hand', [0, 0, 0], [[0, kind, *point, *axis, 0.3]])
    f, J = function.bind(robot).evaluate(at)
    assert np.isfinite(f).all() and np.isfinite(J).all() and np.abs(J).max() > 1e-3
