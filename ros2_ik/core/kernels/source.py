"""
One source for compiled code and for plain Python.

A `part` is a small function that other code calls, a `loop` what Python calls, a `formula` what a
loop calls by its address. All are plain Python until `load_kernels()` compiles them with numba,
and stay so without it: the same numbers, slower.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

Part = TypeVar('Part', bound=Callable[..., Any])

OPTIONS: Any = {'cache': True, 'nogil': True, 'error_model': 'numpy'}
PACKAGE = Path(__file__).parents[2]


class _State:
    """Whether loops and formulas run compiled, and which parts compiled code can call by now."""

    compiled = False
    callable_parts = 0      # of the list of parts, the first; formulas can be called with them


_state = _State()
_parts: list[Callable[..., Any]] = []
_inner = set[Callable[..., Any]]()
_loops: list['Loop'] = []
_formulas: list['Formula'] = []


def part(function: Part) -> Part:
    """Let compiled code call a function."""
    _parts.append(function)
    return function


def inner_part(function: Part) -> Part:
    """
    Let compiled code call a function, of which each caller gets a copy.

    For the inside of loops: a call counts each array that it hands on, which costs as much as
    a hundred sums.
    """
    _inner.add(function)
    return part(function)


class Loop:
    """
    A function that runs compiled after `load_kernels()`, with arguments of one signature.

    `run` is the compiled function as soon as there is one, the plain one until then.
    """

    def __init__(self, function: Callable[..., Any], signature: str) -> None:
        self.function, self.signature = function, signature
        self.__doc__, self.__name__ = function.__doc__, function.__name__
        self.run: Callable[..., Any] = function
        _loops.append(self)

    def of(self, compiled: bool) -> Callable[..., Any]:
        """Return the compiled function, or the plain one."""
        return self.run if compiled else self.function

    def compile(self) -> None:
        """Compile it, or load it from numba's cache."""
        from numba import njit
        self.run = njit(self.signature, **OPTIONS)(self.function)


def loop(signature: str) -> Callable[[Callable[..., Any]], Loop]:
    """Make a `Loop` of a function; `signature` is in numba's notation."""
    return lambda function: Loop(function, signature)


class Formula:
    """
    Values and wrenches of how a body B moves relative to a body A.

    The function takes the placements of B and of A in the root frame as twelve numbers each
    (rotation row by row, then position), its parameters, and fills the values f (m,) and the
    wrenches W (6 m,), row by row. All five are only indexed: they are pointers where it is
    compiled, lists elsewhere.
    """

    def __init__(self, function: Callable[..., None]) -> None:
        self.function = function
        self.__doc__, self.__name__ = function.__doc__, function.__name__
        self._compiled: Any = None
        _formulas.append(self)

    def __call__(self, B: Sequence[float], A: Sequence[float], parameters: Sequence[float],
                 f: list[float], W: list[float]) -> None:
        self.function(B, A, parameters, f, W)

    def reference(self, compiled: bool) -> Any:
        """Return what `call` takes: the address of the compiled code, or the formula itself."""
        return self.address() if compiled else self

    def address(self) -> int:
        """Compile it if need be, and return where the compiled code is."""
        if self._compiled is None:
            from numba import cfunc, types
            _let_call()     # also parts that were added since
            numbers: Any = types.CPointer(types.float64)    # type: ignore[no-untyped-call]
            # those of other packages in each process: what these call may change unseen
            options = {**OPTIONS, 'cache': _is_own(self.function)}
            self._compiled = cfunc(types.void(*[numbers] * 5), **options)(self.function)
        return int(self._compiled.address)


formula: TypeAlias = Formula


def is_compiled() -> bool:
    """Return whether loops and formulas are compiled by now."""
    return _state.compiled


def sources() -> list[str]:
    """Return the files whose functions the cache holds compiled, this one among them."""
    functions = [call, *_parts, *(loop.function for loop in _loops),
                 *(formula.function for formula in _formulas)]
    return sorted({one.__code__.co_filename for one in functions if _is_own(one)})


def _is_own(function: Callable[..., Any]) -> bool:
    """Return whether a function is of this package: only formulas can be of others."""
    return PACKAGE in Path(function.__code__.co_filename).parents


def call(formula, placed, b, a, parameters, first, f, W, row):    # type: ignore[no-untyped-def]
    """
    Call a formula: by its address where it is compiled, by itself elsewhere.

    The placements of B and A are rows b and a of `placed` (k, 12), its parameters begin at
    `first`, its rows of f (m,) and W (m, 6) at `row`.
    """
    f_rows, W_rows = f[row:].tolist(), W[row:].reshape(-1).tolist()
    formula(placed[b].tolist(), placed[a].tolist(), parameters[first:].tolist(), f_rows, W_rows)
    f[row:] = f_rows
    W[row:].reshape(-1)[:] = W_rows


def call_back(function, x, f, J):    # type: ignore[no-untyped-def]
    """Let Python fill its rows of f and J at x; False where it wants the loop to end."""
    return function is None or function(x, f, J)


def _let_call() -> None:
    """Let compiled code call all parts, and formulas at their address."""
    from numba.extending import overload
    if not _state.callable_parts:
        _let_call_addresses()
    for function in _parts[_state.callable_parts:]:
        overload(function, {'error_model': 'numpy', 'forceinline': function in _inner},
                 strict=False)(lambda *_, function=function: function)
    _state.callable_parts = len(_parts)


def _let_call_addresses() -> None:
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


def compile_all() -> None:
    """Compile what there is, or load it from numba's cache; needs numba."""
    _let_call()
    for each in _formulas:
        each.address()
    for entry in _loops:
        entry.compile()
    _state.compiled = True
