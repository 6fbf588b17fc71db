"""AllowedCollisionMatrix messages to the allowed collisions of a scene and back."""

import itertools
from types import SimpleNamespace

from hypothesis import given, strategies as st
import pytest

from ros2_ik.core import AllowedCollisions
from ros2_ik.messages.allowed_collisions import matrix_message, read_matrix
from ros2_ik.messages.request_error import RequestError

NAMES = ['a', 'b', 'c', 'd']
flags = st.dictionaries(st.sampled_from(NAMES), st.booleans())
entries = st.dictionaries(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES))
                          .map(sorted).map(tuple), st.booleans())


def message(names, rows, default_names=(), default_values=()):
    return SimpleNamespace(entry_names=names, default_entry_names=default_names,
                           entry_values=[SimpleNamespace(enabled=row) for row in rows],
                           default_entry_values=default_values)


def test_only_what_is_above_the_diagonal_is_read():
    matrix = read_matrix(message(['b', 'a'], [[True, True], [False, True]]))
    assert matrix.allowed('a', 'b')
    assert not matrix.allowed('a', 'a')
    assert not read_matrix(message(['b', 'a'], [[True, False], [True, True]])).allowed('a', 'b')


def test_what_a_matrix_does_not_allow_wins_over_a_default():
    matrix = read_matrix(message(['a', 'b'], [[False, False], [False, False]], ['a'], [True]))
    assert not matrix.allowed('a', 'b')
    assert matrix.allowed('a', 'c')


def test_an_empty_matrix_allows_nothing():
    assert read_matrix(message([], [])) == AllowedCollisions()


@pytest.mark.parametrize(('arguments', 'said'), [
    ((['a', 'b'], [[True, True]]), '1 rows for 2 names'),
    ((['a', 'b'], [[True, True], [True]]), "row of 'b' has 1 values for 2 names"),
    ((['a', 'a'], [[True, True]] * 2), "entry_names has 'a' twice"),
    (([], [], ['a'], [True, False]), '2 default values for 1 default names'),
    (([], [], ['a', 'a'], [True, False]), "default_entry_names has 'a' twice"),
])
def test_bad_matrices(arguments, said):
    with pytest.raises(RequestError, match=said):
        read_matrix(message(*arguments))


@given(entries, flags)
def test_the_matrix_of_a_matrix_allows_the_same(pairs, defaults):
    matrix = AllowedCollisions(pairs, defaults)
    again = read_matrix(matrix_message(matrix))
    for first, second in itertools.combinations([*NAMES, 'stranger'], 2):
        assert again.allowed(first, second) == matrix.allowed(first, second)
