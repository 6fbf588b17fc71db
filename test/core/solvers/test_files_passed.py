"""A warm call of InverseKinematics.solve passes few files."""

from files_entered import files_entered
import numpy as np

from ros2_ik.core import Configuration, InverseKinematics

TIP = 'panda_hand_tcp'


def test_a_warm_inverse_kinematics_passes_few_files(load):
    """A reader follows the whole way of a problem with two constraints and a cost."""
    robot, generator, answers = load('panda'), np.random.default_rng(0), []
    ik = InverseKinematics(robot)
    for _ in range(4):
        q = robot.random_q(generator)
        T = Configuration(robot, q).transform(TIP)
        handles = [ik.add_position_constraint(TIP, [0, 0, 0], None, T[:3, 3] - 0.02,
                                              T[:3, 3] + 0.02),
                   ik.add_gaze_target_constraint(TIP, [0, 0, 0], [0, 0, 1], None,
                                                 T[:3, 3] + 0.5 * T[:3, 2], 0.2),
                   ik.add_posture_cost(q, 0.01)]
        seed = np.clip(q + 0.05, robot.lower, robot.upper)
        entered = files_entered(lambda seed=seed: answers.append(ik.solve(seed, timeout=1.0)))
        for handle in handles:
            ik.remove(handle)
    assert len(answers) == 4
    assert answers[-1].success and answers[-1].iterations > 0
    assert len(set(entered)) <= 22 and len(entered) - 1 <= 79, entered
