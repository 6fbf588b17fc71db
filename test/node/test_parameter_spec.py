"""What each parameter takes."""

import math

import pytest

from ros2_ik.node.parameters import ParameterError, PARAMETERS

SPECS = {spec.name: spec for spec in PARAMETERS}

WRONG = [
    ('max_timeout', True, 'a number'), ('max_timeout', '5', 'a number'),
    ('max_timeout', '1e-05', 'such as 0.5 or 1.0e-3'),
    ('max_timeout', math.nan, '0.0001 to 3600 s'), ('joint_state_timeout', -1, '0 s or more'),
    ('random_state', 1.5, 'a whole number'), ('workers', 0, '1 to 256'),
    ('default_tip', 5, 'a text'), ('moveit_names', 1, 'truth value'),
    ('default_solver', 'kdl', 'auto, '), ('base_pose', [1.0, 2.0], '7 finite numbers'),
    ('base_pose', [math.nan] * 7, '7 finite numbers'),
]


@pytest.mark.parametrize(('name', 'value', 'words'), WRONG)
def test_wrong(name, value, words):
    with pytest.raises(ParameterError, match=name) as error:
        SPECS[name].parse(value)
    assert words in str(error.value)


@pytest.mark.parametrize('spec', PARAMETERS, ids=lambda spec: spec.name)
def test_default_is_right(spec):
    assert spec.parse(spec.default) == spec.default
    assert spec.descriptor().description


def test_whole_number_for_a_float():
    value = SPECS['max_timeout'].parse(5)
    assert value == 5.0 and isinstance(value, float)
    assert SPECS['base_pose'].parse([0, 0, 0, 0, 0, 0, 1]) == [0.0] * 6 + [1.0]
