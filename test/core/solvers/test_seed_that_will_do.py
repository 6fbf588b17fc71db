"""A seed that is an answer already, while the costs lead away from it into contact."""

from example_data import data_folder
import numpy as np
import pytest

from ros2_ik.core import accept, CollisionChecker, InverseKinematics, Robot


@pytest.fixture(scope='module')
def tiago():
    """Give a robot whose arm touches its body in most configurations."""
    folder = data_folder()
    return Robot.from_urdf(folder / 'tiago_description/robots/tiago_no_hand.urdf',
                           package_dirs=[folder.parents[1], folder.parent])


@pytest.mark.parametrize('select', ['first', 'cost'])
def test_costs_make_no_answer_fail(tiago, select):
    checker, random = CollisionChecker(tiago), np.random.default_rng(1)

    def drawn(touching):
        return next(q for _ in range(1000)
                    if checker.collides(q := tiago.random_q(random)) == touching)
    for _ in range(4):
        seed, wanted = drawn(False), drawn(True)
        ik = InverseKinematics(tiago)
        ik.add_posture_cost(wanted)
        solution = ik.solve(seed, timeout=0.2, random_state=0, select=select)
        assert solution.success, solution.explain()
        assert accept(ik._problem(seed), solution.q).accepted and not checker.collides(solution.q)
