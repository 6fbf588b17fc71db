"""Straight ways of the tip: the arm keeps to the line, or it is said why not."""

from arm_harness import (
    ARM,
    execute,
    FAST,
    HOME,
    knows_the_robot,
    near,
    Recorder,
    stop,
    TRAJECTORIES,
)
from moveit_msgs.msg import CollisionObject
from node_harness import eventually, stamped
import numpy as np
import pinocchio as pin
import pytest
from scene_harness import applied, box, change, diff, pose

from ros2_ik.msg import Function, Status

TIP = 'panda_hand_tcp'
SHIFT = np.array([0.05, 0.25, -0.1])


@pytest.fixture(scope='module')
def node(mock, start_shared_node):
    """Give a node that moves it."""
    return start_shared_node(**TRAJECTORIES, **FAST)


@pytest.fixture
def record(client, node, mock):
    """Give a record, with the arm at home in an empty scene."""
    record = Recorder(client)
    knows_the_robot(client)
    applied(client, diff(change('', CollisionObject.REMOVE)))
    record.listen()
    eventually(lambda: execute(client, HOME).status == Status.SUCCESS, 'the arm at home')
    yield record
    record.close()


@pytest.fixture(scope='module')
def place(panda):
    """Give a function that returns the tip's pose (4, 4) by Pinocchio alone."""
    model = pin.buildModelFromXML(panda.urdf)
    data, frame = model.createData(), model.getFrameId(TIP)
    columns = [model.joints[model.getJointId(joint)].idx_q for joint in ARM]

    def found(positions):
        q = pin.neutral(model)
        q[columns] = positions
        pin.framesForwardKinematics(model, data, q)
        return data.oMf[frame].homogeneous.copy()
    return found


def goal_at(place, shift, turn=0.0):
    """Give a pose from that at home on, shifted [m] and turned about its z axis [rad]."""
    T = place(list(HOME.values()))
    T[:3, 3] += shift
    T[:3, :3] = T[:3, :3] @ pin.exp3(np.array([0.0, 0.0, turn]))
    return stamped(T), T


def off_the_line(place, ways, T_end):
    """Return how far the tip was from the line at most [m], and turned from it [rad]."""
    T = place(list(HOME.values()))
    way = T_end[:3, 3] - T[:3, 3]
    turned = pin.log3(T[:3, :3].T @ T_end[:3, :3])
    far, off = 0.0, 0.0
    for positions in ways:
        at = place(positions)
        part = (at[:3, 3] - T[:3, 3]) @ way / (way @ way)
        far = max(far, np.linalg.norm(at[:3, 3] - T[:3, 3] - part * way))
        wanted = T[:3, :3] @ pin.exp3(part * turned)
        off = max(off, np.linalg.norm(pin.log3(wanted.T @ at[:3, :3])))
    return far, off


def test_the_tip_keeps_to_the_line(client, record, place):
    target, T = goal_at(place, SHIFT, turn=0.4)
    since = len(record.states)
    answer = client.ik(targets=[target], tips=[TIP], execute=True, straight=True, tip_speed=0.2)
    assert answer.status == Status.SUCCESS, answer.message
    times, ways = record.way(since)
    assert np.linalg.norm(place(record.still())[:3, 3] - T[:3, 3]) < 1e-3
    far, off = off_the_line(place, ways, T)
    assert far < 1.5e-3 and off < 1.5e-2
    places = np.array([place(positions)[:3, 3] for positions in ways])
    window = 10     # of so many messages, as stamps tremble
    speeds = np.linalg.norm(places[window:] - places[:-window], axis=1) / (
        times[window:] - times[:-window])
    assert 0.19 < speeds.max() < 0.205
    assert (np.diff((places - places[0]) @ SHIFT) > -1e-4).all()    # nowhere back
    # without `straight` it does not keep to the line: the test can tell
    since = len(record.states)
    assert client.ik(targets=[stamped(place(list(HOME.values())))], tips=[TIP],
                     execute=True).status == Status.SUCCESS
    assert off_the_line(place, record.way(since)[1], T)[0] > 5e-3


def test_a_goal_of_the_action_goes_straight(client, record, place):
    target, T = goal_at(place, SHIFT)
    since = len(record.states)
    _, result = client.goal(targets=[target], tips=[TIP], execute=True, straight=True).result()
    assert result.status == Status.SUCCESS, result.message
    assert off_the_line(place, record.way(since)[1], T)[0] < 1.5e-3


