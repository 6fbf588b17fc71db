"""The questions to the node: a pose that is reachable for sure, and one that is not."""

import sys
import time
from typing import NamedTuple

import numpy as np

from ros2_ik.cli.answer import Answer, WantedPose
from ros2_ik.cli.node_answer import ask_ik, ik_request, MAKING
from ros2_ik.cli.node_client import NodeClient
from ros2_ik.cli.question import BadQuestion
from ros2_ik.core import (
    CollisionChecker,
    Configuration,
    default_tip,
    Defaults,
    Robot,
    ShippedRobot,
)
from ros2_ik.demo.surroundings import inside_an_object, surroundings
from ros2_ik.srv import ComputeIK

START = 30.0     # seconds for the node to come up and to know its robot
TIMEOUT = 2.0    # seconds for the search: a busy machine is not the node's fault
RANDOM_STATE = 7
POSITION_TOLERANCE, ORIENTATION_TOLERANCE = 1e-5, 1e-4
NEAR = 0.5       # joints are moved so far at most [rad, m]; parameter max_jump allows 1
STEPS = 21       # places on the way that are looked at
TRIES = 1000     # draws of joint values, until nothing touches


class FirstQuestion(NamedTuple):
    """What was asked, what was answered, for which robot, and this process's own checker."""

    wanted: WantedPose
    answer: Answer
    robot: Robot
    checker: CollisionChecker


def reachable(robot: Robot, shipped: ShippedRobot, checker: CollisionChecker) -> WantedPose:
    """
    Return the pose of the robot's tip with the joints of its group near home, where it stands.

    Nothing touches there, nor on the straight way; the node's own bound on motions allows it.
    Raises BadQuestion if something always does.
    """
    tip = default_tip(robot, '', Defaults())
    names = (robot.group(shipped.group).joint_names if shipped.group
             else robot.moving_joints(tip))
    random, home = np.random.default_rng(RANDOM_STATE), robot.to_q(shipped.home)
    lower, upper = np.maximum(robot.lower, home - NEAR), np.minimum(robot.upper, home + NEAR)
    for _ in range(TRIES):
        near = robot.to_joints(random.uniform(lower, upper), names)
        goal = robot.to_q(shipped.home | near)
        way = [Configuration(robot, home + t * (goal - home)) for t in np.linspace(1, 0, STEPS)]
        if not any(map(checker.collides, way)):
            return WantedPose(tip, way[0].transform(tip), None, (1.0,) * 6)
    touching = next(filter(None, map(checker.in_collision, way)))
    raise BadQuestion(f'on the way to {TRIES} random configurations something always touched: '
                      + '; '.join(map(str, touching)))


def ask(client: NodeClient, shipped: ShippedRobot, scene: str = '') -> FirstQuestion:
    """Ask as soon as the node can answer; raises BadQuestion when it cannot, and why."""
    deadline = time.monotonic() + START
    service = client.connect(ComputeIK, 'compute_ik', START)
    robot = client.robot(START)
    if robot is None:
        raise BadQuestion(f'no robot_description in {START:g} s')
    checker = surroundings(robot, shipped, scene)
    wanted = [reachable(robot, shipped, checker)]
    request = ik_request(wanted, {}, TIMEOUT, position_tolerance=POSITION_TOLERANCE,
                         orientation_tolerance=ORIENTATION_TOLERANCE)
    told = False
    while True:
        try:
            answer = ask_ik(client, service, request, wanted, {})
            return FirstQuestion(wanted[0], answer, robot, checker)
        except BadQuestion as refusal:
            if MAKING in str(refusal):    # which takes as long as it takes
                deadline = time.monotonic() + START
                if not told:
                    print(f'ros2_ik: waiting: {refusal}', file=sys.stderr)
                told = True
            elif time.monotonic() > deadline or not _comes_up(str(refusal)):
                raise
            client.spin_until(lambda: False, 0.1)


def _comes_up(refusal: str) -> bool:
    """Return whether the node has not read its robot yet."""
    return refusal.startswith('INVALID_ROBOT_STATE')


def ask_inside(client: NodeClient, shipped: ShippedRobot,
               first: FirstQuestion) -> tuple[str, FirstQuestion] | None:
    """Ask for a pose inside an object of the scene; None if no object is within reach."""
    found = inside_an_object(first.robot, shipped, first.wanted.tip, first.checker.scene)
    if found is None:
        return None
    service = client.connect(ComputeIK, 'compute_ik', START)
    name, wanted = found
    answer = ask_ik(client, service, ik_request([wanted], {}, TIMEOUT), [wanted], {})
    return name, first._replace(wanted=wanted, answer=answer)


def contacts(asked: FirstQuestion, shipped: ShippedRobot) -> str:
    """Return what touches in an answer, as this process's own checker has it; '' for nothing."""
    at = Configuration(asked.robot, shipped.home | asked.answer.values)
    return '; '.join(str(contact) for contact in asked.checker.in_collision(at))


def holds(first: FirstQuestion) -> bool:
    """Return whether the answer claims success, and forward kinematics and the limits agree."""
    answer, robot = first.answer, first.robot
    errors = [(check.position, check.orientation) for check in answer.checked]
    within = all(robot.joint(name).lower - 1e-6 <= value <= robot.joint(name).upper + 1e-6
                 for name, value in answer.values.items())
    return (answer.success and bool(errors) and within
            and all(p <= POSITION_TOLERANCE * 1.001 and o <= ORIENTATION_TOLERANCE * 1.001
                    for p, o in errors))
