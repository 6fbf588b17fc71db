"""The first question to the node: a pose that is reachable for sure."""

import time
from typing import NamedTuple

import numpy as np

from ros2_ik.cli.answer import Answer
from ros2_ik.cli.node_answer import ask_ik, ik_request
from ros2_ik.cli.node_client import NodeClient
from ros2_ik.cli.question import BadQuestion
from ros2_ik.cli.recheck import Wanted
from ros2_ik.cli.solve import default_tip
from ros2_ik.core import Configuration, Robot, ShippedRobot
from ros2_ik.srv import ComputeIK

START = 30.0     # seconds for the node to come up and to know its robot
TIMEOUT = 2.0    # seconds for the search: a busy machine is not the node's fault
RANDOM_STATE = 7
POSITION_TOLERANCE, ORIENTATION_TOLERANCE = 1e-5, 1e-4


class FirstAnswer(NamedTuple):
    """What was asked, what was answered, and for which robot."""

    wanted: Wanted
    answer: Answer
    robot: Robot


def reachable(robot: Robot, shipped: ShippedRobot) -> Wanted:
    """Give the pose of the robot's tip with the joints of its group anywhere in their limits."""
    tip = default_tip(robot, shipped, None)
    names = (robot.group(shipped.group).joint_names if shipped.group
             else robot.moving_joints(tip))
    anywhere = robot.to_joints(robot.random_q(np.random.default_rng(RANDOM_STATE)), names)
    at = Configuration(robot, shipped.home | anywhere)
    return Wanted(tip, at.transform(tip), None, (1.0,) * 6)


def ask(client: NodeClient, shipped: ShippedRobot) -> FirstAnswer:
    """Ask as soon as the node can answer; raises BadQuestion when it cannot, and why."""
    deadline = time.monotonic() + START
    service = client.connect(ComputeIK, 'compute_ik', START)
    robot = client.robot(START)
    if robot is None:
        raise BadQuestion(f'no robot_description in {START:g} s')
    wanted = [reachable(robot, shipped)]
    request = ik_request(wanted, {}, TIMEOUT, position_tolerance=POSITION_TOLERANCE,
                         orientation_tolerance=ORIENTATION_TOLERANCE)
    while True:
        try:
            return FirstAnswer(wanted[0], ask_ik(client, service, request, wanted, {}), robot)
        except BadQuestion as refusal:   # the node may not have read its robot yet
            if time.monotonic() > deadline or not str(refusal).startswith('INVALID_ROBOT_STATE'):
                raise
            client.spin_until(lambda: False, 0.1)


def holds(first: FirstAnswer) -> bool:
    """Whether the answer claims success, and forward kinematics and the limits agree."""
    answer, robot = first.answer, first.robot
    errors = [(check.position, check.orientation) for check in answer.checked]
    within = all(robot.joint(name).lower - 1e-6 <= value <= robot.joint(name).upper + 1e-6
                 for name, value in answer.values.items())
    return (answer.success and bool(errors) and within
            and all(p <= POSITION_TOLERANCE * 1.001 and o <= ORIENTATION_TOLERANCE * 1.001
                    for p, o in errors))
