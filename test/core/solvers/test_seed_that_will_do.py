"""A seed that is an answer already, while the costs lead away from it into contact."""

from example_data import data_folder
import numpy as np
import pytest

from ros2_ik.core import (
    accept,
    CollisionChecker,
    Configuration,
    FramePosition,
    InverseKinematics,
    LeastSquares,
    load_scene,
    Robot,
)


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
        assert accept(ik.problem, solution.q).accepted and not checker.collides(solution.q)


@pytest.mark.parametrize('number', [22, 51])
def test_no_answer_costs_more_than_the_seed(tiago, drawn, number):
    """One far away was found where the descent from the seed ends in contact."""
    seed, wanted = drawn[number]
    ik = InverseKinematics(tiago)
    ik.add_posture_cost(wanted)
    solution = ik.solve(seed, timeout=0.2, random_state=0)
    assert solution.success
    assert solution.cost <= sum(accept(ik.problem, seed).costs)


def test_cost_into_a_table_ends_beside_it_and_not_at_the_seed(load):
    """The hand is drawn to points 1 to 3 cm below the top of the table."""
    panda, generator = load('panda'), np.random.default_rng(0)
    scene = load_scene('table', panda)
    start = panda.to_q({'panda_joint2': -.785, 'panda_joint4': -2.356, 'panda_joint6': 1.571,
                        'panda_joint7': .785})
    off = []
    for _ in range(12):
        point = np.array([*generator.uniform((.45, -.3), (.75, .3)),
                          .2 - generator.uniform(.01, .03)])
        ik = InverseKinematics(panda, scene=scene)
        ik.add_cost(LeastSquares(FramePosition('panda_hand_tcp', [0, 0, 0]), target=point))
        solution = ik.solve(start, timeout=1.0, random_state=0)
        assert solution.success and not np.allclose(solution.q, start)
        at = Configuration(panda, solution.q).transform('panda_hand_tcp')[:3, 3]
        off.append(np.linalg.norm(at - point))
    assert np.median(off) < 0.07
