"""A listener to TF in a thread of its own: tf2_ros takes 2.5 ms for a message of 30 transforms."""

import threading
import time
import traceback
from typing import Any, NamedTuple

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node


class Parent(NamedTuple):
    """What a frame hangs on: by /tf_static, or by a transform received then (steady clock [s])."""

    frame: str
    static: bool
    received: float


def listen_to_tf(node: Node) -> Any:
    """
    Begin to listen, by a node beside this one; return the tf2_ros.Buffer that is filled.

    Its `parents` has the newest Parent of each frame.
    """
    import tf2_ros

    class Buffer(tf2_ros.Buffer):   # type: ignore[misc]
        """A buffer that tells what a frame hangs on, which tf2_ros has only as text."""

        def __init__(self, **options: Any) -> None:
            self.parents: dict[str, Parent] = {}
            super().__init__(**options)

        def set_transform(self, transform: Any, authority: str) -> None:
            super().set_transform(transform, authority)
            self._hang(transform, False)

        def set_transform_static(self, transform: Any, authority: str) -> None:
            super().set_transform_static(transform, authority)
            self._hang(transform, True)

        def _hang(self, transform: Any, static: bool) -> None:
            self.parents[transform.child_frame_id.removeprefix('/')] = Parent(
                transform.header.frame_id.removeprefix('/'), static, time.monotonic())

    name = f'{node.get_name()}_tf_listener'
    listener = rclpy.create_node(   # __node: else a name given on the command line would count
        name, context=node.context, namespace=node.get_namespace(),
        cli_args=['--ros-args', '-r', f'__node:={name}'], enable_rosout=False,
        start_parameter_services=False)
    buffer = Buffer(node=listener)
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
