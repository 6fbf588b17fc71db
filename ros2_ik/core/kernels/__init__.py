"""Numeric kernels, compiled by numba at first use."""

from functools import lru_cache

from ros2_ik.core.kernels.acceptance import check_targets
from ros2_ik.core.kernels.boxes import count_exiting_rays
from ros2_ik.core.kernels.comparisons import are_within, choose_turns
from ros2_ik.core.kernels.rows import measure_formula
from ros2_ik.core.kernels.self_motion import step_along
from ros2_ik.core.kernels.source import compile_all as compile_all
from ros2_ik.core.kernels.sqp import find_feasible, lower_cost
from ros2_ik.core.kernels.starts import draw_starts

_OF_ALL = are_within, check_targets, measure_formula, draw_starts, choose_turns
_OF_CONTACTS = count_exiting_rays, step_along, find_feasible
_OF_TOLERANCES = find_feasible, lower_cost


@lru_cache
def compile_for_search(is_checked: bool, is_loose: bool) -> None:
    """Compile loops for all searches and, if asked, for contacts and for loose tolerances."""
    for loop in (*_OF_ALL, *(_OF_CONTACTS if is_checked else ()),
                 *(_OF_TOLERANCES if is_loose else ())):
        loop.run    # noqa: B018
