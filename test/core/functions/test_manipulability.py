"""Manipulability: sqrt(det(J J^T)) of a frame."""

from judge import numeric_jacobian
import numpy as np
from oracles import pink
import pytest

from ros2_ik.core import Configuration, Manipulability

ROWS = {'all': slice(0, 6), 'position': slice(0, 3), 'orientation': slice(3, 6),
        'xy': [0, 1], 'xz': [0, 2], 'yz': [1, 2]}


@pytest.mark.parametrize('row', pink('ManipulabilityTask'))
def test_manipulability_equals_that_of_pink(row):
    f, J = Manipulability(row['args']['frame']).evaluate(row['at'])
    np.testing.assert_allclose(f, [row['manipulability']], atol=1e-9)
    np.testing.assert_allclose(J, row['jacobian'], atol=1e-9)


@pytest.mark.parametrize('rows', ROWS)
@pytest.mark.parametrize('relative', [None, 'right_d'])
def test_manipulability_agrees_with_a_numeric_jacobian(small, rows, relative):
    robot = small('two_arms')
    q = robot.random_q(np.random.default_rng(2))

    def pose_at(q):
        return Configuration(robot, q).transform('left_hand', relative)
    J = numeric_jacobian(robot, q, pose_at)[ROWS[rows]]
    value = Manipulability('left_hand', relative, rows).value(Configuration(robot, q))
    np.testing.assert_allclose(value, [np.sqrt(np.linalg.det(J @ J.T))], rtol=1e-6)


@pytest.mark.parametrize('frame, rows', [('left_hand', 'all'), ('left_e', 'position')])
def test_manipulability_and_gradient_vanish_at_a_singularity(small, frame, rows):
    """At the stretched arm, but not 1e-6 rad beside it."""
    robot = small('two_arms')
    function = Manipulability(frame, 'chest', rows)
    names = [f'left_{i}' for i in range(1, 7)]
    stretched = dict(zip(names, (0.3, 0.2, 0, 0.4, 0.5, 0.6), strict=True))
    f, J = function.evaluate(Configuration(robot, stretched))
    assert 0 <= f[0] < 1e-12
    np.testing.assert_array_equal(J, np.zeros((1, robot.nv)))
    for angle in (1e-6, -1e-6):
        f, J = function.evaluate(Configuration(robot, stretched | {'left_3': angle}))
        assert f[0] > 1e-9
        assert J[0, robot.joint('left_3').velocity_index] * np.sign(angle) > 1e-3
