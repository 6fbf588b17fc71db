"""Inner loops, compiled by numba at first use."""

from functools import lru_cache

from ros2_ik.core.kernels.boxes import count_leaving
from ros2_ik.core.kernels.comparisons import are_held, are_within, choose_turns, distance_between
from ros2_ik.core.kernels.rows import measure_formula
from ros2_ik.core.kernels.self_motion import step_along
from ros2_ik.core.kernels.source import compile_all as compile_all
from ros2_ik.core.kernels.sqp import hold
from ros2_ik.core.kernels.starts import draw_starts

_OF_ACCEPTANCE = are_held, are_within, distance_between, measure_formula
_OF_STARTS = draw_starts, choose_turns
_OF_CONTACTS = count_leaving, step_along, hold


@lru_cache
def compile_for_search(is_checked: bool) -> None:
    """Compile what a search calls beside its solver, before its clock starts."""
    for loop in (*_OF_ACCEPTANCE, *_OF_STARTS, *(_OF_CONTACTS if is_checked else ())):
        loop.run    # noqa: B018
