"""~/execute, and the field `execute` of ~/compute_ik and the action: motions and refusals."""

from action_msgs.msg import GoalStatus
from arm_harness import ARM, distance, execute, HOME
from builtin_interfaces.msg import Duration
from moveit_msgs.msg import CollisionObject
from node_harness import eventually, robot_state, stamped, values
import numpy as np
import pytest
from scene_harness import applied, attached, box, change, diff, pose, state_holding

from ros2_ik.messages.constraints import function_message as function
from ros2_ik.msg import Bounds, Status

ROOT, HAND = 'panda_link0', 'panda_hand'
ASIDE = {'panda_joint1': 0.6, 'panda_joint4': -2.0}


def test_execute_sends_one_trajectory_straight_in_joint_space(client, record):
    """joint_trajectory_controller requires all joints, increasing times and rest at the end."""
    # trajectories arrive once the node's publisher has found the subscription of the record
    eventually(lambda: execute(client, ASIDE) and execute(client, HOME) and record.trajectories,
               'a trajectory')
    record.wait_for_rest()
    record.trajectories.clear()
    since = len(record)
    answer = execute(client, ASIDE)
    assert answer.status == Status.SUCCESS, answer.message
    assert distance(record.read(), ASIDE) < 1e-3
    assert 0.5 < answer.motion_seconds < answer.seconds and not answer.contacts
    assert 'arrived' in answer.message
    positions = record.motion(since).positions
    progress = (positions[:, 0] - 0.0) / 0.6     # straight line: equal for all joints
    assert np.abs(positions[:, 3] - (HOME['panda_joint4'] + progress * 0.35619)).max() < 2e-3
    assert np.abs(positions[:, [1, 2, 4, 5, 6]] - positions[0, [1, 2, 4, 5, 6]]).max() < 1e-4
    message, = record.trajectories
    assert tuple(message.joint_names) == ARM
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (0, 0)
    times = np.array([p.time_from_start.sec + p.time_from_start.nanosec * 1e-9
                      for p in message.points])
    assert times[0] > 0.005 and (np.diff(times) > 1e-4).all()
    positions, velocities, accelerations = (
        np.array([list(getattr(p, name)) for p in message.points])
        for name in ('positions', 'velocities', 'accelerations'))
    assert distance(positions[-1], ASIDE) < 1e-9 and (velocities[-1] == 0).all()
    assert (np.abs(velocities) <= np.array([2.175] * 4 + [2.61] * 3) + 1e-9).all()
    assert (np.abs(accelerations) <= 3 + 1e-9).all()
    assert np.abs(np.diff(np.vstack([list(HOME.values()), positions]), axis=0)).max() < 0.1


def test_goal_of_a_joint_without_controller_is_refused(client, record):
    finger = record.read_all()['panda_finger_joint1']
    assert execute(client, {**ASIDE, 'panda_finger_joint1': finger}).status == Status.SUCCESS
    answer = execute(client, {**HOME, 'panda_finger_joint1': finger + 0.02})
    assert answer.status == Status.CONTROL_FAILED
    assert "no controller moves joint 'panda_finger_joint1'" in answer.message
    assert distance(record.wait_for_rest(), ASIDE) < 1e-3


MALFORMED_GOALS = [     # joints, fields, status, part of the message
    ({}, {}, Status.INVALID_GOAL_CONSTRAINTS, 'names no joint; valid: panda_joint1, '),
    ({'panda_joint9': 0.0}, {}, Status.INVALID_ROBOT_STATE, "'panda_joint9'"),
    ({'panda_joint1': float('nan')}, {}, Status.INVALID_ROBOT_STATE,
     "joint 'panda_joint1' is at nan; valid: a finite number"),
    ({'panda_joint1': 3.0}, {}, Status.INVALID_GOAL_CONSTRAINTS, 'outside its limits'),
    ({'panda_finger_joint2': 0.01}, {}, Status.INVALID_GOAL_CONSTRAINTS,
     'panda_finger_joint2 only mimic other joints; valid: panda_finger_joint1'),
    (ASIDE, {'group': 'hand'}, Status.INVALID_GOAL_CONSTRAINTS, "not in group 'hand'"),
    (ASIDE, {'group': 'leg'}, Status.INVALID_GROUP_NAME, "unknown group 'leg'"),
    (ASIDE, {'velocity_scaling': 1.5}, Status.INVALID_GOAL_CONSTRAINTS,
     'velocity_scaling is 1.5; valid: 0.001 to 1, or 0'),
    ({'panda_joint1': 2.0}, {'velocity_scaling': 0.001}, Status.INVALID_GOAL_CONSTRAINTS,
     'maximum: 600 s'),
    (ASIDE, {'max_joint_change': 0.5}, Status.INVALID_GOAL_CONSTRAINTS,
     "joint 'panda_joint1' would move by 0.6; max_joint_change allows 0.5"),
    (ASIDE, {'max_joint_change': float('nan')}, Status.INVALID_GOAL_CONSTRAINTS,
     'max_joint_change is nan')]


