"""Fixtures of the function tests."""

import numpy as np
import pytest

from ros2_ik.core import Configuration


@pytest.fixture
def at(small):
    """Return a configuration of a free body, away from the origin and rotated."""
    return Configuration(small('one_link', 'freeflyer'), [1, 2, 3, 0.5, 0.5, 0.5, 0.5])


@pytest.fixture(params=[None, 'panda_link3'])
def hand(request, load, judge_of):
    """Return a configuration of the Panda, one of its frames or None, and T_frame_hand."""
    robot, frame = load('panda'), request.param
    at = Configuration(robot, robot.random_q(np.random.default_rng(0)))
    return at, frame, judge_of('panda').transform(at.joints, 'panda_hand', frame)
