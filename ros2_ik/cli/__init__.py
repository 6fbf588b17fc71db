"""The `ros2_ik` command."""

from ros2_ik.cli.command import main

__all__ = ['main']