def test_malformed_goals_are_refused_without_motion(client, record):
    record.trajectories.clear()
    for joints, fields, status, text in MALFORMED_GOALS:
        answer = execute(client, joints, **fields)
        assert answer.status == status and text in answer.message, answer.message
        assert answer.motion_seconds == 0
    assert distance(record.wait_for_rest(), {}) < 1e-3 and not record.trajectories


POST = box('post', 0.12, at=pose(0.29, 0.17, 0.55))      # beside the hand


def test_motion_with_obstacle_on_path_at_goal_or_at_start_is_refused(client, record):
    applied(client, diff(POST))
    record.trajectories.clear()
    answer = execute(client, {'panda_joint1': 1.5})
    assert answer.status == Status.INVALID_MOTION_PLAN, answer.message
    assert 'blocked' in answer.message and "'post'" in answer.message
    assert 'panda_joint1' in answer.message
    pairs = {frozenset((c.contact_body_1, c.contact_body_2)) for c in answer.contacts}
    assert any('post' in pair for pair in pairs) and not record.trajectories
    answer = execute(client, {'panda_joint1': 0.45})
    assert answer.status == Status.GOAL_IN_COLLISION and 'post' in answer.message
    applied(client, diff(box('post', 0.12, at=pose(0.307, 0.0, 0.55))))
    answer = execute(client, {'panda_joint1': -1.0})
    assert answer.status == Status.START_STATE_IN_COLLISION and 'post' in answer.message
    assert distance(record.wait_for_rest(), {}) < 1e-3
    free = execute(client, {'panda_joint1': 1.5}, avoid_collisions=False)
    assert 'the path was not checked for collisions' in free.message
    assert free.status == Status.SUCCESS, free.message


def test_attached_object_is_included_in_the_collision_check_of_a_motion(client, record):
    """A stick hits an obstacle that the hand misses; a goal with attached objects is refused."""
    applied(client, diff(box('wall', 0.1, at=pose(0.2, 0.45, 0.5))))
    goal = {'panda_joint1': 2.3}
    touch_links = 'panda_leftfinger', 'panda_rightfinger', 'panda_link7', 'panda_link8'
    assert execute(client, goal).status == Status.SUCCESS
    assert execute(client, HOME).status == Status.SUCCESS
    stick = attached(box('stick', 0.3, at=pose(0, 0, 0.27), frame='panda_hand'), touch=touch_links)
    answer = execute(client, {}, goal=state_holding(stick, at=goal))
    assert answer.status == Status.INVALID_GOAL_CONSTRAINTS
    assert 'apply_planning_scene' in answer.message
    applied(client, diff(holding=[stick]))
    answer = execute(client, goal)
    applied(client, diff(holding=[attached(change('', CollisionObject.REMOVE), '')]))
    assert answer.status == Status.INVALID_MOTION_PLAN, answer.message
    assert "'stick'" in answer.message and "'wall'" in answer.message


def test_motion_is_logged_with_its_controller_and_status(client, record, node):
    answer = execute(client, {'panda_joint1': 0.9}, group='arm', velocity_scaling=0.15)
    assert answer.status == Status.SUCCESS, answer.message
    assert 'the scene is empty' in node.text and 'scene:=floor' in node.text     # logged at start
    line = [line for line in node.text.splitlines() if 'motion by service execute' in line][-1]
    assert 'with arm_controller' in line and 'SUCCESS: arrived after' in line


# -- compute_ik and the action ---------------------------------------------------------------

def height(lower, upper):
    return [function('point_to_plane',
        frame=HAND, normal=[0, 0, 1.0], bounds=Bounds(lower=[lower], upper=[upper]))]


NEAR_HOME = {'costs': [function('joint_positions',
    names=list(ARM), reference=[HOME[name] for name in ARM], bounds=Bounds(weight=[0.1]))],
    'timeout': Duration(sec=10)}


@pytest.mark.parametrize(('action', 'band'), [(False, (0.3, 0.4)), (True, (0.7, 0.8))])
def test_execute_field_moves_the_arm_to_the_solution(client, record, panda_fk, action, band):
    fields = {'constraints': height(*band), 'execute': True, **NEAR_HOME}
    if action:
        assert client.set('velocity_scaling', 0.05).successful
        goal = client.goal(**fields)
        state, response = goal.result(60)
        assert client.set('velocity_scaling', 1.0).successful
        assert state == GoalStatus.STATUS_SUCCEEDED
        assert any(feedback.phase == 'moving' for feedback in goal.feedback)
        elapsed = [feedback.seconds for feedback in goal.feedback]
        assert elapsed == sorted(elapsed) and elapsed[-1] > response.motion_seconds / 2
    else:
        response = client.ik(**fields)
    assert response.status == Status.SUCCESS, response.message
    assert response.motion_seconds > 0 and 'arrived' in response.message
    joints = dict(zip(ARM, record.wait_for_rest(), strict=True))
    solution = values(response.solution)
    assert max(abs(joints[name] - solution[name]) for name in ARM) < 1e-3
    z = panda_fk.transform(joints, HAND, ROOT)[2, 3]
    assert band[0] - 2e-3 <= z <= band[1] + 2e-3


