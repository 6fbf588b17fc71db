"""All kinds of shapes together, judged pair by pair; see benchmarks/collision_verdicts.py, too."""

from all_shapes import differences
from judge import pose
import numpy as np
import pinocchio as pin
import pytest
from scenes import solid
import trimesh

from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.scene import Box, Mesh, Scene, SceneObject


@pytest.mark.parametrize('name', ['panda', 'ur5', 'baxter'])
def test_as_the_judge_while_scenes_change(name, load):
    counts, wrong = differences(load(name), 3, 8, np.random.default_rng(7))
    assert not wrong and counts['touching'] > 30 and counts['ties'] == 0


@pytest.mark.slow
def test_as_the_judge_in_many_scenes(load):
    counts, wrong = differences(load('ur5'), 60, 15, np.random.default_rng(8))
    assert not wrong and counts['touching'] > 1000


def held(mesh):
    """Give a robot whose tip carries a mesh, and the pose of that in the root frame."""
    robot = solid('one_joint', shapes={'arm': '<sphere radius="0.001"/>'}, xyz=(0, 0, 0))
    scene = Scene(robot).attach(SceneObject('tool', [mesh]), 'tip')
    return robot, scene


def as_mesh(made):
    return Mesh(np.array(made.vertices), np.array(made.faces))


@pytest.mark.parametrize(('offset', 'shown'), [
    ((0, 0, 0), False), ((0.26, 0, 0), True), ((0.29, 0, 0.05), True), ((0.1, 0, 0), False)])
def test_only_what_triangles_show_is_impossible(offset, shown):
    """A ring round a box: its hull holds the box, it does not."""
    robot, scene = held(as_mesh(trimesh.creation.torus(0.3, 0.05, 32, 16)))
    target = pin.SE3(np.eye(3), np.array([1.0, 0, 0]))
    checker = CollisionChecker(robot, scene.add(
        SceneObject('box', [Box([0.06] * 3)], pose(np.array([1.0, 0, 0]) + offset))))
    found = checker.rigid_contacts('tip', target, robot.neutral, robot.joint_names, 1e-3)
    assert [(c.first, c.second) for c in found] == shown * [('box', 'tool')]


def test_what_is_shown_to_touch_still_does_when_it_is_moved():
    """By as much as is said, any way."""
    robot, scene = held(as_mesh(trimesh.creation.torus(0.3, 0.05, 32, 16)))
    generator, seen = np.random.default_rng(0), 0
    for _ in range(40):
        at = generator.uniform(-0.4, 0.4, 3) * [1, 1, 0.3]
        checker = CollisionChecker(robot, scene.add(
            SceneObject('box', [Box([0.06] * 3)], pose(np.array([1.0, 0, 0]) + at))))
        place = pin.SE3(np.eye(3), np.array([1.0, 0, 0]))
        found = checker.rigid_contacts('tip', place, robot.neutral, robot.joint_names, 5e-3)
        for push in generator.normal(size=(20, 3)) if found else ():
            moved = pin.SE3(np.eye(3), place.translation + 4.9e-3 * push / np.linalg.norm(push))
            assert checker.rigid_contacts('tip', moved, robot.neutral, robot.joint_names)
        seen += bool(found)
    assert seen > 2


def test_distances_are_those_of_hulls_until_parts_are_made(tmp_path, monkeypatch):
    """A box in the middle of a ring is inside its hull, and 0.22 m from the ring."""
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    monkeypatch.setattr('ros2_ik.core.collision.distance_check.LOOK_AGAIN', 0.0)
    ring = as_mesh(trimesh.creation.torus(0.3003, 0.05, 20, 14))
    robot, scene = held(ring)
    at = robot.model.createData()
    pin.framesForwardKinematics(robot.model, at, robot.neutral)
    box = SceneObject('box', [Box([0.06] * 3)],
                      pose(at.oMf[robot.model.getFrameId('tip')].translation))
    checker = CollisionChecker(robot, scene.add(box)).only('box', 'tool')
    assert not checker.collides(robot.neutral)
    assert checker.distances(robot.neutral).distance[0] < -0.05
    assert checker.distances_are_coarse
    ring.make_parts()
    fine = checker.distances(robot.neutral, np.inf)
    assert not checker.distances_are_coarse
    assert 0.1 < fine.distance[0] < 0.23 and len(fine.distance) > 4
