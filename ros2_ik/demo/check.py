"""The demo's questions to its node, and an independent check of the answers."""

from typing import NamedTuple

import numpy as np

from ros2_ik.cli.answer import Answer, print_answer, WantedPose
from ros2_ik.cli.node_answer import ask_ik, ik_request
from ros2_ik.cli.node_client import NodeClient
from ros2_ik.cli.question import BadQuestion
from ros2_ik.core import (
    collision_checker,
    CollisionChecker,
    Configuration,
    default_tip,
    Defaults,
    IKProblem,
    load_scene,
    PoseTarget,
    Robot,
    Scene,
    shipped_robots,
    ShippedRobot,
    solve,
)
from ros2_ik.srv import ComputeIK

START = 120.0    # seconds for the node to come up and to make its collision geometry
TIMEOUT = 2.0    # seconds for the search: a busy machine is not the node's fault
RANDOM_STATE = 7
POSITION_TOLERANCE, ORIENTATION_TOLERANCE = 1e-5, 1e-4
NEAR = 0.5       # largest motion of a joint [rad, m]; parameter max_jump allows 1
STEPS = 21       # configurations on the way that are checked
TRIES = 1000     # draws of joint values, until nothing touches
SECONDS = 0.2    # for each pose in an object that is tried
# orientations of the tip in an object: down, up, forward
TURNS = (np.diag([1.0, -1.0, -1.0]), np.eye(3), np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]]))


class Cell(NamedTuple):
    """A shipped robot in a scene, with a collision checker of this process's own."""

    shipped: ShippedRobot
    robot: Robot
    tip: str
    checker: CollisionChecker


def load_cell(name: str, scene: str) -> Cell:
    """Load a shipped robot and a scene, '' for none; raises IKError."""
    robot = Robot.load(name)
    shipped = shipped_robots()[name]
    around = load_scene(scene, robot, Configuration(robot, shipped.home)) if scene \
        else Scene(robot)
    return Cell(shipped, robot, default_tip(robot, '', Defaults()),
                collision_checker(robot, around, missing='skip'))


def ask(client: NodeClient, cell: Cell, wanted: WantedPose) -> Answer:
    """Ask for a pose as soon as the node can answer; raises BadQuestion."""
    service = client.connect(ComputeIK, 'compute_ik', START)
    request = ik_request([wanted], {}, TIMEOUT, position_tolerance=POSITION_TOLERANCE,
                         orientation_tolerance=ORIENTATION_TOLERANCE)
    return ask_ik(client, service, request, [wanted], {}, START)


def reachable_pose(cell: Cell) -> WantedPose:
    """
    Return a pose of the robot's tip with the joints of its group near home.

    Nothing touches there, nor on the straight way; the node's own bound on motions allows it.
    Raises BadQuestion if something always does.
    """
    shipped, robot = cell.shipped, cell.robot
    names = (robot.group(shipped.group).joint_names if shipped.group
             else robot.moving_joints(cell.tip))
    random, home = np.random.default_rng(RANDOM_STATE), robot.to_q(shipped.home)
    lower, upper = np.maximum(robot.lower, home - NEAR), np.minimum(robot.upper, home + NEAR)
    for _ in range(TRIES):
        near = robot.to_joints(random.uniform(lower, upper), names)
        goal = robot.to_q(shipped.home | near)
        way = [Configuration(robot, home + t * (goal - home)) for t in np.linspace(1, 0, STEPS)]
        if not any(map(cell.checker.collides, way)):
            return WantedPose(cell.tip, way[0].transform(cell.tip), None, (1.0,) * 6)
    touching = next(filter(None, map(cell.checker.in_collision, way)))
    raise BadQuestion(f'on the way to {TRIES} random configurations something always touched: '
                      + '; '.join(map(str, touching)))


def pose_in_an_object(cell: Cell) -> tuple[str, WantedPose] | None:
    """Return an object, and a pose in its middle that the arm reaches without collision checks."""
    for item in cell.checker.scene.objects.values():
        for part in item.parts:
            for turn in TURNS:
                T = np.eye(4)
                T[:3, :3], T[:3, 3] = turn, (item.pose * part.pose).translation
                problem = IKProblem(cell.robot, PoseTarget(cell.tip, T), cell.shipped.group,
                                    cell.shipped.home, collisions=False)
                if solve(problem, timeout=SECONDS, random_state=0).success:
                    return item.id, WantedPose(cell.tip, T, None, (1.0,) * 6)
    return None


def check_answers(client: NodeClient, cell: Cell) -> bool:
    """Ask for a reachable pose and for one in an object; returns whether the answers hold."""
    good = holds(ask(client, cell, reachable_pose(cell)), cell)
    if not cell.checker.scene.objects:
        return good
    if (found := pose_in_an_object(cell)) is None:
        print('\nno object of the scene is within reach of the tip: no second question')
        return good
    name, wanted = found
    x, y, z = wanted.T[:3, 3]
    print(f"\na second question, inside '{name}' at {x:.3f} {y:.3f} {z:.3f}:")
    answer = ask(client, cell, wanted)
    if answer.success:
        return holds(answer, cell) and good
    print(f'{answer.status}: {answer.message}')
    return good


def holds(answer: Answer, cell: Cell) -> bool:
    """Print an answer; returns whether kinematics, limits and this checker agree with it."""
    print_answer(answer, cell.robot)
    touching = cell.checker.in_collision(
        Configuration(cell.robot, cell.shipped.home | answer.values))
    print('checked here: ' + ('; '.join(map(str, touching)) or 'nothing touches'))
    joints = [(cell.robot.joint(name), value) for name, value in answer.values.items()]
    good = (answer.success and bool(answer.checked) and not touching
            and all(joint.lower - 1e-6 <= value <= joint.upper + 1e-6 for joint, value in joints)
            and all(check.position <= POSITION_TOLERANCE * 1.001
                    and check.orientation <= ORIENTATION_TOLERANCE * 1.001
                    for check in answer.checked))
    print('the answer holds' if good else 'the answer does NOT hold')
    return good
