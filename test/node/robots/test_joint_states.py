"""joint_states in ~/compute_ik: merged, stale, missing or malformed."""

from itertools import count

from judge import RestJudge
from node_harness import eventually, matrix, robot_state, stamped, values
import numpy as np
import pytest
from small_arm import ARM, small_arm

from ros2_ik.core import Configuration
from ros2_ik.msg import Status

STALE = Status.ROBOT_STATE_STALE
HOME = {**ARM, 'turn': 0.5}
suffixes = map(str, count())     # of joint names, one per test


class Arm:
    """A robot whose joint names no earlier test has published."""

    def __init__(self, client):
        self.client, self.suffix = client, next(suffixes)
        self.robot = small_arm(self.suffix)
        client.publish_robot(self.robot)

    def named(self, joints):
        """Return joint values with the suffix of this robot in their names."""
        return {name + self.suffix: value for name, value in joints.items()}

    def target(self, frame=None):
        """Return a pose that the arm reaches with the torso at HOME."""
        configuration = Configuration(self.robot, self.named(HOME))
        return stamped(configuration.transform('hand', frame), frame or '')

    def ik(self, given=(), frame=None, **request):
        """Request the target with the joints `given` in the seed."""
        return self.client.ik(targets=[self.target(frame)],
                              seed=robot_state(self.named(dict(given))), **request)

    def publish(self, joints, stamp=None):
        self.client.publish_joint_states(self.named(joints), stamp)

    def publish_until_solved(self, joints):
        """Publish joint_states until a request succeeds."""
        def solved():
            self.publish(joints)
            return self.ik().status == Status.SUCCESS
        eventually(solved, 'a solution')


@pytest.fixture
def arm(client):
    assert client.set('default_group', 'arm').successful
    assert client.set('joint_state_timeout', 0.4).successful
    return Arm(client)


def test_unpublished_locked_joint_must_be_in_the_seed(arm):
    response = arm.ik()
    assert response.status == STALE
    assert "joint 'turn" in response.message and 'neither' in response.message
    assert arm.ik(frame='torso').status == Status.SUCCESS    # moves frame and tip
    response = arm.ik({'turn': 0.5})
    assert response.status == Status.SUCCESS, response.message
    assert 'no joint_states of' in response.message   # the arm's own joints
    assert list(response.solution.joint_state.name) == list(arm.named(ARM))
    reached = RestJudge(arm.robot.urdf).transform(
        {**values(response.solution), **arm.named({'turn': 0.5})}, 'hand', 'base')
    assert np.allclose(reached, matrix(arm.target().pose), atol=2e-4)


def test_target_frame_moved_by_the_solution_needs_joint_states(arm):
    response = arm.ik(frame='fore')
    assert response.status == STALE and "'shoulder" in response.message
    assert arm.ik(frame='fore', follow_frames=True).status == Status.SUCCESS


def test_joint_states_of_several_publishers_are_merged(arm):
    def both():
        arm.publish({'turn': 0.5})
        arm.publish({**ARM, 'a joint of another robot': 1.0})
        response = arm.ik(avoid_collisions=False)   # else the reply is about missing geometry
        return response.status == Status.SUCCESS and 'joint_states' not in response.message \
            and response
    reached = values(eventually(both, 'a solution with all joints').solution)
    for name, value in arm.named(ARM).items():   # the search started at this solution
        assert abs(reached[name] - value) < 1e-3


def test_stale_joint_states_are_refused_or_replaced_by_the_seed(arm):
    arm.publish_until_solved(HOME)
    response = eventually(lambda: (answer := arm.ik()).status == STALE and answer,
                          'stale joint_states')
    assert "'turn" in response.message and 's old' in response.message
    assert 'joint_state_timeout allows 0.4 s' in response.message
    response = arm.ik({'turn': 0.5})
    assert response.status == Status.SUCCESS
    assert "stale joint_states of 'shoulder" in response.message
    assert arm.client.set('joint_state_timeout', 0.0).successful       # no limit
    assert arm.ik().status == Status.SUCCESS


def test_nan_positions_are_ignored_and_reported(arm, node):
    def warned():
        arm.publish({'turn': float('nan')})
        return f"no valid position for {{'turn{arm.suffix}': nan}}" in node.text
    eventually(warned, 'a warning')
    assert arm.ik().status == STALE
    arm.publish_until_solved(HOME)
    assert arm.client.set('joint_state_timeout', 0.0).successful
    height = Configuration(arm.robot, arm.named({**HOME, 'elbow': 1.2})).transform('hand')[2, 3]

    def elbow_received():
        arm.publish({'turn': float('nan'), 'elbow': 1.2})
        pose = arm.client.fk(links=['hand']).poses[0].pose   # a jump is accepted
        return abs(pose.position.z - height) < 1e-9
    eventually(elbow_received, 'the message with NaN')
    assert arm.ik().status == Status.SUCCESS     # with the last valid position of turn
