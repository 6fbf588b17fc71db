"""What no joint could part is not checked, but named where it touches: judged by python-fcl."""

from itertools import combinations

from fcl_judge import _touch, FclJudge
from judge import pose
import numpy as np
import pytest
from scenes import random_pose, solid

from ros2_ik.core import IKProblem, not_checked, PoseTarget, solve
from ros2_ik.core.robot import Configuration
from ros2_ik.core.scene import (
    Box,
    CollisionChecker,
    HalfSpace,
    Plane,
    Scene,
    SceneObject,
    Sphere,
)

ROBOTS = ('panda', 'ur5', 'baxter', 'kinova')
BASE = '<box size="0.4 0.4 0.2"/>'    # with its lowest face at z = 0


def names(pairs):
    return {frozenset(pair) for pair in pairs}


def judged(judge, joints):
    """Give the pairs on one carrier that touch, but for those that are not asked about."""
    judge.place(joints)
    found = set()
    for pair in combinations(judge.solids, 2):
        links = [name for name in pair if name in judge.links]
        if judge._carrier(pair[0]) != judge._carrier(pair[1]) or len(links) == 2 \
                or all(name in judge.world for name in pair) \
                or all(name in judge.held for name in pair):
            continue
        held = next((judge.held[name] for name in pair if name in judge.held), None)
        if held is not None and any(name == held.link or name in held.touch_links
                                    for name in links):
            continue
        if any(_touch(a, b) for a in judge.solids[pair[0]] for b in judge.solids[pair[1]]):
            found.add(frozenset(pair))
    return found


@pytest.mark.parametrize('name', ROBOTS)
def test_as_fcl(name, load):
    robot, generator, hits = load(name), np.random.default_rng(8), 0
    links = [link for link in FclJudge(robot).links if robot.moving_joints(link)]
    for trial in range(8):
        scene = Scene(robot)
        for i in range(6):
            at = random_pose(generator, (-0.3, -0.3, -0.3), (0.3, 0.3, 0.5))
            scene = scene.add(SceneObject(f'box {i}', [Box(generator.uniform(0.05, 0.3, 3))], at))
        scene = scene.add(SceneObject('flat', [HalfSpace([0.1, 0, 1], -0.1 * (trial % 3))]))
        link = links[generator.integers(len(links))]
        scene = scene.attach(SceneObject('held', [Box(generator.uniform(0.1, 0.3, 3))]), link)
        scene = scene.attach(SceneObject('foot', [Sphere(0.2)], pose((0.2, 0, 0))),
                             robot.root_frame)
        judge = FclJudge(robot).surround(scene)
        found = names(CollisionChecker(robot, scene, 'hull').lasting_contacts)
        wanted = judged(judge, robot.to_joints(robot.random_q(generator)))
        assert found == wanted
        hits += len(wanted)
    assert hits > 10


@pytest.mark.parametrize('shape, lowest, highest', [
    (Box([1, 1, 0.1]), -0.05, 0.25), (HalfSpace([0, 0, 1], 0.0), 0.0, np.inf),
    (Plane([0, 0, 1], 0.0), 0.0, 0.2)], ids=['box', 'half-space', 'plane'])
def test_a_base_in_something(shape, lowest, highest):
    """Closed form: between these heights of it."""
    robot = solid('one_joint', shapes={'base': BASE, 'tip': '<sphere radius="0.01"/>'},
                  xyz=(0, 0, 0.1), rpy=(0, 0, 0))
    for z in (lowest - 0.01, lowest + 0.01, min(highest, 5) - 0.01, highest + 0.01):
        if np.isfinite(z):
            scene = Scene(robot).add(SceneObject('table', [shape], pose((0, 0, z))))
            touches = lowest < z < highest
            checker = CollisionChecker(robot, scene)
            assert checker.lasting_contacts == (('base', 'table'),) * touches, z
            assert any('1 contact that no joint could part not checked: base - table' in sentence
                       for sentence in not_checked(checker)) == touches
            allowed = CollisionChecker(robot, scene.allow('base', 'table'))
            assert allowed.lasting_contacts == ()
    near = Scene(robot).add(SceneObject('table', [shape], pose((0, 0, lowest - 0.01))))
    assert CollisionChecker(robot, near.with_padding({'base': 0.02})).lasting_contacts
    assert not CollisionChecker(robot, near.with_padding({'base': 0.005})).lasting_contacts
    assert CollisionChecker(robot, near.with_scale({'base': 1.2})).lasting_contacts


def test_a_floating_base_can_be_parted():
    robot = solid('one_joint', 'freeflyer', {'base': BASE, 'tip': '<sphere radius="0.01"/>'})
    scene = Scene(robot).add(SceneObject('table', [Box([1, 1, 1])]))
    assert CollisionChecker(robot, scene).lasting_contacts == ()


def test_an_answer_names_it(load):
    robot = load('panda')
    scene = Scene(robot).add(SceneObject('table', [Box([0.3, 0.3, 0.2])]))
    q = robot.neutral
    solution = solve(IKProblem(
        robot, PoseTarget('panda_hand_tcp', Configuration(robot, q).transform('panda_hand_tcp')),
        start=q, checker=CollisionChecker(robot, scene)))
    assert 'contact that no joint could part not checked: panda_link0 - table' in ' '.join(
        solution.not_checked)
    assert CollisionChecker(robot, scene).only('panda_hand', 'table').lasting_contacts == ()
