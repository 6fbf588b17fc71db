"""
Hashes of the copies of MoveIt's types in interfaces/ and of their full packages.

DDS does not match types of one name with different hashes; a hash covers the types of the
fields. The hashes are those of all files of moveit_msgs 2.6.0, of octomap_msgs and
object_recognition_msgs (branches ros2), and of control_msgs 6.8.0, by
rosidl_adapter and rosidl_generator_type_description of ROS Jazzy.
"""

from importlib import import_module

import pytest
import rclpy
from rclpy.context import Context

HASHES = {
    'control_msgs/msg/JointJog':
        'ba249455a20f70168a1acb7bf43b776b72ff1f7eb5fc4cfea443f749e963c6e7',
    'control_msgs/msg/JointTrajectoryControllerState':
        '51d8dd89cc624cbe9daaeeb4d80d6de9b86168ffdc3be41fefc0953e3c26e480',
    'moveit_msgs/msg/PlanningScene':
        '0f58540ad5eab4b9ea827d53b763c793d8cabd202b3b301fcee25afa4ce1bd80',
    'moveit_msgs/msg/ServoStatus':
        '882a75f7648d6f8a9bf528e4787f51c58f2d5d88b702e450443d99f270e6936b',
    'moveit_msgs/srv/ApplyPlanningScene_Request':
        '4303c6065226e57f263fe7e1c03df94ea3ddbc120001cbbc4e757d7801da0a56',
    'moveit_msgs/srv/ApplyPlanningScene_Response':
        '8e618d93f6779a2e3f95d84c363f8cc996297b586b683a53750879506e8eaaf1',
    'moveit_msgs/srv/GetCartesianPath_Request':
        'f82f5681778f78140f106beefcea74d2ce34c5e4bb048b56c90758e0d2d41384',
    'moveit_msgs/srv/GetCartesianPath_Response':
        'e2dc0013e5a4c0893c54b13b0efa5997041852006a5bafdb44e11224a4cfa46b',
    'moveit_msgs/srv/GetPlanningScene_Request':
        'ac8ce45f7638bcc6d6661f66e836e4edd218107682f68e3292dac1f79f29c1ec',
    'moveit_msgs/srv/GetPlanningScene_Response':
        '8a2b63777b386eeffec08730a19dae73e4950fec294825d9d53f24b935e6ec95',
    'moveit_msgs/srv/GetPositionFK_Request':
        '03282430a957ca7dd7e8a84b4f13225c39c467ec79efb77d9554e7b8d4cd6055',
    'moveit_msgs/srv/GetPositionFK_Response':
        'a1b88541679d04b392399fb4633adb55afaea22d3d5c38c79ad65f7cae6f4f2c',
    'moveit_msgs/srv/GetPositionIK_Request':
        '2fc6ac96ee9a8523466c443f06e7c76c47bd3e6b8698edc517ea82cf0b56e747',
    'moveit_msgs/srv/GetPositionIK_Response':
        'e80acd352080518d3498cc09f4dd84e0303e31128237de11d4019c8a5937b19f',
    'moveit_msgs/srv/GetStateValidity_Request':
        '189b312daa94b06344969f688adc5935f3ab08208e57024e6187d5c620f5aeae',
    'moveit_msgs/srv/GetStateValidity_Response':
        '2ad22d068a72cb1b17d1a6056aded2ffcaa01136b598cd1dc74fc025fbee2ecc',
    'moveit_msgs/srv/ServoCommandType_Request':
        '4e77fd6a0be8f0d88b473f978c73130d6d142e0ffecd5d8199fa28c0086edae5',
    'moveit_msgs/srv/ServoCommandType_Response':
        'ac641d6c80f659dc4f3124b0db491727326ce5e01084e05525a7cad9b1d5f5d8',
    'tf2_msgs/msg/TFMessage':
        'e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087',
}


@pytest.fixture(scope='module')
def hashes():
    """Return the type hashes that DDS announces for a publisher or client of each type."""
    context = Context()
    rclpy.init(context=context)
    node = rclpy.create_node('types', context=context)
    found = {}
    for name in HASHES:
        module, _, kind = name.rpartition('/')
        kind, _, part = kind.partition('_')
        interface = getattr(import_module(module.replace('/', '.')), kind)
        if part == 'Request':
            node.create_client(interface, kind)
            endpoint, = node.get_publishers_info_by_topic(f'rq/{kind}Request', no_mangle=True)
        elif part:      # the client exists, as HASHES lists each request before its response
            endpoint, = node.get_subscriptions_info_by_topic(f'rr/{kind}Reply', no_mangle=True)
        else:
            node.create_publisher(interface, kind, 1)
            endpoint, = node.get_publishers_info_by_topic(kind)
        found[name] = endpoint.topic_type_hash
    node.destroy_node()
    rclpy.shutdown(context=context)
    return found


def test_type_hashes_equal_those_of_the_full_moveit_packages(hashes):
    assert {found.version for found in hashes.values()} == {1}
    assert {name: bytes(found.value).hex() for name, found in hashes.items()} == HASHES
