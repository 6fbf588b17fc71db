"""Bad questions: each is answered with a status and a reason, and the node lives on."""

import math

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Transform
from moveit_msgs.msg import RobotState
from node_harness import reachable, seed, stamped
import numpy as np
import pytest

from ros2_ik.msg import Status

pytestmark = pytest.mark.usefixtures('flooded')

TIP = 'panda_hand_tcp'


def target(**change):
    """Give a good target with some numbers changed, or one in another frame."""
    message = stamped(np.eye(4), change.pop('frame', ''))
    for name, value in change.items():
        part, axis = name.split('_')
        setattr(getattr(message.pose, part), axis, value)
    return message


def lengths(names, positions):
    state = RobotState()
    state.joint_state.name, state.joint_state.position = names, positions
    return state


def multi(names, transforms):
    state = RobotState()
    state.multi_dof_joint_state.joint_names = names
    state.multi_dof_joint_state.transforms = transforms
    return state


NAN, INF = math.nan, math.inf
GOAL, LINK = Status.INVALID_GOAL_CONSTRAINTS, Status.INVALID_LINK_NAME
STATE = Status.INVALID_ROBOT_STATE
BAD = {
    'no target': ({'targets': []}, GOAL, 'there is no target'),
    'NaN position': ({'targets': [target(position_x=NAN)]}, GOAL, 'not finite'),
    'infinite position': ({'targets': [target(position_z=-INF)]}, GOAL, 'not finite'),
    'huge position': ({'targets': [target(position_x=1e300)],
                       'timeout': Duration(nanosec=50_000_000)}, None, ''),
    'NaN quaternion': ({'targets': [target(orientation_w=NAN)]}, GOAL, 'not finite'),
    'zero quaternion': ({'targets': [target(orientation_w=0.0)]}, GOAL, 'is zero'),
    'long quaternion': ({'targets': [target(orientation_w=2.0)]}, GOAL, 'has norm 2'),
    'unknown frame': ({'targets': [target(frame='panda_link')]},
                      Status.FRAME_TRANSFORM_FAILURE, "did you mean 'panda_link"),
    'unknown tip': ({'targets': [target()], 'tips': ['panda_hand_tpc']}, LINK,
                    "did you mean 'panda_hand_tcp'"),
    'tip of another robot': ({'targets': [target()], 'tips': ['tool0']}, LINK,
                             "frames); tips of robot 'panda': panda_"),
    'empty tip': ({'targets': [target()], 'tips': ['']}, LINK, "''"),
    'fixed tip': ({'targets': [target()], 'tips': ['panda_link0']}, LINK,
                  "'panda_link0'"),
    'more tips than targets': ({'targets': [target()], 'tips': [TIP, 'panda_link7']}, LINK,
                               '2 tips but 1 targets'),
    'more targets than tips': ({'targets': [target()] * 2, 'tips': [TIP]}, LINK,
                               '1 tips but 2 targets'),
    'too many targets': ({'targets': [target()] * 101}, GOAL, 'at most 100'),
    'unknown group': ({'targets': [target()], 'group': 'amr'}, Status.INVALID_GROUP_NAME,
                      "did you mean 'arm'"),
    'tip that the group does not move': ({'targets': [target()], 'group': 'hand', 'tips': [TIP]},
                                         LINK, "no active joint of group 'hand' moves"),
    'five weights': ({'targets': [target()], 'weights': [1.0] * 5}, GOAL, '5 weights'),
    'weights of two targets': ({'targets': [target()], 'weights': [1.0] * 12}, GOAL, '12'),
    'negative weight': ({'targets': [target()], 'weights': [1.0] * 5 + [-1.0]}, GOAL, 'negative'),
    'NaN weight': ({'targets': [target()], 'weights': [1.0] * 5 + [NAN]}, GOAL, 'finite'),
    'all weights zero': ({'targets': [target()], 'weights': [0.0] * 6}, GOAL, 'zero'),
    'negative tolerance': ({'targets': [target()], 'position_tolerance': -1e-3}, GOAL,
                           'position_tolerance'),
    'NaN tolerance': ({'targets': [target()], 'orientation_tolerance': NAN}, GOAL,
                      'orientation_tolerance'),
    'negative timeout': ({'targets': [target()], 'timeout': Duration(sec=-1)}, GOAL, 'negative'),
    'huge timeout': ({'targets': [target()], 'timeout': Duration(sec=2**31 - 1)}, GOAL,
                     'max_timeout allows 10 s'),
    'unknown solver': ({'targets': [target()], 'solver': 'kdl'}, GOAL, 'lm'),
    'unknown select': ({'targets': [target()], 'select': 'best'}, GOAL, 'nearest'),
    'too many solutions': ({'targets': [target()], 'solutions': 2**32 - 1}, GOAL,
                           'max_solutions allows 64'),
    'NaN seed': ({'targets': [target()], 'seed': seed({'panda_joint1': NAN})}, STATE,
                 "joint 'panda_joint1' is at nan"),
    'unknown joint': ({'targets': [target()], 'seed': seed({'panda_joint9': 0})}, STATE,
                      "did you mean 'panda_joint"),
    'joint twice': ({'targets': [target()], 'seed': lengths(['panda_joint1'] * 2, [0.0, 1.0])},
                    STATE, 'named twice'),
    'names without positions': ({'targets': [target()], 'seed': lengths(['panda_joint1'], [])},
                                STATE, '1 names, 0 positions'),
    'positions without names': ({'targets': [target()], 'seed': lengths([], [0.0])},
                                STATE, '0 names, 1 positions'),
    'pose of a joint of one value': ({'targets': [target()],
                                      'seed': multi(['panda_joint1'], [Transform()])},
                                     STATE, 'belongs into joint_state'),
    'poses without names': ({'targets': [target()], 'seed': multi([], [Transform()])}, STATE,
                            '0 joint_names, 1 transforms'),
}


@pytest.mark.parametrize('name', BAD)
def test_bad_question(client, panda_node, name):
    fields, status, words = BAD[name]
    response = client.ik(**fields)
    assert response.status != Status.SUCCESS and response.status != Status.FAILURE, response
    assert status is None or response.status == status, response.message
    assert words in response.message and '\n' not in response.message
    assert not response.solution.joint_state.name
    assert panda_node.process.poll() is None


def test_name_of_a_megabyte(client, panda_node):
    response = client.ik(targets=[target()], tips=['x' * 1_000_000])
    assert response.status == LINK
    assert len(response.message) < 1_100_000


def test_seed_of_a_million_joints(client, panda_node):
    names = [f'joint{i}' for i in range(100_000)]
    response = client.ik(targets=[target()], seed=lengths(names, [0.0] * len(names)))
    assert response.status == STATE and "unknown joint 'joint0'" in response.message


def test_good_question_after_all_these(client, panda, panda_node):
    assert client.ik(targets=[reachable(panda, TIP)]).status == Status.SUCCESS
    assert 'Traceback' not in panda_node.text
