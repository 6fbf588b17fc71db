"""The interface of functions of a configuration, and the registry of their kinds."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import MISSING
from functools import lru_cache, partial
from importlib.metadata import entry_points
import math
from typing import ClassVar, NamedTuple, TypeVar
import warnings

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import look_up
from ros2_ik.core.errors import (
    InvalidConstraintError,
    InvalidOptionError,
    nearest,
    UnknownNameError,
)
from ros2_ik.core.functions.fields import FieldValue, spec_fields
from ros2_ik.core.robot import Configuration, Robot
from ros2_ik.core.signatures import show_plain_types


class Masses(NamedTuple):
    """
    A centre-of-mass function for compiled code (see `kernels.rows.mass_rows`).

    `frames` are the frames to which masses are fixed; `parameters` are those of `mass_rows`.
    """

    frames: tuple[str, ...]
    relative_to: str | None
    parameters: Array


class KinematicFunction(ABC):
    """
    Interface of a function f: configuration -> R^m with a Jacobian in the tangent space.

    A function is independent of its use: it can be a target, constraint, cost, task or barrier of
    any robot. `kind` is its registered name. `periodic` is True if full turns of joints do not
    change f; `is_user_code` is True if f calls user code. `reference_field` is the name of the
    field that holds the reference, the value at which f is zero.
    """

    kind: ClassVar[str]
    periodic: ClassVar[bool] = False
    is_user_code: ClassVar[bool] = False
    reference_field: ClassVar[str | None] = None

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """Names of the rows with units, such as 'x [m]'; () if they depend on the robot."""

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest possible value of a row."""
        return -math.inf, math.inf

    def __post_init__(self) -> None:
        """Check and convert the dataclass fields that have a FieldType."""
        for name, field in spec_fields(type(self)).items():
            self.set_field(name, field.checked(getattr(self, name), name))

    def set_field(self, name: str, value: object) -> None:
        """Set a field of this frozen dataclass; only for use in `__post_init__`."""
        object.__setattr__(self, name, value)

    @abstractmethod
    def joints(self, robot: Robot) -> frozenset[str]:
        """Return the names of the joints that change f; raises an IKError for unknown names."""

    @property
    def spec(self) -> 'KinematicFunction':
        """The unbound function from which `bind` created this one, or this function itself."""
        return self

    def bind(self, robot: Robot) -> 'KinematicFunction':
        """Return the function with labels, bound to one robot; raises the errors of `joints`."""
        self.joints(robot)
        return self

    @abstractmethod
    def evaluate(self, at: Configuration) -> tuple[Array, Array]:
        """Return f (m,) and its Jacobian in the tangent space, (m, nv)."""

    def value(self, at: Configuration) -> Array:
        """Return f, (m,)."""
        return self.evaluate(at)[0]

    def jacobian(self, at: Configuration) -> Array:
        """Return df/dq in the tangent space, (m, nv)."""
        return self.evaluate(at)[1]

    def masses(self, robot: Robot) -> Masses | None:
        """Return the masses if all rows are linear in a centre of mass, otherwise None."""
        return None

    def equality_form(self, lower: Array, upper: Array) -> 'KinematicFunction | None':
        """
        Return a smooth function that is zero if and only if lower <= f <= upper (m,), or None.

        Angles and distances have no gradient at zero, but a vector whose length is f is smooth
        there. None means that solvers use f itself.
        """
        return None

    def __str__(self) -> str:
        """Return the kind and its frames, such as "frame_pose of 'tool' relative to 'table'"."""
        frame, relative = getattr(self, 'frame', None), getattr(self, 'relative_to', None)
        names = getattr(self, 'names', None) or getattr(self, 'links', None)
        of = f" of '{frame}'" if frame else f' of {", ".join(names)}' if names else ''
        return f'{self.kind}{of}' + (f" relative to '{relative}'" if relative else '')


_KINDS: dict[str, type[KinematicFunction]] = {}
F = TypeVar('F', bound=type[KinematicFunction])


def register_function(kind: str) -> Callable[[F], F]:
    """
    Register the decorated class under the name `kind`.

    Raises InvalidOptionError if the kind is already registered for another class.
    """
    def enter(function: F) -> F:
        known = _KINDS.get(kind, function)
        # the same class may be registered again when its module is reloaded
        if known.__qualname__ != function.__qualname__:
            raise InvalidOptionError(f"kind '{kind}' is registered for {known.__module__}."
                                     f'{known.__qualname__}; choose another name')
        function.kind = kind
        show_plain_types(function)
        _KINDS[kind] = function
        return function
    return enter


def function_kinds() -> dict[str, type[KinematicFunction]]:
    """
    Return the classes of all functions by kind.

    Other packages add functions by entry points of the group `ros2_ik.functions`. Each entry point
    names a class or the module that registers the class; if loading fails, the entry point is
    skipped with a RuntimeWarning.
    """
    _load_entry_points()
    return dict(_KINDS)


def written_kinds() -> dict[str, type[KinematicFunction]]:
    """Return, by kind, the function classes that files and messages can describe."""
    return {kind: function for kind, function in sorted(function_kinds().items())
            if spec_fields(function)}


def read_function(kind: str, given: Mapping[str, FieldValue],
                  supplied: Mapping[str, object] | None = None) -> KinematicFunction:
    """
    Return a function with the `given` fields of a file or message, and defaults for other fields.

    `supplied` has, by name, arguments that a file cannot contain, such as a collision checker.
    Raises UnknownNameError for an unknown kind, and InvalidConstraintError for an unknown, missing
    or invalid field.
    """
    function = look_up(written_kinds(), kind, partial(UnknownNameError, kind='function'))
    fields = spec_fields(function)
    written = [name for name, field in fields.items() if not field.type.supplied]
    valid = f'valid: {", ".join(written)}'
    for name in given:
        if name not in written:
            raise InvalidConstraintError(f"{kind} has no field '{name}'; "
                                         f"{nearest(name, (*written, 'bounds')) or valid}")
    arguments = {}
    for name, field in fields.items():
        if field.type.supplied:
            arguments[name] = (supplied or {}).get(name)
        elif name in given and not given[name].empty:
            arguments[name] = field.type.argument(given[name], name)
        elif field.default_argument is not MISSING:
            arguments[name] = field.default_argument
        else:
            raise InvalidConstraintError(f'{kind} needs {name}: {field.type.form}')
    return function(**arguments)


@lru_cache(maxsize=1)
def _load_entry_points() -> None:
    for entry in entry_points(group='ros2_ik.functions'):
        try:
            entry.load()
        # catch all exceptions: importing another package may raise any of them
        except Exception as error:
            warnings.warn(f"functions of '{entry.name}' ({entry.value}) cannot be loaded: "
                          f'{type(error).__name__}: {error}', RuntimeWarning, stacklevel=3)