def test_motion_is_refused_if_the_tip_is_detached_during_the_search(client, record):
    """With select='nearest' the search lasts until the timeout, so the scene can change."""
    peg = box('peg', 0.01, at=pose(0, 0, 0.12), frame=HAND, subframe_names=['tip'],
              subframe_poses=[pose(0, 0, 0.04)])
    applied(client, diff(holding=[attached(peg, HAND, ['panda_leftfinger', 'panda_rightfinger'])]))
    target, = client.fk(links=['peg/tip']).poses
    target.pose.position.z -= 0.05
    future = client.ik_async(targets=[target], tips=['peg/tip'], execute=True, select='nearest',
                             timeout=Duration(sec=2))
    client.fk()     # its response shows that the search has begun
    applied(client, diff(holding=[attached(change('peg', CollisionObject.REMOVE), '')]))
    assert not future.done()
    answer = client.wait(future)
    assert answer.status == Status.INVALID_MOTION_PLAN and answer.motion_seconds == 0
    assert "nothing was moved: frame 'peg/tip' was moved or removed" in answer.message
    assert distance(record.wait_for_rest(), {}) < 1e-3


def first_joint_at(position):
    """Return constraints: the arm at HOME with its first joint at a position [rad]."""
    reference = [position, *(HOME[name] for name in ARM[1:])]
    return [function('joint_positions',
        names=list(ARM), reference=reference, bounds=Bounds(target=[0.0]))]


def test_large_joint_change_needs_max_joint_change(client, record, panda_fk):
    """By default, the parameter max_jump limits the change of each joint to 1 rad."""
    before = record.wait_for_rest()
    target = stamped(panda_fk.transform({**HOME, 'panda_joint1': 2.4}, HAND, ROOT), ROOT)
    arm = {'targets': [target], 'tips': [HAND], 'group': 'arm', 'timeout': Duration(sec=1)}
    response = client.ik(execute=True, **arm, joint_change_names=['panda_joint1'],
                         joint_changes=[0.1], max_joint_change=0.9)
    assert response.status == Status.NO_IK_SOLUTION, response.message
    assert 'panda_joint1: 0.1' in response.message
    assert 'a larger max_joint_change may allow one' in response.message
    attempt = values(response.best_attempt)
    assert abs(attempt['panda_joint1'] - before[0]) <= 0.1 + 1e-6
    response = client.ik(constraints=first_joint_at(1.2), execute=True)
    assert response.status == Status.GOAL_CONSTRAINTS_VIOLATED
    assert "'panda_joint1'" in response.message and 'parameter max_jump' in response.message
    assert response.motion_seconds == 0 and np.abs(record.wait_for_rest() - before).max() < 1e-6
    response = client.ik(**arm)     # no limit without a motion
    assert response.status == Status.SUCCESS
    assert 'largest joint change ' in response.message
    response = client.ik(execute=True, **arm, max_joint_change=9.0)
    assert response.status == Status.SUCCESS and 'arrived' in response.message, response.message


def test_joint_change_is_measured_from_the_current_joint_states(client, record):
    """The search is limited relative to the seed, the motion relative to the current state."""
    response = client.ik(constraints=first_joint_at(0.9), execute=True, max_joint_change=0.5,
                         seed=robot_state({'panda_joint1': 0.8}))
    assert response.status == Status.INVALID_GOAL_CONSTRAINTS, response.message
    assert ("joint 'panda_joint1' would move by 0.9; max_joint_change allows 0.5"
            in response.message)
    assert distance(record.wait_for_rest(), {}) < 1e-3
    assert execute(client, {**HOME, 'panda_joint1': 1.5}).status == Status.SUCCESS
    before = record.wait_for_rest()
    fields = {'execute': True, 'seed': robot_state(HOME), 'group': 'arm'}
    response = client.ik(constraints=first_joint_at(0.3), **fields)
    assert response.status == Status.INVALID_GOAL_CONSTRAINTS, response.message
    assert "joint 'panda_joint1' would move by 1.2" in response.message
    response = client.ik(constraints=first_joint_at(1.2), **fields)
    assert response.status == Status.GOAL_CONSTRAINTS_VIOLATED, response.message
    assert 'parameter max_jump; max_joint_change in the request' in response.message
    assert np.abs(record.wait_for_rest() - before).max() < 1e-6
    response = client.ik(constraints=first_joint_at(0.9), **fields)
    assert response.status == Status.SUCCESS and 'arrived' in response.message, response.message


def test_seed_that_contradicts_joint_states_is_refused(client, record):
    """With the measured finger positions, the solution could collide."""
    response = client.ik(constraints=height(0.3, 0.4), execute=True, group='arm',
                         seed=robot_state({'panda_finger_joint1': 0.035}))
    assert response.status == Status.INVALID_ROBOT_STATE, response.message
    assert "joint 'panda_finger_joint1' is at 0." in response.message
    assert 'but the solution holds for 0.035' in response.message
