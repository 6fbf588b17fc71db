"""
Loops and formulas, compiled by numba at first use.

Python calls a `loop`, a loop calls a `formula` by its address, and compiled code calls a `part`.
To debug a formula or a part, call its Python function: a part itself, `function` of a formula.
"""

from collections.abc import Callable
from functools import cache, cached_property
from random import Random
from threading import Lock
from typing import Any, TypeAlias, TypeVar

from ros2_ik.core.kernels.cache import add_source, compiled

Part = TypeVar('Part', bound=Callable[..., Any])

_loops: list['Loop'] = []
_formulas: list['Formula'] = []
_new_parts: list[tuple[Callable[..., Any], bool]] = []  # not yet known to numba; whether inlined
_compiling = Lock()
add_source(lambda: None)    # this file


def part(function: Part) -> Part:
    """Let compiled code call a function."""
    return _add_part(function, False)


def inner_part(function: Part) -> Part:
    """
    Let compiled code call a function that is inlined into each caller.

    For the inside of loops: a call counts references to each array argument, which costs as much
    as a hundred sums.
    """
    return _add_part(function, True)


def _add_part(function: Part, is_inlined: bool) -> Part:
    add_source(function)
    _new_parts.append((function, is_inlined))
    return function


class Loop:
    """A function that Python calls as `run`, with arguments of one signature."""

    def __init__(self, function: Callable[..., Any], signature: str) -> None:
        self.function, self.signature = function, signature
        self.__doc__, self.__name__ = function.__doc__, function.__name__
        add_source(function)
        _loops.append(self)

    @cached_property
    def run(self) -> Callable[..., Any]:
        """The compiled function; read it where something is bound, not where time counts."""
        from numba import njit
        with _compiling:
            _overload_parts()
            run: Callable[..., Any] = compiled(
                lambda options: njit(self.signature, **options)(self.function), self.function)
            return run


def loop(signature: str) -> Callable[[Callable[..., Any]], Loop]:
    """Make a `Loop` of a function; `signature` is in numba's notation."""
    return lambda function: Loop(function, signature)


class Formula:
    """
    Values and wrenches of how a body B moves relative to a body A.

    The function takes the placements of B and of A in the root frame as twelve numbers each
    (rotation row by row, then position), its parameters, and fills the values f (m,) and the
    wrenches W (6 m,), row by row. All five are pointers; to debug `function`, pass it lists.
    """

    def __init__(self, function: Callable[..., None]) -> None:
        self.function = function
        self.__doc__, self.__name__ = function.__doc__, function.__name__
        add_source(function)
        _formulas.append(self)

    @cached_property
    def address(self) -> int:
        """The address of the compiled code."""
        from numba import cfunc, types
        with _compiling:
            _overload_parts()
            numbers: Any = types.CPointer(types.float64)    # type: ignore[no-untyped-call]
            signature = types.void(*[numbers] * 5)
            self._code = compiled(lambda options: cfunc(signature, **options)(self.function),
                                  self.function)    # the address is valid as long as this lives
            return int(self._code.address)


formula: TypeAlias = Formula


def compile_all() -> None:
    """Compile or load all loops and formulas, before a process serves or runs in real time."""
    tasks = [*((one, 'address') for one in _formulas), *((one, 'run') for one in _loops)]
    Random().shuffle(tasks)     # processes that start together share the work through the cache
    for one, compiled_code in tasks:
        getattr(one, compiled_code)


def call(formula, placed, b, a, parameters, first, f, W, row):    # type: ignore[no-untyped-def]
    """
    Call a formula by its address, in compiled code.

    The placements of B and A are rows b and a of `placed` (k, 12), its parameters begin at
    `first`, its rows of f (m,) and W (m, 6) at `row`.
    """


def call_back(function, x, f, J):    # type: ignore[no-untyped-def]
    """Let Python fill its rows of f and J at x, in compiled code; False ends the loop."""


def _overload_parts() -> None:
    """Let compiled code call the parts that were added since, and formulas at their address."""
    from numba.extending import overload
    _overload_calls()
    while _new_parts:
        function, is_inlined = _new_parts.pop()
        overload(function, {'error_model': 'numpy', 'forceinline': is_inlined},
                 strict=False)(lambda *_, function=function: function)


@cache
def _overload_calls() -> None:
    """Let compiled code call C functions, which take pointers to numbers, at an address."""
    from numba import types
    from numba.extending import overload

    at_address, ask_at_address = _by_address(5, types.void), _by_address(3, types.int32)

    @overload(call)
    def _(formula, placed, b, a, parameters, first, f, W, row):    # type: ignore[no-untyped-def]
        return lambda formula, placed, b, a, parameters, first, f, W, row: at_address(
            formula, (placed, placed, parameters, f, W), (12 * b, 12 * a, first, row, 6 * row))

    @overload(call_back)
    def _(function, x, f, J):    # type: ignore[no-untyped-def]
        return lambda function, x, f, J: (function == 0
                                          or ask_at_address(function, (x, f, J),
                                                            (0, 0, 0)) != 0)


def _by_address(count: int, returned: Any) -> Any:
    """
    Return what calls a function of `count` pointers at an address, for compiled code.

    They point into arrays, at places told as numbers: slices would be counted.
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
            data.append(builder.gep(builder.bitcast(array.data, pointer),
                                    [builder.extract_value(arguments[2], i)]))
        result = ir.VoidType() if returned is types.void else ir.IntType(32)
        function = ir.FunctionType(result, [pointer] * count).as_pointer()
        found = builder.call(builder.inttoptr(arguments[0], function), data)
        return context.get_dummy_value() if returned is types.void else found

    @intrinsic
    def at_address(_, address, arrays, places):    # type: ignore[no-untyped-def]
        return returned(address, arrays, places), generate
    return at_address
