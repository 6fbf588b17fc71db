"""The ROS node: messages in, core objects, messages out."""


def main() -> int:
    """Run the node until SIGINT or SIGTERM; gives the exit code."""
    from ros2_ik.node.node import main as run  # late: worker processes come by here without ROS
    return run()
