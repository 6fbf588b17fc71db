"""Checks of a running motion against new obstacles, from the position of the arm on."""

from types import SimpleNamespace

import numpy as np
import pytest
from scene_harness import HOME
from stand_in_arm import Arm, JOINT, PositionStream, TrajectoryRecorder

from ros2_ik.core import Box, collision_checker, IKError, Scene, SceneObject, Status
from ros2_ik.node.motion.path_checks import PathChecks

POST_ANGLE = 1.2     # of a post on the path of the hand, about the base axis [rad]
POST_RADIUS, POST_HEIGHT = 0.3, 0.55     # of the post, from the base [m]


class Environment:
    """A scene to which a post can be added; joints other than JOINT are at HOME."""

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
        T[:3, 3] = POST_RADIUS * np.cos(angle), POST_RADIUS * np.sin(angle), POST_HEIGHT
        self.current.scene = self.current.scene.add(
            SceneObject('post', [Box([0.01, 0.01, 0.05])], T))

    def touches(self, angle):
        """Return True if the arm touches the post with JOINT at an angle."""
        return self.checker(self.current.scene).collides(self._robot.to_q({**HOME, JOINT: angle}))

    def recheck(self, execution):
        """Run a check to its end; return the reason for stopping the motion, if any."""
        self.checks.recheck(execution)
        while execution.recheck is not None:
            self.checks.recheck(execution)
        return execution.reason


def start_motion(monkeypatch, kind, until, late=0.0):
    """Move until the arm, `late` [s] behind its command, is at `until` [rad]."""
    arm = Arm(monkeypatch, kind)
    environment, execution = Environment(arm), arm.start_motion(2.6)
    execution.node_scene = execution.checked_scene = environment.current.scene
    while arm.measured.state([JOINT])[0][0] < until:
        arm.run(0.01, late)
    assert environment.recheck(execution) is None
    return arm, environment, execution


@pytest.mark.parametrize('kind', [TrajectoryRecorder, PositionStream])
@pytest.mark.parametrize('late', [0.0, 0.3])
def test_new_obstacle_between_the_arm_and_its_goal_is_found(monkeypatch, kind, late):
    """The command for a late arm is already beyond the obstacle."""
    arm, environment, execution = start_motion(monkeypatch, kind, 0.6, late)
    environment.put_post(POST_ANGLE)
    assert not late or arm.controller.commanded(arm.now).position[0] > 1.0
    reason = environment.recheck(execution)
    assert reason and reason.status == Status.INVALID_MOTION_PLAN
    assert 'the scene has changed, and ahead' in reason.message and "'post'" in reason.message


def test_new_obstacle_behind_the_arm_is_ignored(monkeypatch):
    arm, environment, execution = start_motion(monkeypatch, TrajectoryRecorder, 1.8, 0.1)
    environment.put_post(POST_ANGLE)
    assert environment.touches(POST_ANGLE) and environment.recheck(execution) is None


def test_new_obstacle_in_contact_with_the_arm_is_named(monkeypatch):
    _, environment, execution = start_motion(monkeypatch, TrajectoryRecorder, POST_ANGLE, 0.1)
    environment.put_post(POST_ANGLE)
    assert 'is in contact at its position' in environment.recheck(execution).message


def test_contradicting_joint_states_of_a_joint_outside_the_motion_refuse_the_check(monkeypatch):
    arm, environment, execution = start_motion(monkeypatch, TrajectoryRecorder, 0.1)
    monkeypatch.setattr(arm.measured, 'contradiction_text', lambda name: f'{name} contradicts')
    with pytest.raises(IKError, match='panda_finger_joint1 contradicts'):
        environment.checks.begin(execution, execution.motion, frozenset())
