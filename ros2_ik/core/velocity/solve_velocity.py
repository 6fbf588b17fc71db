"""One velocity, or its quadratic program, without a loop."""

from collections.abc import Iterable
from typing import Any

from ros2_ik.core.robot import Configuration
from ros2_ik.core.velocity.task import Task
from ros2_ik.core.velocity.velocity_program import VelocityProgram
from ros2_ik.core.velocity.velocity_result import VelocityQP, VelocityResult


def solve_velocity(configuration: Configuration, tasks: Iterable[Task], dt: float,
                   **options: Any) -> VelocityResult:
    """
    Return the velocity that leads tasks on from a configuration, for a step of dt [s].

    Options are those of `VelocityProgram`, which a loop makes once instead. Raises what that
    raises for arguments that make no sense; targets that cannot be met are a status.
    """
    return VelocityProgram(configuration.robot, tasks, dt, **options).step(configuration.q)


def build_qp(configuration: Configuration, tasks: Iterable[Task], dt: float,
             **options: Any) -> VelocityQP:
    """Return the quadratic program behind `solve_velocity`; see `VelocityProgram.build_qp`."""
    return VelocityProgram(configuration.robot, tasks, dt, **options).build_qp(configuration.q)
