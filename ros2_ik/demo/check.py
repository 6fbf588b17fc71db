"""The demo's question to its node, and an independent check of the answer."""

import numpy as np

from ros2_ik.cli.answer import Answer, print_answer
from ros2_ik.cli.goal_client import ask_goal
from ros2_ik.cli.goal_file import goal_of
from ros2_ik.cli.node_client import NodeClient
from ros2_ik.cli.poses import components
from ros2_ik.core import (
    Array,
    collision_checker,
    Configuration,
    IKError,
    load_scene,
    Robot,
    Scene,
    shipped_robots,
)
from ros2_ik.core.internals import default_tip, Defaults

START = 120.0    # for the node to come up and to make its collision geometry [s]
TIMEOUT = 2      # of the search, also on a busy machine [s]
RANDOM_STATE = 7
TOLERANCE = 1e-4   # of the answer, larger than those of the node [m, rad]
NEAR = 0.5       # largest motion of a joint [rad, m]; parameter max_jump allows 1
STEPS = 21       # configurations on the path that are checked
TRIES = 1000     # draws of joint values, until nothing is in contact


class Cell:
    """A shipped robot in a scene ('' for none) with a collision checker; raises IKError."""

    def __init__(self, name: str, scene: str) -> None:
        self.robot, self.shipped, self.scene = Robot.load(name), shipped_robots()[name], scene
        self.tip = default_tip(self.robot, '', Defaults())
        home = Configuration(self.robot, self.shipped.home)
        self.checker = collision_checker(
            self.robot, load_scene(scene, self.robot, home) if scene else Scene(self.robot),
            missing='skip')
        self.target = self._reachable_pose()

    def _reachable_pose(self) -> Array:
        """
        Return a pose (4, 4) of the tip with the joints of its group near home.

        Nothing is in contact there, nor on the straight path; max_jump of the node allows it.
        """
        robot, shipped = self.robot, self.shipped
        names = (robot.group(shipped.group).joint_names if shipped.group
                 else robot.moving_joints(self.tip))
        random, home = np.random.default_rng(RANDOM_STATE), robot.to_q(shipped.home)
        lower, upper = np.maximum(robot.lower, home - NEAR), np.minimum(robot.upper, home + NEAR)
        for _ in range(TRIES):
            near = robot.to_joints(random.uniform(lower, upper), names)
            goal = robot.to_q(shipped.home | near)
            path = [Configuration(robot, home + t * (goal - home))
                    for t in np.linspace(1, 0, STEPS)]
            if not any(map(self.checker.collides, path)):
                return np.array(path[0].transform(self.tip))
        raise IKError(f'contact on the path to each of {TRIES} random configurations near home')

    def ask(self, client: NodeClient) -> Answer:
        """Ask the node for the target as soon as it can answer; raises BadQuestion."""
        pose = components(self.target)
        target = {'tip': self.tip, 'xyz': pose['xyz'], 'quat': pose['quat']}
        goal = goal_of({'targets': [target], 'timeout': {'sec': TIMEOUT}})
        return ask_goal(client, goal, START)

    def holds(self, answer: Answer) -> bool:
        """Print an answer; returns whether kinematics, limits and this checker agree with it."""
        print_answer(answer, self.robot)
        at = Configuration(self.robot, self.shipped.home | answer.values)
        touching = self.checker.in_collision(at)
        print('checked here: ' + ('; '.join(map(str, touching)) or 'nothing touches'))
        inside = np.all((self.robot.lower - 1e-6 <= at.q) & (at.q <= self.robot.upper + 1e-6))
        good = (answer.success and not touching and inside
                and np.allclose(at.transform(self.tip), self.target, rtol=0, atol=TOLERANCE))
        print('the answer holds' if good else 'the answer does NOT hold')
        return bool(good)
