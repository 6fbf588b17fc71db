"""A function given by a user's Python callable."""

from collections.abc import Callable, Sequence

import numpy as np

from ros2_ik.core.arrays import Array, ArrayLike
from ros2_ik.core.checks import distinct_names, floats, whole
from ros2_ik.core.errors import InvalidConstraintError
from ros2_ik.core.functions.kinematic_function import KinematicFunction, register_function
from ros2_ik.core.robot import Configuration, Robot

# step of central differences [rad, m]; the optimum is near the cube root of the rounding error
_STEP = 1e-6


@register_function('user_function')
class UserFunction(KinematicFunction):
    """
    Value of a user's callable at a configuration, (m,).

    `function(configuration)` returns m numbers, or one number if m is 1. `labels` are the names of
    the rows with units, or the number of rows m. `jacobian(configuration)` returns (m, nv); the
    default, central differences in the tangent space, needs a function that is smooth over
    2e-6 rad or m. `joints` are the names of the joints that change the function, by default all;
    fewer joints need fewer evaluations. `name` is used in error messages. The function can be
    pickled if its callables can.

    Raises InvalidConstraintError for results that are not finite or have a wrong shape. Exceptions
    of the callables propagate.
    """

    labels: tuple[str, ...] = ()
    is_user_code = True

    def __init__(self, function: Callable[[Configuration], 'ArrayLike'],
                 labels: Sequence[str] | int = 1,
                 jacobian: Callable[[Configuration], 'ArrayLike'] | None = None,
                 joints: Sequence[str] | None = None, name: str | None = None) -> None:
        self.name = str(name or getattr(function, '__name__', type(function).__name__))
        for what, given in (('function', function), ('jacobian', jacobian)):
            if not (callable(given) or (what == 'jacobian' and given is None)):
                raise InvalidConstraintError(f'{what} must be callable, not {given!r}')
        self.function, self.given_jacobian = function, jacobian
        self.given_joints = (None if joints is None
                             else distinct_names(joints, 'joints', InvalidConstraintError))
        self.labels = _labels(labels, self.name)

    def joints(self, robot: Robot) -> frozenset[str]:
        names = robot.joint_names if self.given_joints is None else self.given_joints
        return frozenset(robot.joint(name).name for name in names)

    def value(self, at: Configuration) -> Array:
        return self._checked(self.function(at), 'value', (len(self.labels),))

    def evaluate(self, at: Configuration) -> tuple[Array, Array]:
        return self.value(at), self.jacobian(at)

    def jacobian(self, at: Configuration) -> Array:
        if self.given_jacobian is not None:
            return self._checked(self.given_jacobian(at), 'Jacobian',
                                 (len(self.labels), at.robot.nv))
        return self._differences(at)

    def _differences(self, at: Configuration) -> Array:
        robot = at.robot
        J, v = np.zeros((len(self.labels), robot.nv)), np.zeros(robot.nv)
        probe = Configuration(robot, at.q)
        for name in self.joints(robot):
            joint = robot.joint(name)
            for column in range(*joint.columns.indices(robot.nv)):
                ends = []
                for v[column] in (_STEP, -_STEP):
                    probe.update(at.integrate(v))
                    ends.append(self.value(probe))
                v[column] = 0
                J[:, column] = (ends[0] - ends[1]) / (2 * _STEP)
        return J

    def _checked(self, result: object, what: str, shape: tuple[int, ...]) -> Array:
        """Return a checked copy of a result, because the callable may reuse its buffer."""
        what = f"the {what} of user function '{self.name}'"
        if result is None:
            raise InvalidConstraintError(f'{what} is None; is a return statement missing?')
        array = floats(result, what, f'{shape} numbers', InvalidConstraintError)
        if array.shape == () and shape == (1,):
            array = array.reshape(1)
        if array.shape != shape:
            raise InvalidConstraintError(f'{what} must be of shape {shape}, not {array.shape}')
        if not np.isfinite(array).all():
            raise InvalidConstraintError(f'{what} is not finite: {array.tolist()}')
        return array

    def __str__(self) -> str:
        return f'{self.kind} {self.name}'


def _labels(labels: object, name: str) -> tuple[str, ...]:
    if isinstance(labels, (int, np.integer)):
        size = whole(labels, 'labels', InvalidConstraintError)
        return (name,) if size == 1 else tuple(f'{name} {row}' for row in range(size))
    return distinct_names(labels, 'labels', InvalidConstraintError)
