"""The demo's request to its node, and an independent check of the answer."""

import numpy as np

from ros2_ik.cli.answer import Answer, print_answer
from ros2_ik.cli.arguments import BadQuestion
from ros2_ik.cli.goal_client import ask_goal
from ros2_ik.cli.goal_file import goal_of
from ros2_ik.cli.node_client import NodeClient
from ros2_ik.cli.values import components
from ros2_ik.core import collision_checker, Configuration, load_scene, Robot, Scene, shipped_robots
from ros2_ik.core.internals import default_tip, Defaults

START_TIMEOUT = 120.0   # for the node to start and to create its collision geometry [s]
SEARCH_TIMEOUT = 2      # of the request, long enough for a busy machine [s]
RANDOM_STATE = 7
TOLERANCE = 1e-4        # entrywise, of the checked pose; above the node's tolerances [m, 1]
MAX_DISPLACEMENT = 0.5  # of a joint of the goal from home [rad, m]; below the node's max_jump of 1
N_PATH_SAMPLES = 21     # configurations on the path that are checked for contacts
MAX_TRIES = 1000        # random configurations until a path is free


class Cell:
    """A shipped robot in a scene ('': empty), with its own collision checker."""

    def __init__(self, name: str, scene: str) -> None:
        self.robot, self.shipped, self.scene = Robot.load(name), shipped_robots()[name], scene
        self.tip = default_tip(self.robot, '', Defaults())
        home = Configuration(self.robot, self.shipped.home)
        self.checker = collision_checker(
            self.robot, load_scene(scene, self.robot, home) if scene else Scene(self.robot),
            missing='skip')
        self.target = np.array(self._reachable().transform(self.tip))     # T_root_tip (4, 4)

    def _reachable(self) -> Configuration:
        """Return a random configuration with a free straight path of joints from home."""
        robot, shipped = self.robot, self.shipped
        names = (robot.group(shipped.group).joint_names if shipped.group
                 else robot.moving_joints(self.tip))
        random, home = np.random.default_rng(RANDOM_STATE), robot.to_q(shipped.home)
        lower = np.maximum(robot.lower, home - MAX_DISPLACEMENT)
        upper = np.minimum(robot.upper, home + MAX_DISPLACEMENT)
        for _ in range(MAX_TRIES):
            goal = robot.to_q(robot.to_joints(random.uniform(lower, upper), names), home)
            # from the goal (t = 1) back to home
            path = [Configuration(robot, home + t * (goal - home))
                    for t in np.linspace(1, 0, N_PATH_SAMPLES)]
            if not any(map(self.checker.collides, path)):
                return path[0]
        raise BadQuestion(f'contact on the paths to {MAX_TRIES} random configurations near home')

    def ask(self, client: NodeClient) -> Answer:
        """Request the target from the node, and retry while it starts; raises BadQuestion."""
        pose = components(self.target)
        target = {'tip': self.tip, 'xyz': pose['xyz'], 'quat': pose['quat']}
        goal = goal_of({'targets': [target], 'timeout': {'sec': SEARCH_TIMEOUT}})
        return ask_goal(client, goal, START_TIMEOUT)

    def holds(self, answer: Answer) -> bool:
        """Print an answer and its check; return whether pose, limits and contacts are right."""
        print_answer(answer, self.robot)
        at = Configuration(self.robot, self.shipped.home | answer.values)
        contacts = self.checker.in_collision(at)
        # own arithmetic and an own checker, independent of the node
        print('independent check: ' + ('; '.join(map(str, contacts)) or 'no contacts'))
        inside = np.all((self.robot.lower - 1e-6 <= at.q) & (at.q <= self.robot.upper + 1e-6))
        good = (answer.success and not contacts and inside
                and np.allclose(at.transform(self.tip), self.target, rtol=0, atol=TOLERANCE))
        print('the answer holds' if good else 'the answer does NOT hold')
        return bool(good)
