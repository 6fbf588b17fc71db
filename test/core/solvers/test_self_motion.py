"""Along the answers of an arm that has joints to spare, out of contact."""

from judge import pose_error
import numpy as np
import pytest
from scenes import scattered
from solid_judge import SolidJudge

from ros2_ik.core import Budget, Configuration, IKProblem, PoseTarget
from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.solvers.lm import LevenbergMarquardt
from ros2_ik.core.solvers.self_motion import SelfMotion

TIPS = {'panda': 'panda_hand_tcp', 'xarm7': 'link_eef'}


def asked(robot, tip, generator):
    T = Configuration(robot, robot.random_q(generator)).transform(tip)
    return IKProblem(robot, PoseTarget(tip, T), collisions=False), T


class Counting(CollisionChecker):
    """Counts how often it is asked."""

    asked = 0

    def collides(self, at):
        self.asked += 1
        return super().collides(at)


@pytest.mark.parametrize('name', TIPS)
def test_ends_are_free_and_vain_walks_are_not_repeated(name, load, judge_of):
    robot, tip, generator = load(name), TIPS[name], np.random.default_rng(4)
    scene = scattered(robot, 8, 2)
    judge, checker, freed, vain = SolidJudge(robot).surround(scene), Counting(robot, scene), 0, 0
    for _ in range(60):
        problem, T = asked(robot, tip, generator)
        touching = LevenbergMarquardt(problem).attempt(robot.random_q(generator), Budget())
        if not touching.reached or not checker.collides(touching.q):
            continue
        motion, checker.asked = SelfMotion(problem, checker), 0
        assert motion.is_possible
        found = motion.escape_collision(touching, Budget())
        if found is None:
            vain, checker.asked = vain + 1, 0
            assert motion.escape_collision(touching, Budget()) is None and not checker.asked
            continue
        freed += 1
        joints = robot.to_joints(found.q)
        errors = pose_error(judge_of(name).transform(joints, tip), T)
        assert errors[0] < 1e-5 and errors[1] < 1e-4 and not judge.touching(joints)
        resting = np.setdiff1d(np.arange(robot.nq), problem.active.indices)
        assert (found.q >= robot.lower).all() and (found.q <= robot.upper).all()
        assert np.array_equal(found.q[resting], touching.q[resting])
    assert freed > 3 and vain
