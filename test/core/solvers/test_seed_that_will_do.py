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


@pytest.fixture(scope='module')
def checker(tiago):
    return CollisionChecker(tiago)


@pytest.fixture(scope='module')
def drawn(tiago, checker):
    """Give seeds that touch nothing, each with a goal that does."""
    random = np.random.default_rng(1)

    def draw(touching):
        return next(q for _ in range(1000)
                    if checker.collides(q := tiago.random_q(random)) == touching)
    return [(draw(False), draw(True)) for _ in range(60)]


@pytest.mark.parametrize('select', ['first', 'cost'])
def test_costs_make_no_answer_fail(tiago, checker, drawn, select):
    for seed, wanted in drawn[:4]:
        ik = InverseKinematics(tiago)
        ik.add_posture_cost(wanted)
        solution = ik.solve(seed, timeout=0.2, random_state=0, select=select)
        assert solution.success, solution.explain()
        assert accept(ik._problem(seed), solution.q).accepted and not checker.collides(solution.q)


@pytest.mark.parametrize('number', [22, 51])
def test_no_answer_costs_more_than_the_seed(tiago, drawn, number):
    """One far away was found where the descent from the seed ends in contact."""
    seed, wanted = drawn[number]
    ik = InverseKinematics(tiago)
    ik.add_posture_cost(wanted)
    solution = ik.solve(seed, timeout=0.2, random_state=0)
    assert solution.success
    assert solution.cost <= sum(accept(ik._problem(seed), seed).costs)
