"""A quantity that a configuration has, and where its kinds are found."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.metadata import entry_points
import math
from typing import ClassVar, NamedTuple, TypeVar
import warnings

from ros2_ik.core.arrays import Array
from ros2_ik.core.errors import (
    InvalidConstraintError,
    InvalidOptionError,
    nearest,
    UnknownFunctionError,
)
from ros2_ik.core.functions.fields import spec_fields
from ros2_ik.core.functions.written import FieldValue
from ros2_ik.core.robot import Configuration, Robot
from ros2_ik.core.signatures import show_plain_types


class Masses(NamedTuple):
    """Frames that lumps are fixed to, the one seen from, and numbers; see `mass_rows`."""

    frames: tuple[str, ...]
    relative_to: str | None
    parameters: Array


class KinematicFunction(ABC):
    """
    f: configuration -> R^m, with its Jacobian in the tangent space.

    It knows nothing of how it is used: the same function serves as target, constraint or cost,
    of any robot. `kind` is the name it is registered under, `peers` what others call it.
    `periodic` is True where full turns of joints change nothing, `is_user_code` where it calls
    what a user wrote. `reference_field` names the field that f is compared with, where it is zero.
    """

    kind: ClassVar[str]
    peers: ClassVar[dict[str, str]]
    periodic: ClassVar[bool] = False
    is_user_code: ClassVar[bool] = False
    reference_field: ClassVar[str | None] = None

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """Names of the rows, each with its unit such as 'x [m]'; () where a robot gives them."""

    @property
    def range(self) -> tuple[float, float]:
        """The least and the largest value that there is."""
        return -math.inf, math.inf

    def __post_init__(self) -> None:
        """Check the fields of a kind that is a dataclass, by their types."""
        for name, field in spec_fields(type(self)).items():
            self.keep(name, field.kept(getattr(self, name), name))

    def keep(self, name: str, value: object) -> None:
        """Set a field while the function is made: it is frozen afterwards."""
        object.__setattr__(self, name, value)

    @abstractmethod
    def joints(self, robot: Robot) -> frozenset[str]:
        """Names of the joints in q that change f; raises UnknownFrameError and the like."""

    @property
    def spec(self) -> 'KinematicFunction':
        """The function that this one was bound from; itself where it was not."""
        return self

    def bind(self, robot: Robot) -> 'KinematicFunction':
        """Return the function as it is of one robot, with labels; raises what `joints` does."""
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
        """Return the masses, where all rows are linear in where their centre is."""
        return None

    def equality_form(self, lower: Array, upper: Array) -> 'KinematicFunction | None':
        """
        Return the smooth function that is zero exactly where lower <= f <= upper, where needed.

        An angle or a distance that must be exactly zero has no gradient at the solution; the
        vector behind it has. None where f itself serves.
        """
        return None

    def __str__(self) -> str:
        """Return the kind with its names, such as "frame_pose of 'tool' relative to 'table'"."""
        frame, relative = getattr(self, 'frame', None), getattr(self, 'relative_to', None)
        names = getattr(self, 'names', None) or getattr(self, 'links', None)
        of = f" of '{frame}'" if frame else f' of {", ".join(names)}' if names else ''
        return f'{self.kind}{of}' + (f" relative to '{relative}'" if relative else '')


_KINDS: dict[str, type[KinematicFunction]] = {}
F = TypeVar('F', bound=type[KinematicFunction])


def register_function(kind: str, **peers: str) -> Callable[[F], F]:
    """
    Enter a function under the name of its kind, with its names in `drake`, `matlab` ...

    Raises InvalidOptionError where another class has that name.
    """
    def enter(function: F) -> F:
        known = _KINDS.get(kind, function)
        if known.__qualname__ != function.__qualname__:   # the same one may be loaded again
            raise InvalidOptionError(f"kind '{kind}' is that of {known.__module__}."
                                     f'{known.__qualname__}; choose another name')
        function.kind, function.peers = kind, peers
        show_plain_types(function)
        _KINDS[kind] = function
        return function
    return enter


def function_kinds() -> dict[str, type[KinematicFunction]]:
    """
    Return all functions by the name of their kind.

    Those of other packages are found by their entry points `ros2_ik.functions`, which name the
    class, or the module that registers it; one that does not load is left out with a
    RuntimeWarning.
    """
    _load_entry_points()
    return dict(_KINDS)


def written_kinds() -> dict[str, type[KinematicFunction]]:
    """Return the functions that can be written down: they have typed fields, no Python code."""
    return {kind: function for kind, function in sorted(function_kinds().items())
            if spec_fields(function)}


def read_function(kind: str, given: Mapping[str, FieldValue],
                  supplied: Mapping[str, object] | None = None) -> KinematicFunction:
    """
    Return the function of that kind with the fields given, the others at their defaults.

    `supplied` has what cannot be written, such as a collision checker, for the kinds that take
    it. Raises UnknownFunctionError, and InvalidConstraintError for fields that the kind does not
    have, that it needs, or that do not fit.
    """
    function = written_kinds().get(kind)
    if function is None:
        raise UnknownFunctionError(kind, tuple(written_kinds()))
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
        elif field.needed:
            raise InvalidConstraintError(f'{kind} needs {name}: {field.type.form}')
        else:
            arguments[name] = field.unwritten
    return function(**arguments)


@lru_cache(maxsize=1)
def _load_entry_points() -> None:
    for entry in entry_points(group='ros2_ik.functions'):
        try:
            entry.load()
        except Exception as error:    # whatever another package raises when it is imported
            warnings.warn(f"functions of '{entry.name}' ({entry.value}) do not load: "
                          f'{type(error).__name__}: {error}', RuntimeWarning, stacklevel=3)
