"""New obstacles for a moving arm are judged from the position of the arm."""

from types import SimpleNamespace

import numpy as np
import pytest
from scene_harness import HOME
from stand_in_arm import Arm, JOINT, Positions, Trajectories

from ros2_ik.core import Box, collision_checker, IKError, Scene, SceneObject, Status
from ros2_ik.node.motion.path_checks import PathChecks

AT, RADIUS, HEIGHT = 1.2, 0.3, 0.55     # of a post in the way of the hand [rad, m, m]


class Surroundings:
    """An empty scene to which a post is added; joints other than JOINT are at HOME."""

    left_out = ()

    def __init__(self, arm):
        self._robot, self.current = arm.robot, SimpleNamespace(scene=Scene(arm.robot))
        self._state = SimpleNamespace(known_values=lambda _: HOME, start=self._start)
        self.checks = PathChecks(self._state, self, arm.context)

    def _start(self, robot, first, *_, **__):
        return SimpleNamespace(q=robot.to_q({**HOME, **first}), notes=[])

    def checker(self, scene):
        return collision_checker(self._robot, scene)

    def put_post(self, angle):
        T = np.eye(4)
        T[:3, 3] = RADIUS * np.cos(angle), RADIUS * np.sin(angle), HEIGHT
        self.current.scene = self.current.scene.add(
            SceneObject('post', [Box([0.01, 0.01, 0.05])], T))

    def touches(self, angle):
        """Return True if the hand touches the post with JOINT at an angle."""
        return self.checker(self.current.scene).collides(self._robot.to_q({**HOME, JOINT: angle}))

    def recheck(self, execution):
        """Run the check to its end; return the reason for which the motion was stopped."""
        self.checks.recheck(execution)
        while execution.recheck is not None:
            self.checks.recheck(execution)
        return execution.reason


def under_way(monkeypatch, kind, until, late=0.0):
    """Move until the arm, `late` [s] behind, is at `until`; return arm, scene and execution."""
    arm = Arm(monkeypatch, kind)
    around, execution = Surroundings(arm), arm.go(2.6)
    execution.node_scene = execution.checked_scene = around.current.scene
    while arm.measured.state([JOINT])[0][0] < until:
        arm.run(0.01, late)
    assert around.recheck(execution) is None
    return arm, around, execution


@pytest.mark.parametrize('kind', [Trajectories, Positions])
@pytest.mark.parametrize('late', [0.0, 0.3])
def test_new_obstacle_between_the_arm_and_its_goal_is_found(monkeypatch, kind, late):
    """The command of a late arm is already beyond the obstacle."""
    arm, around, execution = under_way(monkeypatch, kind, 0.6, late)
    around.put_post(AT)
    assert not late or arm.controller.commanded(arm.now).position[0] > 1.0
    found = around.recheck(execution)
    assert found and found.status == Status.INVALID_MOTION_PLAN
    assert 'the scene has changed, and ahead' in found.message and "'post'" in found.message


def test_new_obstacle_behind_the_arm_is_ignored(monkeypatch):
    arm, around, execution = under_way(monkeypatch, Trajectories, 1.8, 0.1)
    around.put_post(AT)
    assert around.touches(AT) and around.recheck(execution) is None


def test_new_obstacle_in_contact_with_the_arm_is_named(monkeypatch):
    _, around, execution = under_way(monkeypatch, Trajectories, AT, 0.1)
    around.put_post(AT)
    assert 'is in contact at its position' in around.recheck(execution).message


def test_contradicting_joint_states_of_another_joint_refuse_the_check(monkeypatch):
    arm, around, execution = under_way(monkeypatch, Trajectories, 0.1)
    monkeypatch.setattr(arm.measured, 'contradiction', lambda name: f'{name} contradicts')
    with pytest.raises(IKError, match='panda_finger_joint1 contradicts'):
        around.checks.begin(execution, execution.motion, frozenset())
