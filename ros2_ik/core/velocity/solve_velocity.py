"""One velocity, or its quadratic program, without a loop."""

from collections.abc import Iterable
from typing import Any

from ros2_ik.core.robot import Configuration
from ros2_ik.core.velocity.task import Task
from ros2_ik.core.velocity.velocity_program import DAMPING, VelocityProgram
from ros2_ik.core.velocity.velocity_qp import VelocityQP
from ros2_ik.core.velocity.velocity_result import VelocityResult


def solve_velocity(configuration: Configuration, tasks: Iterable[Task], dt: float, *,
                   limits: Iterable[Any] | None = None, barriers: Iterable[Any] = (),
                   constraints: Iterable[Task] = (), damping: float = DAMPING) -> VelocityResult:
    """
    Return the velocity that leads tasks on from a configuration, for a step of dt [s].

    See `VelocityProgram`, which a loop makes once instead. Raises what that raises for arguments
    that make no sense; targets that cannot be met, or contradict each other, are a status.
    """
    program = VelocityProgram(configuration.robot, tasks, dt, limits=limits, barriers=barriers,
                              constraints=constraints, damping=damping)
    return program.step(configuration.q)


def build_qp(configuration: Configuration, tasks: Iterable[Task], dt: float, *,
             limits: Iterable[Any] | None = None, barriers: Iterable[Any] = (),
             constraints: Iterable[Task] = (), damping: float = DAMPING) -> VelocityQP:
    """Return the quadratic program behind `solve_velocity`; see `VelocityProgram.build_qp`."""
    program = VelocityProgram(configuration.robot, tasks, dt, limits=limits, barriers=barriers,
                              constraints=constraints, damping=damping)
    return program.build_qp(configuration.q)