def test_what_is_in_the_way_is_named(client, record, place):
    target, _ = goal_at(place, SHIFT)
    middle = place(list(HOME.values()))[:3, 3] + SHIFT / 2
    applied(client, diff(box('post', 0.04, at=pose(*middle))))
    record.trajectories.clear()
    answer = client.ik(targets=[target], tips=[TIP], execute=True, straight=True)
    assert answer.status != Status.SUCCESS and "'post'" in answer.message, answer.message
    assert 'breaks at' in answer.message and not answer.solution.joint_state.name
    assert not record.trajectories and near(record.still(), {}) < 1e-3


def test_too_far_is_no_solution(client, record, place):
    target, _ = goal_at(place, (1.0, 0.0, 0.0))
    answer = client.ik(targets=[target], tips=[TIP], straight=True)
    assert answer.status == Status.NO_IK_SOLUTION and 'breaks at' in answer.message


@pytest.mark.parametrize('far', [0.03, 0.12, 0.2, 0.3])
def test_a_stop_brakes_wherever_it_comes(client, record, place, far):
    """Joints that go there and back on their way are braked as others are."""
    target, T = goal_at(place, (0.0, 0.45, 0.0))
    since = len(record.states)
    asked = client.ik_later(targets=[target], tips=[TIP], execute=True, straight=True,
                            tip_speed=0.15, max_joint_change=3.0)
    start = place(list(HOME.values()))[:3, 3]
    eventually(lambda: np.linalg.norm(place(record.at())[:3, 3] - start) > far, 'the arm moves')
    assert stop(client).success
    answer = client.wait(asked)
    assert answer.status == Status.PREEMPTED and 'stopped on the way' in answer.message
    rest = place(record.still())[:3, 3] - start
    assert far < rest[1] < far + 0.08
    assert off_the_line(place, record.way(since)[1], T)[0] < 5e-3
    times, positions = record.way(since)
    speeds = np.abs(np.diff(positions, axis=0)) / np.diff(times)[:, None]
    assert speeds.max() < 2.2


def test_a_scene_that_changes_stops_it(client, record, place):
    target, _ = goal_at(place, (0.0, 0.45, 0.0))
    asked = client.ik_later(targets=[target], tips=[TIP], execute=True, straight=True,
                            tip_speed=0.1, max_joint_change=3.0)
    start = place(list(HOME.values()))[:3, 3]
    eventually(lambda: np.linalg.norm(place(record.at())[:3, 3] - start) > 0.05, 'the arm moves')
    applied(client, diff(box('post', 0.04, at=pose(*(start + (0.0, 0.4, 0.0))))))
    answer = client.wait(asked)
    assert answer.status == Status.INVALID_MOTION_PLAN and "'post'" in answer.message
    assert place(record.still())[1, 3] - start[1] < 0.3


def test_costs_and_joints_at_bounds_are_told(client, record, place):
    target, _ = goal_at(place, SHIFT)
    answer = client.ik(targets=[target], tips=[TIP], straight=True, costs=[Function(
        kind='joint_positions')])
    assert answer.status == Status.INVALID_GOAL_CONSTRAINTS and 'costs' in answer.message
    answer = client.ik(targets=[target], tips=[TIP], straight=True, max_joint_change=0.1)
    assert answer.status != Status.SUCCESS and 'max_joint_change' in answer.message


@pytest.mark.parametrize('fields, text', [
    ({'tip_speed': -1.0}, 'tip_speed is -1'), ({'tip_speed': float('nan')}, 'tip_speed is nan'),
    ({'tip_speed': 0.05, 'straight': False}, 'tip_speed is 0.05, but straight is false')])
def test_malformed_requests(client, record, place, fields, text):
    target, _ = goal_at(place, SHIFT)
    answer = client.ik(targets=[target], tips=[TIP], **{'straight': True, **fields})
    assert answer.status == Status.INVALID_GOAL_CONSTRAINTS and text in answer.message


def test_two_targets_are_refused(client, record, place):
    target, _ = goal_at(place, SHIFT)
    answer = client.ik(targets=[target, target], tips=[TIP, 'panda_link4'], straight=True)
    assert answer.status == Status.INVALID_GOAL_CONSTRAINTS
    assert 'straight: 2 targets; valid: one' in answer.message
