"""Problems of goal files as the library solves them, without a node."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ros2_ik.core import (
    CollisionChecker,
    Configuration,
    Defaults,
    IKRequest,
    Robot,
    Scene,
)
from ros2_ik.messages.constraints import needs_checker, read_constraints
from ros2_ik.messages.requests import read_request, with_rules


def read_problem(goal: Any, robot: Robot, at: Any, timeout: float,
                 scene_of: Callable[[Any], Scene | None],
                 checker_of: Callable[[Scene], CollisionChecker]
                 ) -> tuple[IKRequest, CollisionChecker | None]:
    """
    Return the request of a goal, for a robot at `at` (nq,), and its collision checker.

    `timeout` [s] is for goals that have none, `scene_of` returns the scene for a robot that
    starts at q (nq,). Raises IKError.
    """
    request = read_request(goal, robot, Defaults(default_timeout=timeout), _no_tf).request
    start = robot.to_q(request.seed, at)
    scene = scene_of(start)
    checker = None
    if request.avoid_collisions or needs_checker(goal):
        scene = _holding(Scene(robot) if scene is None else scene, goal.seed, start)
        checker = checker_of(with_rules(scene, goal))
    constraints, costs = read_constraints(goal, robot, checker)
    return replace(request, constraints=constraints, costs=costs), checker


def _holding(scene: Scene, state: Any, start: Any) -> Scene:
    """Return the scene with what the goal's seed holds; those messages need ROS."""
    if not state.attached_collision_objects:
        return scene
    from ros2_ik.messages.planning_scenes import with_attached
    from ros2_ik.messages.scene_changes import ConversionContext
    now = ConversionContext(lambda joints: Configuration(scene.robot, start), _no_tf, 'exact',
                            lambda note: None)
    return with_attached(scene, state, now, 'seed.')


def _no_tf(robot: Any, frame: str) -> Any:
    raise LookupError('without a node there is no TF')
