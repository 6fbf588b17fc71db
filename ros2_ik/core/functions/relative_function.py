"""Functions of the placement of one frame relative to another."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
import math
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np

from ros2_ik.core.arrays import Array, ArrayLike
from ros2_ik.core.functions.kinematic_function import KinematicFunction
from ros2_ik.core.kernels.rows import measure_formula
from ros2_ik.core.kernels.source import Formula
from ros2_ik.core.robot import Configuration, Robot

Parameters: TypeAlias = 'Iterable[ArrayLike]'   # parameters of a formula, in reading order


class RelativeFunction(KinematicFunction):
    """
    A function of the placement of `frame` relative to `relative_to` (default: the root frame).

    Instead of a Jacobian, the formula `rows` computes a wrench W_i for each row f_i. f_i changes
    at the rate W_i . (V_frame - V_relative_to), where V is the spatial velocity [linear; angular]
    of a body at the root frame's origin, in the root frame's axes. W_i = [force; moment about that
    origin] depends only on the two placements.
    """

    periodic = True
    frame: str
    relative_to: str | None

    @property
    def rows(self) -> Formula:
        """The formula that computes values and wrenches."""
        raise NotImplementedError

    def numbers(self) -> Parameters:
        """Return the parameters that the formula reads, in order."""
        raise NotImplementedError

    @cached_property
    def parameters(self) -> Array:
        """The parameters of the formula, concatenated into one array (k,)."""
        flat: Array = np.concatenate([np.zeros(0), *(np.ravel(part) for part in self.numbers())])
        return flat

    def joints(self, robot: Robot) -> frozenset[str]:
        return robot.moving_joints(self.frame, self.relative_to)

    def value(self, at: Configuration) -> Array:
        return self._measure(at)[0]

    def evaluate(self, at: Configuration) -> tuple[Array, Array]:
        f, W = self._measure(at)
        return f, W @ at.spatial_jacobian(self.frame, self.relative_to)

    def _measure(self, at: Configuration) -> tuple[Array, Array]:
        """Return f (m,) and the wrenches W (m, 6) of its rows."""
        relative, size = self.relative_to, len(self.labels)
        f, W = np.empty(size), np.empty((size, 6))
        measure_formula.run(
            self.rows.address, at.transform(self.frame),
            _ORIGIN if relative is None else at.transform(relative), self.parameters, f, W)
        return f, W


class Form(NamedTuple):
    """A form of a FormedFunction: its smallest and largest value, and its labels."""

    range: tuple[float, float]
    labels: tuple[str, ...]


class FormedFunction(RelativeFunction):
    """A function whose value has several `forms`, such as angle or vector; `form` selects one."""

    forms: ClassVar[Mapping[str, Form]]
    opposite: ClassVar[str] = ''    # field whose negation turns an angle of pi into 0
    form: str

    @cached_property
    def labels(self) -> tuple[str, ...]:
        return self.forms[self.form].labels

    @property
    def range(self) -> tuple[float, float]:
        return self.forms[self.form].range

    @property
    def form_number(self) -> int:
        """The index of the form in `forms`, which is a parameter of the formula."""
        return [*self.forms].index(self.form)

    def equality_form(self, lower: Array, upper: Array) -> KinematicFunction | None:
        # an angle of pi to an axis is an angle of 0 to the opposite axis
        changed: dict[str, object] = {'form': 'vector'}
        if self.form == 'angle' and self.opposite and lower[0] >= math.pi:
            changed[self.opposite] = np.negative(getattr(self, self.opposite))
        elif self.form != 'angle' or upper[0] > 0:
            return None
        found: KinematicFunction = replace(self, **changed)  # type: ignore[type-var]
        return found


_ORIGIN = np.eye(4)
