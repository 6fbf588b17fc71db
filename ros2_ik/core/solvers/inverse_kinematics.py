"""A Drake-compatible interface: an IK problem built by method calls."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
import math
from typing import Any, TypeVar

import numpy as np

from ros2_ik.core.arrays import Array, ArrayLike, JointValues, Pose
from ros2_ik.core.checks import as_list, between, finite, flag, floats, instance, matrix, positive
from ros2_ik.core.collision import collision_checker, CollisionChecker, self_collision_check
from ros2_ik.core.errors import InvalidConstraintError, InvalidOptionError
from ros2_ik.core.functions import (
    AngleBetweenVectors,
    FrameOrientation,
    FramePosition,
    GazeAngle,
    JointPositions,
    KinematicFunction,
    MinimumDistance,
    PairDistance,
    PointToLineDistance,
    PointToPointDistance,
    Polyhedron,
    UserFunction,
)
from ros2_ik.core.functions.fields import Matrix
from ros2_ik.core.problem import (
    Constraint,
    Cost,
    IKProblem,
    IKSolution,
    LeastSquares,
    PoseTarget,
    ScalarCost,
)
from ros2_ik.core.robot import Configuration, Robot
from ros2_ik.core.scene import Scene
from ros2_ik.core.solvers.solve import solve

# smallest influence distance of a minimum-distance constraint [m]
MIN_INFLUENCE = 0.1
# influence distance of a constraint with an upper bound, larger than any arm's workspace [m]
MAX_INFLUENCE = 100.0
Vector = Sequence[float] | Array
Part = TypeVar('Part', Constraint, Cost, PoseTarget)


class InverseKinematics:
    """
    Drake's InverseKinematics in snake_case; the argument order is Drake's, except for X_AbarA.

    Frames are names, or None for the root frame. The names of points give their frame: p_AQ is
    point Q in frame A [m]. Angles are in radians. Bounds are inclusive, and may be infinite,
    except angles limited to [0, pi] and minimum distances. Each `add_` method returns the
    Constraint, Cost or PoseTarget that it added, which is also the handle for `remove`.

    `locked` {joint: value} keeps joints exactly at these values, even outside their limits;
    `with_joint_limits` False ignores the limits of all other joints. Joints on which no target,
    constraint or cost depends stay at the seed. Collisions and distances are checked for the robot
    and the `scene` (default: an empty scene); `collisions` False allows contacts. `meshes` selects
    the collision geometry of mesh files, see `robot_geometry`.

        ik = InverseKinematics(Robot.load('panda'), locked={'panda_joint1': 0.3})
        ik.add_gaze_target_constraint('panda_hand', [0, 0, 0], [0, 0, 1], None, [0.6, 0.2, 0], 0.1)
        ik.add_posture_cost(ik.robot.neutral)
        solution = ik.solve()

    Differences from Drake: invalid bounds and NaN raise InvalidConstraintError in the `add_`
    method; orientation constraints bound the true angle, and a bound may be zero; a failed descent
    is followed by restarts.
    """

    def __init__(self, robot: Robot, with_joint_limits: bool = True, scene: Scene | None = None,
                 locked: Mapping[str, float | Array] | None = None, meshes: str = 'exact',
                 collisions: bool = True) -> None:
        instance(robot, Robot, 'robot', InvalidOptionError)
        if scene is not None:
            instance(scene, Scene, 'scene', InvalidOptionError)
        if not isinstance(locked, (Mapping, type(None))):
            raise InvalidOptionError(f'locked must be a mapping {{joint: value}}, not {locked!r}')
        self.robot = robot if scene is None else scene.framed_robot(robot=robot)
        self.meshes = meshes
        self.with_joint_limits = flag(with_joint_limits, 'with_joint_limits', InvalidOptionError)
        self.collisions = flag(collisions, 'collisions', InvalidOptionError)
        self.scene, self._alone = Scene(robot) if scene is None else scene, scene is None
        self.locked = {robot.joint(name).name: value for name, value in (locked or {}).items()}
        self._parts: list[Constraint | Cost | PoseTarget] = []
        self._last: IKProblem | None = None
        self._best_q = self._start(None)

    @property
    def configuration(self) -> Configuration:
        """The robot at `best_q` of the last solution; before `solve`, at the default seed."""
        return Configuration(self.robot, self._best_q)

    # -- constraints ----------------------------------------------------------------------

    def add_position_constraint(self, frame_B: str | None, p_BQ: Vector, frame_A: str | None,
                                p_AQ_lower: 'ArrayLike', p_AQ_upper: 'ArrayLike',
                                X_AbarA: Pose | None = None) -> Constraint:
        """
        Keep point Q of frame B within a box of frame A: p_AQ_lower <= p_AQ <= p_AQ_upper [m].

        X_AbarA, a (4, 4) array or pinocchio.SE3, is the pose of the box axes in `frame_A`, by
        default the identity. (In Drake, X_AbarA comes before the bounds.)
        """
        return self.add_constraint(FramePosition(self._frame(frame_B), p_BQ, frame_A, X_AbarA),
                                   p_AQ_lower, p_AQ_upper)

    def add_orientation_constraint(self, frame_Abar: str | None, R_AbarA: Pose,
                                   frame_Bbar: str | None, R_BbarB: Pose,
                                   theta_bound: float) -> Constraint:
        """
        Keep the rotation angle of R_AB = R_AbarA^T R_AbarBbar R_BbarB at most theta_bound [rad].

        A bound of pi or more has no effect.
        """
        theta = _bound(theta_bound, 'theta_bound')
        return self.add_constraint(
            FrameOrientation(self._frame(frame_Bbar), R_AbarA, frame_Abar, R_BbarB, form='angle'),
            upper=theta if theta < math.pi else math.inf)

    def add_gaze_target_constraint(self, frame_A: str | None, p_AS: Vector, n_A: Vector,
                                   frame_B: str | None, p_BT: Vector,
                                   cone_half_angle: float) -> Constraint:
        """Keep point T of B in the cone with apex S, axis n_A and half angle in [0, pi] [rad]."""
        half = _bound(cone_half_angle, 'cone_half_angle', math.pi)
        return self.add_constraint(GazeAngle(self._frame(frame_A), p_AS, n_A, p_BT, frame_B),
                                   upper=half)

    def add_angle_between_vectors_constraint(self, frame_A: str | None, na_A: Vector,
                                             frame_B: str | None, nb_B: Vector,
                                             angle_lower: float, angle_upper: float) -> Constraint:
        """Keep the angle between na_A and nb_B within bounds in [0, pi] [rad]."""
        return self.add_constraint(AngleBetweenVectors(self._frame(frame_B), nb_B, na_A, frame_A),
                                   _bound(angle_lower, 'angle_lower', math.pi),
                                   _bound(angle_upper, 'angle_upper', math.pi))

    def add_point_to_point_distance_constraint(
            self, frame1: str | None, p_B1P1: Vector, frame2: str | None, p_B2P2: Vector,
            distance_lower: float, distance_upper: float) -> Constraint:
        """Keep the distance between P1 and P2 within bounds [m]."""
        return self.add_constraint(
            PointToPointDistance(self._frame(frame1), p_B1P1, p_B2P2, frame2),
            _bound(distance_lower, 'distance_lower'), _bound(distance_upper, 'distance_upper'))

    def add_point_to_line_distance_constraint(
            self, frame_point: str | None, p_B1P: Vector, frame_line: str | None, p_B2Q: Vector,
            n_B2: Vector, distance_lower: float, distance_upper: float) -> Constraint:
        """Keep the distance from P to the line through Q along n_B2 within bounds [m]."""
        return self.add_constraint(
            PointToLineDistance(self._frame(frame_point), p_B1P, p_B2Q, n_B2, frame_line),
            _bound(distance_lower, 'distance_lower'), _bound(distance_upper, 'distance_upper'))

    def add_polyhedron_constraint(self, frame_F: str | None, frame_G: str | None,
                                  p_GP: 'ArrayLike', A: 'Matrix', b: 'ArrayLike') -> Constraint:
        """Keep A [p_FP1; ...; p_FPn] <= b for the columns of p_GP (3, n); A is (m, 3n)."""
        points = matrix(p_GP, 'p_GP', None, InvalidConstraintError)
        if len(points) != 3:
            raise InvalidConstraintError(f'p_GP must be of shape (3, n), not {points.shape}')
        return self.add_constraint(Polyhedron(self._frame(frame_G), points.T, A, frame_F), upper=b)

    @cached_property
    def _checker(self) -> CollisionChecker:
        # loading the meshes is slow: wait until the checker is needed. Without a scene, use the
        # cached checker of the robot, which is None if the robot has no pair to check
        own = self_collision_check(self.robot, self.meshes).checker if self._alone else None
        return own or collision_checker(self.robot, self.scene, self.meshes)

    def add_minimum_distance_lower_bound_constraint(
            self, bound: float, influence_distance_offset: float = 0.01) -> Constraint:
        """
        Keep all checked pairs of bodies at least `bound` [m] apart.

        A negative bound (a penetration depth) has an effect only if `collisions` is False. Pairs
        farther apart than `bound` + `influence_distance_offset` [m] are ignored; both the offset
        and the sum are raised to at least 0.1 m, so that steps are limited before pairs get close.
        """
        offset = positive(influence_distance_offset, 'influence_distance_offset',
                          InvalidConstraintError)
        least = finite(bound, 'bound', InvalidConstraintError)
        influence = max(least + max(offset, MIN_INFLUENCE), MIN_INFLUENCE)
        return self._added(Constraint(MinimumDistance(self._checker, influence), lower=least))

    def add_minimum_distance_upper_bound_constraint(
            self, bound: float, influence_distance_offset: float = 0.01) -> Constraint:
        """
        Keep the smallest distance of all checked pairs at most `bound` [m].

        Differences from Drake: if there is no pair, the constraint is violated. The distance has a
        gradient up to 100 m, so `influence_distance_offset` is validated but not used.
        """
        positive(influence_distance_offset, 'influence_distance_offset', InvalidConstraintError)
        most = finite(bound, 'bound', InvalidConstraintError)
        return self._added(Constraint(MinimumDistance(self._checker, MAX_INFLUENCE, rows=1),
                                      upper=most))

    def add_distance_constraint(self, geometry_pair: Sequence[str], distance_lower: float,
                                distance_upper: float) -> Constraint:
        """Keep the signed distance [m] of two links or objects within bounds."""
        pair = as_list(geometry_pair)
        if pair is None or len(pair) != 2:
            raise InvalidConstraintError('geometry_pair must be the names of two links or '
                                         f'objects, not {geometry_pair!r}')
        return self._added(Constraint(PairDistance(self._checker, *pair), distance_lower,
                                      distance_upper))

    def add_joint_constraint(self, names: str | Sequence[str] | None, lower: 'ArrayLike',
                             upper: 'ArrayLike') -> Constraint:
        """
        Keep joints (None: all) within bounds [rad] or [m], in addition to their limits.

        Full turns of a continuous joint do not count: the bounds apply to its angle in (-pi, pi],
        or, if both bounds are finite, to its angle within half a turn of their middle.
        """
        if names is None or isinstance(names, str):
            names = self.robot.joint_names if names is None else [names]
        rows = JointPositions(names).bind(self.robot)
        given = Constraint(rows, lower, upper)
        # shift angles by the middle of their bounds, so that (-pi, pi] is centred at the middle
        is_shifted = rows.turns & np.isfinite(given.lower) & np.isfinite(given.upper)
        middle = (np.where(is_shifted, given.lower, 0.0) / 2
                  + np.where(is_shifted, given.upper, 0.0) / 2)
        return self._added(Constraint(replace(rows, offset=rows.offset - middle),
                                      given.lower - middle, given.upper - middle))

    def add_constraint(self, function: KinematicFunction | Callable[[Configuration], 'ArrayLike'],
                       lower: Any = None, upper: Any = None, *, name: str | None = None,
                       tolerance: float = 1e-6) -> Constraint:
        """
        Keep lower <= function <= upper in each row, within `tolerance`.

        At least one bound is required. A plain callable of a configuration must return as many
        numbers as the bounds have.
        """
        if not isinstance(function, KinematicFunction):
            function = UserFunction(function, max(np.size(lower), np.size(upper)))
        if lower is None and upper is None:
            raise InvalidConstraintError(f'{name or function} has no bounds; valid: lower, upper '
                                         'or both')
        return self._added(Constraint(function, -np.inf if lower is None else lower,
                                      np.inf if upper is None else upper, name, tolerance))

    def add_pose_target(self, tip: str, target: Pose, relative_to: str | None = None,
                        **options: Any) -> PoseTarget:
        """Bring a frame to a pose, within tolerances; the arguments are those of PoseTarget."""
        self.robot.moving_joints(tip, relative_to)
        return self._added(PoseTarget(tip, target, relative_to, **options))

    # -- costs ----------------------------------------------------------------------------

    def add_position_cost(self, frame_A: str | None, p_AP: Vector, frame_B: str | None,
                          p_BQ: Vector, C: 'ArrayLike') -> Cost:
        """
        Add the cost e^T C e with e = p_AQ - p_AP [m] in frame A.

        C is (3, 3); its symmetric part must be positive semidefinite.
        """
        C = matrix(C, 'C', 3, InvalidConstraintError)
        if len(C) != 3:
            raise InvalidConstraintError(f'C must be of shape (3, 3), not {C.shape}')
        return self.add_cost(FramePosition(self._frame(frame_B), p_BQ, frame_A), p_AP, C + C.T)

    def add_orientation_cost(self, frame_Abar: str | None, R_AbarA: Pose, frame_Bbar: str | None,
                             R_BbarB: Pose, c: float) -> Cost:
        """Add c (1 - cos theta), c >= 0, for the angle theta of add_orientation_constraint."""
        return self.add_cost(
            FrameOrientation(self._frame(frame_Bbar), R_AbarA, frame_Abar, R_BbarB, form='chord'),
            weight=_bound(c, 'c'))

    def add_angle_between_vectors_cost(self, frame_A: str | None, na_A: Vector,
                                       frame_B: str | None, nb_B: Vector, c: float) -> Cost:
        """Add c (1 - cos angle), c >= 0, for the angle between na_A and nb_B."""
        return self.add_cost(
            AngleBetweenVectors(self._frame(frame_B), nb_B, na_A, frame_A, form='chord'),
            weight=_bound(c, 'c'))

    def add_posture_cost(self, q_nominal: JointValues, weight: 'ArrayLike' = 1.0) -> Cost:
        """
        Add sum w (q - q_nominal)^2, without a factor 1/2, like Drake's AddQuadraticErrorCost.

        `q_nominal` is an array of all joints, or a mapping from the joints in the cost to values.
        `weight` is one number, one number for each of these joints, or a matrix.
        """
        names = list(q_nominal) if isinstance(q_nominal, Mapping) else None
        doubled = 2 * floats(weight, 'weight', 'a number, one per joint or a matrix',
                             InvalidConstraintError)
        return self.add_cost(JointPositions(names, q_nominal), weight=doubled)

    def add_cost(self, function: KinematicFunction | Cost | Callable[[Configuration], float],
                 target: 'ArrayLike' = 0.0, weight: Any = 1.0) -> Cost:
        """
        Add a cost.

        A KinematicFunction f adds 1/2 (f - target)^T W (f - target) with W = `weight`. A callable
        of a configuration adds its result times `weight`. A Cost is added unchanged. Raises
        InvalidConstraintError for a target or weight that does not apply.
        """
        if isinstance(function, KinematicFunction):
            return self._added(LeastSquares(function, target, weight))
        if not _is(target, 0) or isinstance(function, Cost) and not _is(weight, 1):
            raise InvalidConstraintError(f'target and weight do not apply to {function!r}; '
                                         'valid: both for a KinematicFunction, weight for a '
                                         'callable')
        return self._added(function if isinstance(function, Cost)
                           else ScalarCost(function, weight=weight))

    # -- the problem ----------------------------------------------------------------------

    def remove(self, handle: Constraint | Cost | PoseTarget) -> None:
        """Remove a target, constraint or cost by its handle; raises InvalidConstraintError."""
        kept = [part for part in self._parts if part is not handle]
        if len(kept) == len(self._parts):
            raise InvalidConstraintError(f'{handle!r} is not in this problem; valid: a handle '
                                         'from one of its add_ methods, not yet removed')
        self._parts = kept

    @property
    def problem(self) -> IKProblem:
        """A new IKProblem with all constraints, costs and targets that were added."""
        return self._problem(None)

    def solve(self, seed: JointValues | None = None, **options: Any) -> IKSolution:
        """
        Solve from a seed, and set `configuration` to `best_q`.

        The options are those of the function `solve`. Joints missing from the seed start at
        `robot.neutral`. Locked joints start at their locked values, whatever the seed.
        """
        solution = solve(self._problem(seed), **options)
        self._best_q = solution.best_q
        return solution

    def _problem(self, seed: JointValues | None) -> IKProblem:
        parts, start = self._parts, self._start(seed)
        targets = [part for part in parts if isinstance(part, PoseTarget)]
        constraints = [part for part in parts if isinstance(part, Constraint)]
        costs = [part for part in parts if isinstance(part, Cost)]
        last = self._last
        # reuse the checks and the checker of the last problem if only `_parts` and start differ
        if last is not None and (last.joint_limits, last.collisions, last.locked_joints) == (
                self.with_joint_limits, self.collisions, frozenset(self.locked)):
            self._last = last.with_terms(targets, constraints, costs, start)
        else:
            checker = self._checker if self.collisions else None
            self._last = IKProblem(self.robot, targets, None, start, tuple(self.locked),
                                   constraints, costs, self.with_joint_limits, checker,
                                   self.collisions)
        return self._last

    def _start(self, seed: JointValues | None) -> Array:
        q = self.robot.to_q(seed, what='seed')
        return self.robot.to_q(self.locked, q) if self.locked else q

    def _frame(self, name: str | None) -> str:
        return self.robot.root_frame if name is None else name

    def _added(self, part: Part) -> Part:
        if not isinstance(part, PoseTarget):
            part = part.bind(self.robot)
        self._parts.append(part)
        return part


def _bound(value: object, name: str, most: float = math.inf) -> float:
    return between(value, name, 0.0, most, InvalidConstraintError)


def _is(value: object, number: float) -> bool:
    return as_list(value) is None and bool(value == number)
