"""
Decorators for functions that numba compiles at first use.

Python calls a `loop`; a loop calls a `formula` by its address; loops and formulas call a `part`.
To debug in Python, call a part directly, and a formula or a loop by its attribute `function`;
in Python, `call` and `call_back` do nothing.
"""

from collections.abc import Callable
from functools import cache, cached_property
from random import Random
from threading import Lock
from typing import Any, TYPE_CHECKING, TypeAlias, TypeVar

from ros2_ik.core.kernels.cache import add_source, compiled

if TYPE_CHECKING:
    from numba.core.types import Type

Part = TypeVar('Part', bound=Callable[..., object])

_loops: list['Loop'] = []
_formulas: list['Formula'] = []
# functions that are not registered with numba yet, and whether each is inlined
_new_parts: list[tuple[Callable[..., object], bool]] = []
_compiling = Lock()
add_source(lambda: None)    # this file


def part(function: Part) -> Part:
    """Make a function callable from compiled code."""
    return _add_part(function, False)


def inner_part(function: Part) -> Part:
    """
    Make a function callable from compiled code, and inline it into each caller.

    Use it in innermost loops: a call that is not inlined updates the reference count of each array
    argument, which takes as long as a hundred additions.
    """
    return _add_part(function, True)


def _add_part(function: Part, is_inlined: bool) -> Part:
    add_source(function)
    _new_parts.append((function, is_inlined))
    return function


class Loop:
    """A function compiled for one signature; Python calls the compiled code as `run`."""

    def __init__(self, function: Callable[..., object], signature: str) -> None:
        self.function, self.signature = function, signature
        add_source(function)
        _loops.append(self)

    @cached_property
    def run(self) -> Callable[..., Any]:
        """The function, compiled at the first access: access it before a time limit starts."""
        from numba import njit
        with _compiling:
            _overload_parts()
            run: Callable[..., Any] = compiled(
                lambda options: njit(self.signature, **options)(self.function), self.function)
            return run


def loop(signature: str) -> Callable[[Callable[..., object]], Loop]:
    """Decorate a function as a `Loop`; `signature` is in numba's notation."""
    return lambda function: Loop(function, signature)


class Formula:
    """
    A compiled formula for the values and wrenches of a function of body B relative to body A.

    The decorated function reads the placements of B and of A in the root frame (twelve numbers
    each: rotation row by row, then position) and its parameters. It writes the values f (m,) and,
    row by row, the wrenches W (6 m,), defined in `RelativeFunction`. All five arguments are
    pointers; to debug `function`, pass lists.
    """

    def __init__(self, function: Callable[..., None]) -> None:
        self.function = function
        add_source(function)
        _formulas.append(self)

    @cached_property
    def address(self) -> int:
        """The address of the compiled code."""
        from numba import cfunc, types
        with _compiling:
            _overload_parts()
            pointer = types.CPointer(types.float64)     # type: ignore[no-untyped-call]
            signature = types.void(*[pointer] * 5)
            # keep the object: the address is valid only as long as the object exists
            self._code = compiled(lambda options: cfunc(signature, **options)(self.function),
                                  self.function)
            assert self._code.address is not None
            return self._code.address


formula: TypeAlias = Formula    # the decorator: @formula makes a Formula


def compile_all() -> None:
    """Compile all loops and formulas, or load cached code; call this before serving requests."""
    tasks = [*((one, 'address') for one in _formulas), *((one, 'run') for one in _loops)]
    # in random order, so that processes that start together compile different functions
    Random().shuffle(tasks)
    for one, compiled_code in tasks:
        getattr(one, compiled_code)


def call(formula, placed, pair, parameters, first, f, W, row):    # type: ignore[no-untyped-def]
    """
    Call a formula by its address (compiled code only).

    The placements of B and A are rows pair[0] and pair[1] of `placed` (k, 12). The formula's
    parameters begin at index `first`, its rows of f (m,) and W (m, 6) at index `row`.
    """


def call_back(function, x, f, J):    # type: ignore[no-untyped-def]
    """Call a Python callback by address to fill its rows of f and J; False if it interrupts."""


def _overload_parts() -> None:
    """Register new parts, `call` and `call_back` with numba."""
    from numba.extending import overload
    _overload_calls()
    while _new_parts:
        function, is_inlined = _new_parts.pop()
        overload(function, {'error_model': 'numpy', 'forceinline': is_inlined},
                 strict=False)(lambda *_, function=function: function)


@cache
def _overload_calls() -> None:
    """Register `call` and `call_back` with numba as calls of C functions by address."""
    from numba import types
    from numba.extending import overload

    at_address, ask_at_address = _by_address(5, types.void), _by_address(3, types.int32)

    @overload(call)
    def _(formula, placed, pair, parameters, first, f, W, row):    # type: ignore[no-untyped-def]
        return lambda formula, placed, pair, parameters, first, f, W, row: at_address(
            formula, (placed, placed, parameters, f, W),
            (12 * pair[0], 12 * pair[1], first, row, 6 * row))

    @overload(call_back)
    def _(function, x, f, J):    # type: ignore[no-untyped-def]
        return lambda function, x, f, J: (function == 0
                                          or ask_at_address(function, (x, f, J),
                                                            (0, 0, 0)) != 0)


def _by_address(count: int, returned: 'Type') -> Any:
    """
    Return a numba intrinsic that calls a C function of `count` pointers by its address.

    The intrinsic takes the address, a tuple of arrays, and a tuple of indices: pointer i points to
    element indices[i] of array i. Slices instead of indices would cost reference counting.
    """
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    def generate(context, builder, signature, arguments):    # type: ignore[no-untyped-def]
        pointer = ir.DoubleType().as_pointer()
        data = []
        for i, kind in enumerate(signature.args[1]):
            array = context.make_array(kind)(context, builder,
                                             builder.extract_value(arguments[1], i))
            # pointer to element arguments[2][i] of array i
            data.append(builder.gep(builder.bitcast(array.data, pointer),
                                    [builder.extract_value(arguments[2], i)]))
        result = ir.VoidType() if returned is types.void else ir.IntType(32)
        function = ir.FunctionType(result, [pointer] * count).as_pointer()
        found = builder.call(builder.inttoptr(arguments[0], function), data)
        return context.get_dummy_value() if returned is types.void else found

    @intrinsic
    def at_address(_, address, arrays, indices):    # type: ignore[no-untyped-def]
        return returned(address, arrays, indices), generate
    return at_address
