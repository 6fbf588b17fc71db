"""Robots nobody would build: random trees of all kinds of joints, mimics and names."""

import random
from xml.etree import ElementTree

from judge import check, numeric_jacobian, TreeJudge
import numpy as np
import pytest
from small_robots import joint, urdf

from ros2_ik.core import Configuration, Robot, RobotDescriptionError, solve_pose

KINDS = ['revolute', 'continuous', 'prismatic', 'fixed', 'planar', 'floating']
SINGLE = ('revolute', 'continuous', 'prismatic')


def random_name(generator, taken):
    """Give a name of its own, of the kind that people and exporters give."""
    while True:
        name = ''.join(generator.choice('abXY_-/.|: 019é') for _ in range(generator.randint(1, 5)))
        if name.strip() == name and name not in taken:
            taken.add(name)
            return name


def random_urdf(generator):
    """Write a random tree; a follower's leader may be anywhere in it."""
    count = generator.randint(1, 12)
    links, joints, taken = [random_name(generator, set())], [], set()
    names = set(links)
    for _ in range(count):
        kind = generator.choices(KINDS, [5, 3, 3, 2, 0.5, 0.5])[0]
        parent = links[-1] if generator.random() < 0.6 else generator.choice(links)
        links.append(random_name(generator, names))
        low = generator.uniform(-2, 0.5)
        joints.append({
            'name': random_name(generator, taken), 'kind': kind, 'parent': parent,
            'child': links[-1], 'xyz': [generator.uniform(-0.5, 0.5) for _ in range(3)],
            'rpy': [generator.uniform(-3, 3) for _ in range(3)],
            'axis': [generator.uniform(-1, 1) for _ in range(3)],
            'limits': (low, low + generator.uniform(0.5, 3)) if generator.random() < 0.7 else None
        })
    for entry in joints:
        leader = generator.choice(joints)
        if entry['kind'] in SINGLE and leader['kind'] in SINGLE and generator.random() < 0.3:
            entry['mimic'] = (leader['name'], generator.choice([1.0, -1.0, 0.5, -2.0]),
                              generator.uniform(-0.5, 0.5))
    generator.shuffle(joints)
    return urdf(*(joint(**entry) for entry in joints), name='random')


def random_robots(count):
    """Give robots and judges of random trees; what is refused must be refused in words."""
    generator = random.Random(1)
    for _ in range(count):
        text = random_urdf(generator)
        root_joint = generator.choice(['fixed', 'fixed', 'planar', 'freeflyer'])
        try:
            robot = Robot.from_urdf(text, root_joint=root_joint)
        except RobotDescriptionError as error:
            assert 'mimic' in str(error), error
            continue
        base = (robot.joint_names[0], robot.root_frame) if root_joint != 'fixed' else ()
        yield robot, TreeJudge(text, root_joint, *([base] if base else []))


def test_kinematics():
    served = 0
    for robot, judge in random_robots(200):
        served += 1
        q = robot.random_q(np.random.default_rng(served))
        at = Configuration(robot, q)
        assert judge.outside(at.joints) == []
        for link in judge.links:
            np.testing.assert_allclose(at.transform(link), judge.transform(at.joints, link),
                                       atol=1e-12)
        for entry in ElementTree.fromstring(robot.urdf).iter('joint'):
            name, child = entry.get('name'), entry.find('child').get('link')
            if name not in judge.links:     # else the link is meant
                np.testing.assert_allclose(at.transform(name), at.transform(child), atol=1e-12)
        frame, other = judge.links[-1], judge.links[len(judge.links) // 2]
        np.testing.assert_allclose(at.transform(frame, other),
                                   judge.transform(at.joints, frame, other), atol=1e-12)
        expected = numeric_jacobian(robot, q, lambda q, r=robot, j=judge, f=frame, o=other:
                                    j.transform(r.to_joints(q), f, o))
        np.testing.assert_allclose(at.jacobian(frame, other), expected.reshape(6, robot.nv),
                                   atol=1e-7)
        moving = {j.name for j in robot.joints
                  if np.abs(expected[:, j.velocity_index:][:, :j.velocity_size]).max() > 1e-6}
        assert moving <= robot.moving_joints(frame, other)
    assert served > 80


def test_solving():
    """A pose that the robot had a moment ago is found again, and what is claimed is true."""
    generator, solved, asked = np.random.default_rng(0), 0, 0
    for robot, judge in random_robots(300):
        tip = judge.links[-1]
        if not robot.moving_joints(tip):
            continue
        asked += 1
        start = robot.random_q(generator)
        goal = Configuration(robot, start).integrate(generator.uniform(-0.05, 0.05, robot.nv))
        goal = np.clip(goal, robot.lower, robot.upper)
        T = judge.transform(robot.to_joints(goal), tip)
        solution = solve_pose(robot, tip, T, start, random_state=0, timeout=60.0,
                              max_iterations=500)
        check(judge, solution, [(tip, T)])
        still = set(robot.joint_names) - robot.moving_joints(tip)
        seed = robot.to_joints(robot.to_q(start))
        assert all(np.array_equal(solution.joints[name], seed[name]) for name in still)
        solved += 1
    assert solved == asked > 100


@pytest.mark.parametrize('name', ['000001|a', '|', '1', 'a/x', 'root_joint', 'a b'])
def test_names_that_might_mean_something_inside(name):
    text = urdf(joint(name, 'continuous', 'base', f'{name}_link', axis=(0, 0, 1)),
                joint('other', 'planar', f'{name}_link', 'tip'))
    for root_joint in ('fixed', 'planar', 'freeflyer'):
        robot = Robot.from_urdf(text, root_joint=root_joint)
        assert robot.joint_names[-2:] == (name, 'other')
        assert {name, f'{name}_link', 'other', 'tip', 'base'} <= set(robot.frame_names)
        assert robot.joint(name).kind == 'continuous'
        at = Configuration(robot, {name: 0.5, 'other': [1, 2, 0.3]})
        expected = TreeJudge(text).transform(at.joints, 'tip')
        np.testing.assert_allclose(at.transform('tip'), expected, atol=1e-12)
        np.testing.assert_allclose(at.transform('other'), expected, atol=1e-12)
