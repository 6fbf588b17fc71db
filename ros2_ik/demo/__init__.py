"""The demo: a mock robot and the node, started by python -m ros2_ik.demo."""
