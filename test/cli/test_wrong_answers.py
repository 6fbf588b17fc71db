"""Answers that do not hold, of a stand-in for the node that holds another robot, over DDS."""

import os
import subprocess
import sys
import threading

import pytest
import yaml

pytest.importorskip('rclpy')
from ros2_ik.demo.domain import unused_domain  # noqa: E402

# a slide along y that stands at x = 0.8 m
SLIDE = """<robot name="slide">
  <link name="base"/> <link name="slide"/>
  <joint name="rail" type="prismatic">
    <parent link="base"/> <child link="slide"/> <axis xyz="0 1 0"/> <origin xyz="0.8 0 0"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/>
  </joint>
</robot>"""
# says that all joints at zero are a solution, whatever is asked; as /making... not at once
STAND_IN = """
import sys
import rclpy
from rclpy.action import ActionServer
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.task import Future
from std_msgs.msg import String
from ros2_ik.action import SolveConstrainedIK
from ros2_ik.srv import ComputeIK

begun = []

def fill(answer):
    begun.append(1)
    if 'making' in sys.argv[1] and len(begun) < 4:
        answer.status, answer.message = -22, 'the geometry is still being made; ask again'
        return answer
    if 'robotless' in sys.argv[1] and len(begun) < 4:
        answer.status, answer.message = -17, 'robot_description has not been received'
        return answer
    answer.status, answer.message = int(sys.argv[3]), 'what the node says'
    state = answer.solution if answer.status == 1 else answer.best_attempt
    state.joint_state.name = sys.argv[4:]
    state.joint_state.position = [0.0 for _ in sys.argv[4:]]
    answer.position_errors, answer.orientation_errors = [8.3e-7], [0.0]
    return answer

async def answer(request, response):
    if 'lost' in sys.argv[1] and not begun:    # as DDS may lose one
        begun.append(1)
        await Future()
    return fill(response)

def execute(handle):
    handle.succeed()
    return fill(SolveConstrainedIK.Result())

rclpy.init()
node = rclpy.create_node('ros2_ik', namespace=sys.argv[1])
latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
publisher = node.create_publisher(String, 'robot_description', latched)
publisher.publish(String(data=sys.argv[2]))
node.create_service(ComputeIK, '~/compute_ik', answer,
                    callback_group=ReentrantCallbackGroup())
action = ActionServer(node, SolveConstrainedIK, '~/solve_constrained_ik', execute)
rclpy.spin(node)
"""
JOINTS = ('rail',)
SUCCESS, NO_IK_SOLUTION = 1, -31
REACHED, ASKED = 0.8, 1.0   # x of the slide, and what is asked of it [m]


@pytest.fixture(scope='module')
def stand_in():
    """Give a function that starts one in a namespace, for the tests of this module."""
    running, killers = {}, []
    environment = {'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
                   'ROS_DOMAIN_ID': str(unused_domain())}

    def start(name, status=SUCCESS, joints=JOINTS):
        if name not in running:
            running[name] = subprocess.Popen(
                [sys.executable, '-c', STAND_IN, f'/{name}', SLIDE, str(status), *joints],
                env=os.environ | environment)
            killers.append(threading.Timer(300.0, running[name].kill))
            killers[-1].start()
        return f'/{name}/ros2_ik', environment
    yield start
    for killer in killers:
        killer.cancel()
    for process in running.values():
        process.kill()
        process.wait()


@pytest.fixture(params=['call', 'constrained'])
def ask(request, process, tmp_path):
    """Ask a stand-in for a position, by the service or by the action."""
    goal = tmp_path / 'goal.yaml'
    goal.write_text(yaml.safe_dump({
        'tips': ['slide'], 'targets': [{'pose': {'position': {'x': ASKED}}}],
        'weights': [1, 1, 1, 0, 0, 0]}))
    words = {'call': ('--tip', 'slide', '--xyz', ASKED, 0, 0), 'constrained': (goal,)}

    def run(node, *more):
        name, environment = node
        return process(request.param, *words[request.param], '--node', name, '--wait', 50, *more,
                       **environment)
    return run


def test_a_wrong_answer_is_not_called_a_success(ask, stand_in):
    run = ask(stand_in('wrong'))
    assert run.code == 1, run.out + run.err
    first, note, *_ = run.out.splitlines()
    assert first == ('WRONG_ANSWER: SUCCESS was answered, but forward kinematics does not '
                     'confirm it')
    assert 'slide: 8.3e-07 m 0.0e+00 rad claimed, 2.0e-01 m 0.0e+00 rad found' in run.out
    assert 'another robot description than this command, or the robot was replaced' in run.out
    assert 'answer, not confirmed:' in run.out and 'what the node says' not in run.out


@pytest.mark.parametrize('kind', ['making', 'robotless'])
@pytest.mark.slow
def test_what_the_node_has_not_yet_is_waited_for(stand_in, process, kind):
    name, environment = stand_in(kind)
    run = process('call', '--tip', 'slide', '--xyz', ASKED, 0, 0, '--node', name, '--wait', 50,
                  **environment)
    assert run.code == 1 and 'WRONG_ANSWER' in run.out, run.out + run.err


def test_a_lost_answer_is_asked_for_again(stand_in, process):
    name, environment = stand_in('lost')
    run = process('call', '--tip', 'slide', '--xyz', ASKED, 0, 0, '--node', name, **environment)
    assert run.code == 1 and 'WRONG_ANSWER' in run.out, run.out + run.err


@pytest.mark.slow
def test_to_move_it_is_asked_once(stand_in, process):
    """Whoever stops the robot meanwhile stops it for good."""
    name, environment = stand_in('making_way')
    run = process('call', '--tip', 'slide', '--xyz', ASKED, 0, 0, '--execute', '--node', name,
                  '--wait', 50, **environment)
    assert run.code == 2 and 'still being made; ask again' in run.err, run.out + run.err


def test_nor_in_json(ask, stand_in):
    run = ask(stand_in('wrong'), '--json')
    assert run.code == 1, run.out + run.err
    answer = run.json
    assert (answer['success'], answer['status']) == (False, 'WRONG_ANSWER')
    assert answer['joints'] is None and set(answer['best_joints']) == set(JOINTS)
    assert 'SUCCESS' in answer['message']
    note, = (note for note in answer['notes'] if 'claimed' in note)
    assert '8.3e-07 m' in note and '2.0e-01 m' in note and 'another robot description' in note
    target, = answer['targets']
    assert target['claimed_position_error'] == pytest.approx(8.3e-7)
    assert target['position_error'] == pytest.approx(ASKED - REACHED)


def test_a_best_attempt_keeps_its_status(ask, stand_in):
    answer = ask(stand_in('attempt', NO_IK_SOLUTION), '--json')
    assert answer.code == 1, answer.out + answer.err
    assert answer.json['status'] == 'NO_IK_SOLUTION'
    assert answer.json['message'] == 'what the node says'
    assert any('2.0e-01 m' in note for note in answer.json['notes'])


def test_joints_of_another_robot_cannot_be_checked(ask, stand_in):
    run = ask(stand_in('other', joints=('waist', *JOINTS)), '--json')
    assert run.code == 0, run.out + run.err
    assert any(note.startswith("not re-checked: joint 'waist' of the answer is not in the")
               for note in run.json['notes'])
    assert run.json['targets'][0]['position_error'] is None
