"""Parameters: wrong ones are refused with the reason, changed ones take effect."""

import subprocess

from ament_index_python.packages import get_package_prefix
from node_harness import eventually, reachable, unreachable
import pytest
from rcl_interfaces.srv import DescribeParameters, ListParameters

from ros2_ik.msg import Status
from ros2_ik.node.parameters import PARAMETERS

TIP = 'panda_hand_tcp'

WRONG_AT_START = {
    'text for a number': ('max_timeout:=abc', 'max_timeout'),
    'two that exclude each other': ('default_timeout:=20.0', 'above max_timeout'),
    'broken robot': ('robot_description:=hello', 'no XML'),
    'choice that there is not': ('root_joint:=floating', 'fixed, planar, freeflyer'),
}


@pytest.mark.parametrize('name', WRONG_AT_START)
def test_wrong_at_start(name):
    argument, words = WRONG_AT_START[name]
    run = subprocess.run(
        [f'{get_package_prefix("ros2_ik")}/lib/ros2_ik/ik_node', '--ros-args', '-p', argument],
        capture_output=True, text=True, timeout=30)
    assert run.returncode == 1
    assert words in run.stderr.splitlines()[-1] and 'Traceback' not in run.stderr


def test_usage():
    run = subprocess.run([f'{get_package_prefix("ros2_ik")}/lib/ros2_ik/ik_node', '--help'],
                         capture_output=True, text=True, timeout=30)
    assert run.returncode == 0 and not run.stderr
    for words in ('usage: ik_node', '--ros-args', 'ros2 param describe', 'ros2_ik --help'):
        assert words in run.stdout


def test_misspelt(start_node):
    limit = 'joint_limits.panda_jont1.max_velocity'    # is taken: the robot may have this joint
    node = start_node(defualt_timeout=1.0, **{limit: 1.0, limit.replace('ity', 'ty'): 1.0})
    eventually(lambda: "did you mean 'default_timeout'?" in node.text
               and f"'{limit.replace('ity', 'ty')}' is ignored" in node.text, 'warnings')
    assert f"did you mean '{limit}'" not in node.text
    assert "did you mean 'joint_limits.<joint>.max_velocity'?" in node.text


def test_defaults_may_come_before_the_robot_that_has_them(start_node, client, panda):
    start_node(default_tip='panda_hnd', default_group='arm')
    client.describe(panda)
    response = client.ik(targets=[reachable(panda, TIP)])
    assert response.status == Status.INVALID_LINK_NAME
    assert 'parameter default_tip' in response.message and 'did you mean' in response.message
    assert client.set('default_tip', 'panda_hand').successful


def test_every_parameter_is_described(client, panda_node):
    names = [spec.name for spec in PARAMETERS]
    listed = client.call(ListParameters, 'ros2_ik/list_parameters', ListParameters.Request())
    assert set(names) <= set(listed.result.names)
    descriptors = client.call(DescribeParameters, 'ros2_ik/describe_parameters',
                              DescribeParameters.Request(names=names)).descriptors
    for spec, descriptor in zip(PARAMETERS, descriptors, strict=True):
        assert descriptor.description and descriptor.read_only == spec.read_only
        ranged = descriptor.floating_point_range or descriptor.integer_range
        assert bool(ranged) == (type(spec.default) in (int, float))


REFUSED = {
    'max_timeout': (-1.0, 'Max: 3600'),
    'default_timeout': (11.0, 'above max_timeout'),
    'workers': (3, 'read-only'),
    'default_solver': ('kdl', 'auto, '),
}


@pytest.mark.parametrize('name', REFUSED)
def test_refused_change(client, panda_node, name):
    value, words = REFUSED[name]
    result = client.set(name, value)
    assert not result.successful and words in result.reason


def test_changes_take_effect(client, panda, panda_node):
    target = reachable(panda, TIP)
    assert client.set('default_timeout', 0.3).successful
    assert client.ik(targets=[unreachable()]).seconds > 0.25
    assert client.set('default_timeout', 5.0).successful
    assert client.set('max_solutions', 1).successful
    assert 'max_solutions allows 1' in client.ik(targets=[target], solutions=2).message
    assert client.set('default_tip', 'panda_link7').successful
    assert client.ik(targets=[reachable(panda, 'panda_link7')]).status == Status.SUCCESS
    assert client.set('default_tip', '').successful
    assert client.set('default_solver', 'clik').successful
    assert client.ik(targets=[target]).solver == 'clik'
    assert client.set('default_solver', 'auto').successful
