"""Pairs of links that are checked for self-collision."""

import pytest

from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.collision.self_pairs import (
    ADJACENT,
    DISABLED,
    NEUTRAL,
    RIGID,
    self_pairs,
    TOUCHING,
)
from ros2_ik.core.robot import Robot
from ros2_ik.core.scene import Scene

LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/><axis'
BALL = '<collision><geometry><sphere radius="{}"/></geometry></collision>'


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path))


def chain(radii, kinds=None, srdf=None):
    """Return links a, b, c ... 1 m apart, each with a sphere of a radius, or None."""
    names = 'abcdefgh'[:len(radii)]
    links = ''.join(f'<link name="{name}">{BALL.format(radius) if radius else ""}</link>'
                    for name, radius in zip(names, radii, strict=True))
    joints = ''.join(
        f'<joint name="{one}{other}" type="{kind}"><parent link="{one}"/><child link="{other}"/>'
        '<origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint>'
        for one, other, kind in zip(names, names[1:], kinds or ['continuous'] * 9, strict=False))
    return Robot.from_urdf(f'<robot name="chain">{links}{joints}</robot>', srdf=srdf)


@pytest.mark.parametrize('name', ['panda', 'ur5', 'baxter'])
def test_pairs_disabled_by_the_srdf_are_not_checked(name, load):
    robot = load(name)
    pairs = self_pairs(robot)
    assert not pairs.checked & robot.disabled_pairs
    assert set(pairs.allowed.values()) == {RIGID, DISABLED}
    for (first, second), reason in pairs.allowed.items():
        if reason == RIGID:
            assert not robot.moving_joints(first, second)
        else:
            assert (first, second) in robot.disabled_pairs


@pytest.mark.parametrize('kinds, adjacent', [
    (['continuous', 'fixed'], True), (['fixed', 'prismatic'], True),
    (['continuous', 'revolute'], False), (['floating', 'fixed'], False)])
def test_links_are_adjacent_across_one_moving_joint(kinds, adjacent):
    text = chain([0.1, None, 0.1], kinds).urdf.replace('<axis', LIMIT)
    pairs = self_pairs(Robot.from_urdf(text))
    assert pairs.allowed == ({('a', 'c'): ADJACENT} if adjacent else {})


def test_links_always_in_contact_are_ignored_without_an_srdf():
    pairs = self_pairs(chain([0.5, 0.1, 1.6, 0.1], ['continuous', 'continuous', 'continuous']))
    assert pairs.allowed[('a', 'c')] == TOUCHING    # at most 2 m apart; the radii sum to 2.1 m
    assert ('a', 'd') in pairs.checked
    assert 'collisions: 1 pair of links' in pairs.report() and 'a - c' in pairs.report()


def test_links_always_in_contact_are_ignored_unless_the_srdf_enables_them():
    """Official SRDFs omit some of these pairs; if checked, no configuration would be free."""
    srdf = '<robot name="chain"><disable_collisions link1="c" link2="b"/>{}</robot>'
    pairs = self_pairs(chain([0.5, 0.1, 1.6, 0.1], srdf=srdf.format('')))
    assert pairs.allowed == {('b', 'c'): DISABLED, ('a', 'c'): TOUCHING, ('c', 'd'): TOUCHING}
    enabled = srdf.format('<enable_collisions link1="d" link2="c"/>')
    assert ('c', 'd') in self_pairs(chain([0.5, 0.1, 1.6, 0.1], srdf=enabled)).checked
    assert ('a', 'b') in pairs.checked
    assert 'a - c' in pairs.report() and 'c - d' in pairs.report()


def fingers(gap, lower=0.0, srdf=None):
    """Return a gripper of two spheres of 5 cm, closed at `gap` [m]; negative: overlap."""
    def side(name, sign):
        return (f'<link name="{name}">{BALL.format(0.05)}</link><joint name="{name}_slide" '
                f'type="prismatic"><parent link="palm"/><child link="{name}"/>'
                f'<origin xyz="{sign * (0.05 + gap / 2)} 0 0"/><axis xyz="{sign} 0 0"/>'
                f'<limit lower="{lower}" upper="0.04" effort="1" velocity="1"/></joint>')
    return Robot.from_urdf(f'<robot name="gripper"><link name="palm"/>{side("left", -1)}'
                           f'{side("right", 1)}</robot>', srdf=srdf)


def test_fingers_in_slight_contact_when_closed_are_ignored():
    pairs = self_pairs(fingers(-4e-5))
    assert pairs.allowed == pairs.guessed == {('left', 'right'): NEUTRAL}
    for word in ('unchecked', 'SRDF', 'neutral', 'left - right'):
        assert word in pairs.report()


OTHER_PAIR_SRDF = ('<robot name="gripper"><disable_collisions link1="palm" link2="left" '
                   'reason="Never"/></robot>')


@pytest.mark.parametrize('robot', [fingers(-5e-3), fingers(-4e-5, lower=-0.02),
                                   fingers(-4e-5, srdf=OTHER_PAIR_SRDF)],
                         ids=['deep at neutral', 'deeper elsewhere', 'with SRDF'])
def test_pair_in_contact_is_checked_if_deep_or_left_enabled_by_an_srdf(robot):
    """Pairs are guessed only if no contact exceeds 1 mm and no SRDF disables pairs."""
    pairs = self_pairs(robot)
    assert pairs.checked == {('left', 'right')} and not pairs.guessed and not pairs.report()


def test_guessed_pairs_are_checked_with_guess_pairs_off():
    robot = fingers(-4e-5)
    for guess in (True, False):
        scene = Scene(robot, guess_pairs=guess)
        assert CollisionChecker(robot, scene).collides(robot.neutral) is not guess


@pytest.mark.parametrize('name, guessed', [
    ('panda', {('panda_leftfinger', 'panda_rightfinger')}), ('ur5', set()), ('xarm7', set())])
def test_pairs_ignored_without_srdf_are_disabled_in_the_shipped_srdf(name, guessed, load):
    shipped = load(name)
    robot = Robot.from_urdf(shipped.urdf, shipped.package_dirs)
    pairs = self_pairs(robot)
    assert set(pairs.guessed) == guessed <= shipped.disabled_pairs
    assert not {pair for pair, reason in pairs.allowed.items()
                if reason == ADJACENT} - shipped.disabled_pairs
