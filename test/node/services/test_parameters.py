"""Parameters of the node: descriptions, refused values and effects of changes."""

import math

from arm_harness import execute
from node_harness import reachable, unreachable
import pytest
from rcl_interfaces.srv import DescribeParameters, ListParameters

from ros2_ik.msg import Status
from ros2_ik.node.controllers.robot_controllers import KINDS
from ros2_ik.node.parameters import controller_specs, joint_limit_specs, ParameterError, PARAMETERS

TIP = 'panda_hand_tcp'


def test_every_parameter_is_described(client):
    names = [spec.name for spec in PARAMETERS]
    listed = client.call(ListParameters, 'ros2_ik/list_parameters', ListParameters.Request())
    assert set(names) <= set(listed.result.names)
    descriptors = client.call(DescribeParameters, 'ros2_ik/describe_parameters',
                              DescribeParameters.Request(names=names)).descriptors
    for spec, descriptor in zip(PARAMETERS, descriptors, strict=True):
        assert descriptor.description and descriptor.read_only == spec.read_only
        assert descriptor.additional_constraints


@pytest.mark.parametrize(('name', 'value', 'words'), [
    ('max_timeout', -1.0, '0.0001 to 3600 s'),
    ('default_timeout', 11.0, 'above max_timeout'),
    ('workers', 3, 'read-only'),
    ('use_sim_time', True, 'read-only')])
def test_invalid_parameter_change_is_refused_with_the_reason(client, name, value, words):
    result = client.set(name, value)
    assert not result.successful and words in result.reason


def test_changed_parameter_applies_to_the_next_request(client, panda):
    target = reachable(panda, TIP)
    assert client.set('default_timeout', 0.3).successful
    assert client.ik(targets=[unreachable()]).seconds > 0.25
    assert client.set('default_timeout', 5.0).successful
    assert client.set('max_solutions', 1).successful
    assert 'max_solutions allows 1' in client.ik(targets=[target], solutions=2).message
    assert client.set('default_tip', 'panda_link7').successful
    assert client.ik(targets=[reachable(panda, 'panda_link7')]).status == Status.SUCCESS
    assert client.set('default_tip', '').successful


def test_motion_without_controllers_is_refused(client):
    answer = execute(client, {'panda_joint1': 2.0})
    assert answer.status == Status.CONTROL_FAILED, answer.message
    assert 'parameter controllers is empty' in answer.message
    answer = client.ik(targets=[unreachable()], tips=['panda_hand'], execute=True)
    assert answer.status == Status.CONTROL_FAILED
    assert answer.message == 'execute: nothing moves the robot: parameter controllers is empty'


SPECS = {spec.name: spec for spec in PARAMETERS}


@pytest.mark.parametrize(('name', 'value', 'words'), [
    ('max_timeout', True, 'a number'), ('max_timeout', '5', 'a number'),
    ('max_timeout', '1e-05', 'such as 0.5 or 1.0e-3'),
    ('max_timeout', math.nan, '0.0001 to 3600 s'), ('joint_state_timeout', -1, '0 to 1e+06 s'),
    ('workers', 1.5, 'a whole number'), ('workers', 0, '1 to 256'),
    ('controllers', 'a', 'a list of any number of: a text'),
    ('default_tip', 5, 'a text'), ('moveit_names', 1, 'truth value'),
    ('root_joint', 'floating', 'fixed, planar, freeflyer'),
    ('servo_control_dimensions', [True], 'a list of 6 of: a truth value'),
    ('servo_control_dimensions', [1] * 6, 'a list of 6 of: a truth value')])
def test_malformed_parameter_value_is_refused_by_name(name, value, words):
    with pytest.raises(ParameterError, match=name) as error:
        SPECS[name].parse(value)
    assert words in str(error.value)


def test_integer_is_accepted_for_a_float():
    value = SPECS['max_timeout'].parse(5)
    assert value == 5.0 and isinstance(value, float)


@pytest.mark.parametrize(('names', 'words'), [
    (['two words'], "controllers has 'two words' which is not a name"),
    (['a', 'a'], "controllers has 'a' twice")])
def test_malformed_controller_names_are_refused(names, words):
    with pytest.raises(ParameterError, match=words):
        list(controller_specs(names, ()))


@pytest.mark.parametrize(('spec', 'value', 'words'), [
    (next(controller_specs(['a'], KINDS)), 'telepathy', "a.kind is 'telepathy'; valid: "
     'follow_joint_trajectory, joint_state, joint_trajectory, position'),
    (next(joint_limit_specs(['joint_limits.a.max_velocity'])), -1.0,
     'joint_limits.a.max_velocity is -1')], ids=['kind', 'limit'])
def test_malformed_controller_kind_and_joint_limit_are_refused(spec, value, words):
    with pytest.raises(ParameterError, match=words):
        spec.parse(value)
