"""MoveIt's allowed collision matrix: who wins, what is read, what is refused."""

import itertools
import pickle

from hypothesis import given, strategies as st
import pytest
from small_robots import TWO_ARMS

from ros2_ik.core import Robot
from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.scene import AllowedCollisions

NAMES = ['a', 'b', 'c', 'd']
flags = st.dictionaries(st.sampled_from(NAMES), st.booleans())
entries = st.dictionaries(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES))
                          .map(sorted).map(tuple), st.booleans())


@pytest.mark.parametrize('pairs', [{'ab': True}, {('a', 'b', 'c'): True}, {('a', ''): True},
                                   {('a', 'b'): None}, {('a', 'b'): True, ('b', 'a'): False},
                                   [('a', 'b')]])
def test_bad_pairs(pairs):
    with pytest.raises(InvalidSceneError):
        AllowedCollisions(pairs)


@pytest.mark.parametrize('defaults', [{'': True}, {5: True}, {'a': None}, ['a']])
def test_bad_defaults(defaults):
    with pytest.raises(InvalidSceneError):
        AllowedCollisions(defaults=defaults)


def test_a_change_leaves_the_old_one_alone():
    old = AllowedCollisions({('b', 'a'): True}, {'c': True})
    new = old.with_entry('c', 'a', False).with_entry('b', None).with_entry('c', None, False)
    assert (dict(old.pairs), dict(old.defaults)) == ({('a', 'b'): True}, {'c': True})
    assert dict(new.pairs) == {('a', 'b'): True, ('a', 'c'): False}
    assert dict(new.defaults) == {'b': True, 'c': False}


def test_without_drops_pairs_and_the_default():
    matrix = AllowedCollisions({('a', 'b'): True, ('b', 'c'): True}, {'a': True, 'c': True})
    assert matrix.without('a') == AllowedCollisions({('b', 'c'): True}, {'c': True})
    assert matrix.without('nobody') is matrix


def test_of_a_robot():
    srdf = ('<robot name="small"><disable_collisions link1="chest" link2="base"/>'
            '<disable_collisions link1="left_a" link2="left_b" reason="Adjacent"/></robot>')
    matrix = AllowedCollisions.of_robot(Robot.from_urdf(TWO_ARMS, srdf=srdf))
    assert matrix.allowed('base', 'chest') and matrix.allowed('left_b', 'left_a')
    assert not matrix.allowed('left_a', 'chest')
    assert len(matrix.pairs) == 2


@given(entries, flags)
def test_compares_and_travels(pairs, defaults):
    matrix = AllowedCollisions(pairs, defaults)
    for other in (pickle.loads(pickle.dumps(matrix)), AllowedCollisions(pairs, defaults)):
        assert other == matrix
    assert matrix.with_entry('a', 'z') != matrix
    assert matrix != pairs


@given(entries, flags)
def test_allowed_is_the_rule_written_out(pairs, defaults):
    matrix = AllowedCollisions(pairs, defaults)
    for first, second in itertools.product(NAMES, NAMES):
        pair = tuple(sorted((first, second)))
        if pair in pairs:
            wanted = pairs[pair]
        elif first in defaults and second in defaults:
            wanted = defaults[first] and defaults[second]
        else:
            wanted = defaults.get(first, defaults.get(second, False))
        assert matrix.allowed(first, second) is wanted
