"""Which links of a robot are checked against each other."""

from importlib import import_module
import logging

import numpy as np
import pinocchio as pin
import pytest

from ros2_ik.core.robot import Robot, shipped_robots
from ros2_ik.core.scene import cache
from ros2_ik.core.scene.robot_geometry import robot_geometry
from ros2_ik.core.scene.self_pairs import (
    ADJACENT,
    DISABLED,
    links_in_contact,
    RIGID,
    self_pairs,
    TOUCHING,
)

# hidden by their functions
geometry_module = import_module('ros2_ik.core.scene.robot_geometry')
module = import_module('ros2_ik.core.scene.self_pairs')
ROBOTS = ('panda', 'ur5', 'xarm7', 'kinova', 'baxter', 'talos')
BALL = '<collision><geometry><sphere radius="{}"/></geometry></collision>'


@pytest.fixture(autouse=True)
def nothing_known(tmp_path, monkeypatch):
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))
    for known in (module._known, geometry_module._known):
        known.clear()
    cache.forget()


def chain(radii, kinds=None, srdf=None):
    """Make links a, b, c ... 1 m apart, each with a ball (None: nothing) of that radius."""
    names = 'abcdefgh'[:len(radii)]
    links = ''.join(f'<link name="{name}">{BALL.format(radius) if radius else ""}</link>'
                    for name, radius in zip(names, radii, strict=True))
    joints = ''.join(
        f'<joint name="{one}{other}" type="{kind}"><parent link="{one}"/><child link="{other}"/>'
        '<origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint>'
        for one, other, kind in zip(names, names[1:], kinds or ['continuous'] * 9, strict=False))
    return Robot.from_urdf(f'<robot name="chain">{links}{joints}</robot>', srdf=srdf)


def contacts_at_home(name, geometry, pairs, load):
    robot = load(name)
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, robot.to_q(shipped_robots()[name].home))
    touching = links_in_contact(geometry, data, sorted(pairs))
    return [pair for pair, touch in zip(sorted(pairs), touching, strict=True) if touch]


@pytest.mark.parametrize('name', ROBOTS)
def test_shipped_robots_are_free_of_contact_at_home(name, load):
    geometry = robot_geometry(load(name))
    pairs = self_pairs(load(name), geometry)
    assert contacts_at_home(name, geometry, pairs.checked, load) == []
    everything = len(geometry.links) * (len(geometry.links) - 1) // 2
    assert len(pairs.checked) + len(pairs.allowed) == everything
    assert all(a < b for a, b in [*pairs.checked, *pairs.allowed])


@pytest.mark.parametrize('name', ['panda', 'ur5', 'baxter'])
def test_srdf_pairs_are_not_checked(name, load):
    robot = load(name)
    pairs = self_pairs(robot)
    assert not pairs.checked & robot.disabled_pairs
    assert set(pairs.allowed.values()) == {RIGID, DISABLED}
    for (first, second), reason in pairs.allowed.items():
        if reason == RIGID:
            assert not robot.moving_joints(first, second)
        else:
            assert (first, second) in robot.disabled_pairs


def test_only_links_with_geometry_count():
    pairs = self_pairs(chain([0.1, None, 0.1, None, 0.1]))
    assert pairs.allowed == {('a', 'c'): ADJACENT, ('c', 'e'): ADJACENT}
    assert pairs.checked == {('a', 'e')}


def test_rigid_links_are_never_checked():
    pairs = self_pairs(chain([0.1] * 4, ['fixed', 'continuous', 'fixed']))
    assert pairs.allowed == {('a', 'b'): RIGID, ('c', 'd'): RIGID, ('b', 'c'): ADJACENT}
    assert pairs.checked == {('a', 'c'), ('a', 'd'), ('b', 'd')}


def test_links_that_always_touch_are_found_without_an_srdf(caplog):
    robot = chain([0.5, 0.1, 1.6, 0.1], ['continuous', 'continuous', 'continuous'])
    with caplog.at_level(logging.INFO, 'ros2_ik'):
        pairs = self_pairs(robot)
    assert pairs.allowed[('a', 'c')] == TOUCHING    # 2 m at most; 2.1 m are covered
    assert ('a', 'd') in pairs.checked and 'a - c' in caplog.text
    assert "robot 'chain': 2 pairs" in caplog.text


def test_an_srdf_that_disables_pairs_is_believed():
    srdf = ('<robot name="chain"><disable_collisions link1="c" link2="b" reason="Adjacent"/>'
            '</robot>')
    pairs = self_pairs(chain([0.5, 0.1, 1.6, 0.1], srdf=srdf))
    assert pairs.allowed == {('b', 'c'): DISABLED}
    assert ('a', 'c') in pairs.checked and ('a', 'b') in pairs.checked


def test_samples_are_drawn_once_and_kept(monkeypatch):
    robot, calls = chain([0.5, 0.1, 1.6, 0.1]), []
    shares = module._contact_shares
    monkeypatch.setattr(module, '_contact_shares', lambda *a: (calls.append(a), shares(*a))[1])
    first = self_pairs(robot)
    assert self_pairs(robot) is first
    module._known.clear()
    cache.forget()
    assert self_pairs(robot) == first and len(calls) == 1
    monkeypatch.setenv('XDG_CACHE_HOME', '/dev/null')
    module._known.clear()
    cache.forget()
    assert self_pairs(robot) == first and len(calls) == 2


def test_contacts_are_between_bodies_in_place():
    robot = chain([0.3, 0.1, 0.3])
    data, geometry = robot.model.createData(), robot_geometry(robot)
    for angle, touch in ((0.0, False), (np.pi, True), (np.pi - 0.5, True), (np.pi - 0.7, False)):
        pin.forwardKinematics(robot.model, data, np.array([angle, 0.4]))
        assert links_in_contact(geometry, data, [('a', 'c')]).tolist() == [touch]   # 2 cos(x/2)


def test_a_robot_without_geometry_has_no_pairs():
    pairs = self_pairs(chain([None, None]))
    assert pairs.checked == frozenset() and pairs.allowed == {}
