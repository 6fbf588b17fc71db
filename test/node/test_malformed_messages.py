"""Bytes that are no message: they neither end the node nor fill the memory."""

from pathlib import Path

from moveit_msgs.msg import CollisionObject
from node_harness import eventually, NodeProcess
from rclpy.serialization import serialize_message
from scene_harness import box, objects, pose

FAR = pose(0, 0, 5)


def peak_memory(pid: int) -> float:
    """Give the most memory that a process has had [MB]."""
    status = Path(f'/proc/{pid}/status').read_text()
    return int(status.partition('VmHWM:')[2].split()[0]) / 1e3


def malformed():
    """Give bytes of messages in which every number in turn is a count that is far too large."""
    whole = serialize_message(box('a', at=FAR))
    for place in range(4, len(whole) - 4, 4):
        for count in (2**31, 30_000):
            data = whole[:place] + count.to_bytes(4, 'little') + whole[place + 4:]
            yield data + bytes(count if count < 2**20 else 0)


def test_counts_that_are_too_large(domain, client, panda, tmp_path):
    """A count takes 350 bytes for each byte that is there, whatever bounds its type has."""
    node = NodeProcess(domain, tmp_path / 'log', {'workers': 1})
    try:
        client.describe(panda)
        before = peak_memory(node.pid)
        topic = client.node.create_publisher(CollisionObject, 'ros2_ik/collision_object', 1000)
        eventually(topic.get_subscription_count, 'the node')
        for data in malformed():
            topic.publish(data)
        client.publish('ros2_ik/collision_object', box('after', at=FAR))
        eventually(lambda: 'after' in objects(client), 'an object of a good message', 60.0)
        assert peak_memory(node.pid) - before < 500
        client.node.destroy_publisher(topic)
    finally:
        assert node.end() == 0
