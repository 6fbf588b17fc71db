"""Use of joint_states by ~/compute_ik, and replies without them."""

from itertools import count

from judge import RestJudge
from node_harness import eventually, matrix, seed, stamped, values
import numpy as np
import pytest
from small_arm import ARM, small_arm

from ros2_ik.core import Configuration
from ros2_ik.msg import Status

STALE = Status.ROBOT_STATE_STALE
HOME = {**ARM, 'turn': 0.5}
numbers = count()


class Arm:
    """A robot whose joints have never been published."""

    def __init__(self, client):
        self.client, self.suffix = client, str(next(numbers))
        self.robot = small_arm(self.suffix)
        client.describe(self.robot)

    def named(self, joints):
        """Return joint values with the joint names of this robot."""
        return {name + self.suffix: value for name, value in joints.items()}

    def target(self, frame=None):
        """Return a pose that the arm reaches with the torso at HOME."""
        at = Configuration(self.robot, self.named(HOME))
        return stamped(at.transform('hand', frame), frame or '')

    def ik(self, given=(), frame=None, **request):
        """Request the target, with some joints in the seed."""
        return self.client.ik(targets=[self.target(frame)], seed=seed(self.named(dict(given))),
                              **request)

    def tell(self, joints, stamp=None):
        """Publish joint_states."""
        self.client.joint_states(self.named(joints), stamp)

    def tell_until_solved(self, joints):
        """Publish joint_states until a request succeeds."""
        def solved():
            self.tell(joints)
            return self.ik().status == Status.SUCCESS
        eventually(solved, 'the joint_states')


@pytest.fixture
def arm(client):
    assert client.set('default_group', 'arm').successful
    assert client.set('joint_state_timeout', 0.4).successful
    return Arm(client)


def test_unpublished_locked_joint_must_be_in_the_seed(arm):
    response = arm.ik()
    assert response.status == STALE
    assert "joint 'turn" in response.message and 'neither' in response.message
    assert arm.ik(frame='torso').status == Status.SUCCESS    # it carries frame and tip
    response = arm.ik({'turn': 0.5})
    assert response.status == Status.SUCCESS, response.message
    assert 'no joint_states of' in response.message   # the arm's own joints
    assert list(response.solution.joint_state.name) == list(arm.named(ARM))
    reached = RestJudge(arm.robot.urdf).transform(
        {**values(response.solution), **arm.named({'turn': 0.5})}, 'hand', 'base')
    assert np.allclose(reached, matrix(arm.target().pose), atol=2e-4)


def test_target_frame_that_the_solution_moves_needs_joint_states(arm):
    response = arm.ik(frame='fore')
    assert response.status == STALE and "'shoulder" in response.message
    assert arm.ik(frame='fore', follow_frames=True).status == Status.SUCCESS


def test_joint_states_of_several_publishers_are_merged(arm):
    def both():
        arm.tell({'turn': 0.5})
        arm.tell({**ARM, 'a joint of another robot': 1.0})
        response = arm.ik(avoid_collisions=False)   # there is no geometry, which is said
        return response.status == Status.SUCCESS and 'joint_states' not in response.message \
            and response
    reached = values(eventually(both, 'an answer that knows all joints').solution)
    for name, value in arm.named(ARM).items():   # the search started there, so there it ends
        assert abs(reached[name] - value) < 1e-3


def test_stale_joint_states_are_refused_or_replaced_by_the_seed(arm):
    arm.tell_until_solved(HOME)
    response = eventually(lambda: (answer := arm.ik()).status == STALE and answer,
                          'joint_states getting old')
    assert "'turn" in response.message and 's old' in response.message
    assert 'joint_state_timeout allows 0.4 s' in response.message
    response = arm.ik({'turn': 0.5})
    assert response.status == Status.SUCCESS
    assert "stale joint_states of 'shoulder" in response.message
    assert arm.client.set('joint_state_timeout', 0.0).successful       # any age will do
    assert arm.ik().status == Status.SUCCESS


def test_nan_positions_are_ignored_and_reported(arm, node):
    def warned():
        arm.tell({'turn': float('nan')})
        return f"no valid position for {{'turn{arm.suffix}': nan}}" in node.text
    eventually(warned, 'a warning')
    assert arm.ik().status == STALE
    arm.tell_until_solved(HOME)
    assert arm.client.set('joint_state_timeout', 0.0).successful
    height = Configuration(arm.robot, arm.named({**HOME, 'elbow': 1.2})).transform('hand')[2, 3]

    def came():
        arm.tell({'turn': float('nan'), 'elbow': 1.2})
        pose = arm.client.fk(links=['hand']).poses[0].pose   # one jump is believed
        return abs(pose.position.z - height) < 1e-9
    eventually(came, 'the message with NaN')
    assert arm.ik().status == Status.SUCCESS     # the turn of before counts


