"""From a question to the problem that core solves."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pinocchio as pin

from ros2_ik.core import (
    Budget,
    CollisionChecker,
    Configuration,
    IKProblem,
    JointChangeBound,
    JointCoupling,
    JointPositions,
    KinematicFunction,
    PairDistance,
    PoseTarget,
    Robot,
    Search,
    Status,
)
from ros2_ik.node.conversions.constraints import NOTHING, Wanted
from ros2_ik.node.conversions.questions import Question
from ros2_ik.node.refusal import Refusal


def base_joint(robot: Robot) -> str | None:
    """Name of the joint by which the robot's root moves in the world, if it does."""
    return None if robot.root_joint == 'fixed' else robot.joints[0].name


def settled(question: Question, robot: Robot, wanted: Wanted) -> Question:
    """
    Return the question without the default group if that one cannot do what is wanted.

    It can if it moves each frame and link that a function names, and has each joint that one
    names; a hard constraint on joints that names none is about all of them.
    """
    if question.default_group and question.group:
        group = frozenset(robot.group(question.group).joint_names)
        hard = [constraint.function for constraint in wanted.constraints]
        if not (all(_moved(group, function, robot) for function in wanted.functions)
                and all(_has_joints(group, function, robot, function in hard)
                        for function in wanted.functions)):
            return question._replace(group='')
    return question


def _moved(group: frozenset[str], function: KinematicFunction, robot: Robot) -> bool:
    """Whether joints of a group move each body that a function names, and change its value."""
    movers = [robot.moving_joints(body) for body in _bodies(function, robot)]
    return all(not joints or joints & group for joints in (
        each - _still(robot) for each in (*movers, function.joints(robot))))


def _bodies(function: KinematicFunction, robot: Robot) -> Iterator[str]:
    """Frames and links that a function names; for what is held, the link that holds it."""
    if isinstance(function, PairDistance):
        held = function.checker.scene.attached
        ends = (held[end].link if end in held else end
                for end in (function.first, function.second))
        yield from (end for end in ends if end in robot.frame_names)   # others are in the world
        return
    yield from getattr(function, 'links', None) or ()
    for frame in (getattr(function, 'frame', None), getattr(function, 'relative_to', None)):
        if frame is not None:
            yield frame


def _has_joints(group: frozenset[str], function: KinematicFunction, robot: Robot,
                hard: bool) -> bool:
    """Return whether a group has each joint that a function is about by name."""
    spec = function.spec
    if not isinstance(spec, (JointPositions, JointCoupling)):
        return True
    named = hard or spec.names is not None
    return not named or function.joints(robot) - _still(robot) <= group


def _still(robot: Robot) -> frozenset[str | None]:
    """Joints that only a group moves that is named."""
    return robot.passive_joints | {base_joint(robot)}


def free_joints(question: Question, robot: Robot, wanted: Wanted = NOTHING) -> frozenset[str]:
    """
    Joints that the solution may move; the base only does when the group has it.

    Raises Refusal for a tip that none of them moves.
    """
    moving = [robot.moving_joints(tip, frame.frame if question.follow_frames else None)
              for tip, frame in zip(question.tips, question.references, strict=True)]
    if question.group:
        free = frozenset(robot.group(question.group).joint_names)
    else:
        used = (function.joints(robot) for function in wanted.functions)
        free = frozenset[str]().union(*moving, *used) - robot.passive_joints - {base_joint(robot)}
    free -= question.locked
    for tip, frame, movers in zip(question.tips, question.references, moving, strict=True):
        if not movers & free:
            who = f"group '{question.group}' does" if question.group else 'the joints do'
            to = f" relative to '{frame.frame}'" if question.follow_frames and frame.frame else ''
            raise Refusal(Status.INVALID_LINK_NAME, f"{who} not move '{tip}'{to}")
    return free


def needed_joints(question: Question, robot: Robot, free: frozenset[str],
                  wanted: Wanted = NOTHING) -> frozenset[str]:
    """Joints without whose values in the start state the question has no definite meaning."""
    needed = frozenset[str]()
    for tip, frame in zip(question.tips, question.references, strict=True):
        needed |= robot.moving_joints(tip, frame.frame) - free
        if frame.frame and not question.follow_frames:
            needed |= robot.moving_joints(frame.frame) & free
    if wanted is not NOTHING:
        functions = [constraint.function for constraint in wanted.constraints]
        functions += [cost.function for cost in wanted.costs    # there each joint is by itself
                      if not isinstance(cost.function.spec, JointPositions)]
        for function in functions:
            if not hasattr(function, 'checker'):   # those are for what is checked
                needed |= function.joints(robot) - free
    return needed


def make_problem(question: Question, robot: Robot, start: np.ndarray,
                 checker: CollisionChecker | None = None, wanted: Wanted = NOTHING) -> IKProblem:
    """
    Make the problem; `start` (nq,) has the locked joints' values.

    With a checker, solutions are to touch nothing; without, contacts are allowed. Raises IKError.
    """
    targets = [_target(question, i, robot, start) for i in range(len(question.tips))]
    base = base_joint(robot)
    locked = question.locked | ({base} if base and not question.group else set())
    return IKProblem(robot, targets, question.group or None, start, locked, wanted.constraints,
                     wanted.costs, checker=checker, collisions=checker is not None)


def make_search(question: Question, problem: IKProblem, budget: Budget,
                standing: np.ndarray | None = None) -> Search:
    """
    Make the search that answers a question; raises IKError.

    Where parameter max_jump bounds it, it does so from where the robot is `standing` (nq,).
    """
    bound = question.max_joint_change
    if question.bound_by_parameter and bound is not None:
        origin = problem.start if standing is None else standing
        problem = problem.bounded(JointChangeBound.of(problem.robot, origin, bound))
        bound = None
    seeds = [problem.start, *question.more_seeds] if question.more_seeds else None
    return Search(problem, seeds, solver=question.solver, select=question.select,
                  solutions=question.solutions, allow_restarts=question.allow_restarts,
                  budget=budget, random_state=question.random_state, turns=question.turns,
                  approximate=question.approximate,
                  max_joint_change=bound,
                  options=question.solver_options)


def _target(question: Question, i: int, robot: Robot, start: np.ndarray) -> PoseTarget:
    pose: Any = question.poses[i]
    frame, offset, _ = question.references[i]
    if offset is not None:
        pose = offset * pose
    if frame is not None and not question.follow_frames:
        pose, frame = frame_placement(robot, start, frame) * pose, None
    return PoseTarget(question.tips[i], pose, frame, question.weights[i],
                      question.position_tolerance, question.orientation_tolerance)


def frame_placement(robot: Robot, q: np.ndarray, frame: str) -> pin.SE3:
    """Return the pose of a frame in the root frame at q (nq,)."""
    return Configuration(robot, q, robot.scratch_data()).placement(frame)
