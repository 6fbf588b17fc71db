"""compute_ik with `execute`: the arm goes to the solution, and nothing moves unless asked."""

from arm_harness import ARM, execute, FAST, HOME, Recorder, TRAJECTORIES
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Vector3
from node_harness import eventually, seed, values
import numpy as np
import pytest
from scene_harness import applied, box, change, diff, pose

from ros2_ik.msg import (
    Bounds,
    CollisionObject,
    IKConstraints,
    IKCosts,
    JointPositions,
    PointToPlane,
    Status,
)

ROOT, HAND = 'panda_link0', 'panda_hand'


def height(lower, upper):
    return IKConstraints(point_to_plane=[PointToPlane(
        frame=HAND, normal=Vector3(z=1.0), bounds=Bounds(lower=[lower], upper=[upper]))])


NEAR = {'costs': IKCosts(joint_positions=[JointPositions(
    names=list(ARM), reference=[HOME[name] for name in ARM], bounds=Bounds(weight=[0.1]))]),
    'timeout': Duration(sec=10)}


@pytest.fixture(scope='module')
def record(client, mock, start_shared_node):
    """Give a record of the arm, with a node that moves it."""
    start_shared_node(**TRAJECTORIES, **FAST)
    record = Recorder(client)
    record.listen()
    eventually(lambda: execute(client, HOME).status == Status.SUCCESS, 'the arm at home', 60.0)
    yield record
    record.close()


def test_nothing_moves_unless_asked(client, record):
    before = record.still()
    response = client.ik(constraints=height(0.3, 0.4), **NEAR)
    assert response.status == Status.SUCCESS and response.motion_seconds == 0
    assert np.abs(record.still() - before).max() < 1e-6


@pytest.mark.parametrize('band', [(0.3, 0.4), (0.6, 0.7)])
def test_goes_to_the_solution(client, record, panda_judge, band):
    response = client.ik(constraints=height(*band), execute=True, **NEAR)
    assert response.status == Status.SUCCESS, response.message
    assert response.motion_seconds > 0 and 'arrived' in response.message
    there = dict(zip(ARM, record.still(), strict=True))
    solution = values(response.solution)
    assert max(abs(there[name] - solution[name]) for name in ARM) < 1e-3
    z = panda_judge.transform(there, HAND, ROOT)[2, 3]
    assert band[0] - 2e-3 <= z <= band[1] + 2e-3


def test_no_solution_no_motion(client, record):
    before = record.still()
    response = client.ik(constraints=height(5.0, 6.0), execute=True,
                         timeout=Duration(nanosec=200_000_000))
    assert response.status not in (Status.SUCCESS, Status.FAILURE), response.message
    assert response.motion_seconds == 0 and np.abs(record.still() - before).max() < 1e-6


def test_what_is_in_the_way_is_named(client, record):
    """The solution is free, the straight way to it leads through a pillar."""
    def turned(to):
        reference = [to, *(HOME[name] for name in ARM[1:])]
        return IKConstraints(joint_positions=[JointPositions(
            names=list(ARM), reference=reference, bounds=Bounds(target=[0.0]))])
    assert client.ik(constraints=turned(1.2), execute=True).status == Status.SUCCESS
    before = record.still()
    applied(client, diff(box('pillar', 0.2, at=pose(0.38, 0.0, 0.5))))
    response = client.ik(constraints=turned(-1.2), execute=True)
    assert response.status not in (Status.SUCCESS, Status.FAILURE), response.message
    names = {name for c in response.contacts for name in (c.contact_body_1, c.contact_body_2)}
    assert 'pillar' in names and "'pillar'" in response.message
    assert values(response.solution)['panda_joint1'] == pytest.approx(-1.2, abs=1e-5)
    assert response.motion_seconds == 0 and np.abs(record.still() - before).max() < 1e-6
    applied(client, diff(change('pillar', CollisionObject.REMOVE)))
    assert client.ik(constraints=turned(-1.2), execute=True).status == Status.SUCCESS


def test_a_seed_that_is_not_true_is_refused(client, record):
    """A solution for a hand that is elsewhere is none for this one."""
    response = client.ik(constraints=height(0.3, 0.4), execute=True, group='arm',
                         seed=seed({'panda_finger_joint1': 0.035}))
    assert response.status == Status.INVALID_ROBOT_STATE, response.message
    assert "execute: the seed has joint 'panda_finger_joint1' at 0.035" in response.message
