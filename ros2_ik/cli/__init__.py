"""The `ros2_ik` command."""

from ros2_ik.cli.command import main, run_as_process

__all__ = ['main', 'run_as_process']
