"""A listener to TF in a thread of its own: tf2_ros takes 2.5 ms for a message of 30 transforms."""

import threading
import traceback
from typing import Any

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node


def listen_to_tf(node: Node) -> Any:
    """Begin to listen, by a node beside this one; gives the tf2_ros.Buffer that is filled."""
    import tf2_ros
    name = f'{node.get_name()}_tf_listener'
    listener = rclpy.create_node(   # __node: else a name given on the command line would count
        name, context=node.context, namespace=node.get_namespace(),
        cli_args=['--ros-args', '-r', f'__node:={name}'], enable_rosout=False,
        start_parameter_services=False)
    buffer = tf2_ros.Buffer(node=listener)
    subscriptions = tf2_ros.TransformListener(buffer, listener)
    threading.Thread(target=_spin, args=(listener, subscriptions), name='tf', daemon=True).start()
    return buffer


def _spin(node: Node, _: Any) -> None:
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    while node.context.ok():
        try:
            executor.spin_once(timeout_sec=0.5)
        except ExternalShutdownException:
            return
        except Exception:   # what one message does must not end the listening
            if node.context.ok():
                node.get_logger().error(traceback.format_exc(), throttle_duration_sec=5.0)
