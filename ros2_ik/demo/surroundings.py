"""What stands round the demo's robot, and questions about that."""

import numpy as np

from ros2_ik.cli.answer import WantedPose
from ros2_ik.core import (
    collision_checker,
    CollisionChecker,
    Configuration,
    IKProblem,
    load_scene,
    PoseTarget,
    Robot,
    Scene,
    ShippedRobot,
    solve,
)

TURNS = (np.diag([1.0, -1.0, -1.0]), np.eye(3),                    # down, up, forward
         np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]]))
SECONDS = 0.2    # for each place that could be asked for


def surroundings(robot: Robot, shipped: ShippedRobot, scene: str) -> CollisionChecker:
    """Return a checker of this process's own for a scene, '' for none; raises IKError."""
    found = load_scene(scene, robot, Configuration(robot, shipped.home)) if scene \
        else Scene(robot)
    return collision_checker(robot, found, missing='skip')


def inside_an_object(robot: Robot, shipped: ShippedRobot, tip: str,
                     scene: Scene) -> tuple[str, WantedPose] | None:
    """Find an object with a pose in its middle that the arm would reach, were it not there."""
    for item in scene.objects.values():
        for part in item.parts:
            for turn in TURNS:
                T = np.eye(4)
                T[:3, :3], T[:3, 3] = turn, (item.pose * part.pose).translation
                problem = IKProblem(robot, PoseTarget(tip, T), shipped.group, shipped.home,
                                    collisions=False)
                if solve(problem, timeout=SECONDS, random_state=0).success:
                    return item.id, WantedPose(tip, T, None, (1.0,) * 6)
    return None
