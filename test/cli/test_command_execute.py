"""`ros2_ik call --execute` and goals that execute, with a real node, over DDS."""

import numpy as np
import pytest
import yaml

pytest.importorskip('rclpy')
from ros2_ik.cli.node_client import NodeClient  # noqa: E402
from ros2_ik.core import shipped_robots  # noqa: E402

pytestmark = pytest.mark.usefixtures('in_domain')

LINK0, TCP = 'panda_link0', 'panda_hand_tcp'
BACK = [0, 0, -0.04]   # in the frame of the tool: it moves away from where it stood


@pytest.fixture
def max_jump(set_parameter):
    """Let the node refuse every solution that would move the robot, for the time of a test."""
    with NodeClient('/ros2_ik') as client:
        set_parameter(client, 'max_jump', 1e-3)
    yield
    with NodeClient('/ros2_ik') as client:
        set_parameter(client, 'max_jump', 1.0)


@pytest.fixture
def back(tmp_path):
    """Give a problem file: the tool goes back, relative to where it stands."""
    path = tmp_path / 'back.yaml'
    path.write_text(yaml.safe_dump({
        'targets': [{'tip': TCP, 'xyz': BACK, 'quat': [0, 0, 0, 1], 'relative_to': TCP}],
        'execute': True, 'timeout': {'sec': 2}}))
    return path


def rests(joints):
    """Wait until the robot stands there: a motion has arrived when it is 1e-3 rad near."""
    with NodeClient('/ros2_ik') as client:
        measured = client.joints
        assert client.spin_until(lambda: all(
            abs(measured.get(name, np.inf) - value) < 1e-6 for name, value in joints.items()),
            20.0), measured


def call(command, *words):
    return command('call', '--tip', TCP, '--xyz', *BACK, '--quat', 0, 0, 0, 1,
                   '--relative-to', TCP,
                   '--execute', '--timeout', 2, *words)


@pytest.mark.slow
def test_a_frame_stands_where_it_stood_before_the_motion(command, judge, back):
    joints = shipped_robots()['panda'].home
    for ask in (call, lambda command, *words: command('constrained', back, *words)):
        rests(joints)
        before = judge('panda', joints, TCP, LINK0)
        run = ask(command, '--json')
        assert run.code == 0, run.out + run.err
        joints = run.json['joints']
        after = judge('panda', joints, TCP, LINK0)
        assert np.linalg.norm(after[:3, 3] - (before @ [*BACK, 1])[:3]) < 1e-3
        assert run.json['targets'][0]['position_error'] < 1e-3 < run.json['motion_seconds']


def test_a_solution_that_is_far_is_refused(command, max_jump, back):
    for ask, bound in ((call, '--max-joint-change'), (
            lambda command: command('constrained', back), 'max_joint_change')):
        run = ask(command)
        assert run.code == 1 and run.out.startswith('NO_IK_SOLUTION: '), run.out + run.err
        assert f'no solution within {bound} 0.001' in run.out
        assert f'a larger {bound} may have one' in run.out and 'parameter max_jump' in run.out


@pytest.mark.slow
def test_a_request_has_a_bound_of_its_own(command, max_jump):
    assert call(command, '--max-joint-change', 0.001).code == 1
    # 4 cm take some 7 degrees: 1 is too little, and in radians it would be enough
    assert call(command, '--deg', '--max-joint-change', 1).code == 1
    run = call(command, '--deg', '--max-joint-change', 50)
    assert run.code == 0, run.out + run.err
    assert 'largest joint change' in run.out


@pytest.mark.slow
def test_a_solution_stays_where_only_the_motion_failed(command):
    """The bound is about the way from where the robot stands as well."""
    words = ('--max-joint-change', 0.3, '--seed', 'panda_joint1=0.5')
    run = call(command, *words)
    assert run.code == 1, run.out + run.err
    assert run.out.startswith('INVALID_GOAL_CONSTRAINTS: ') and 'would move by 0.' in run.out
    assert '--max-joint-change allows 0.3' in run.out
    assert 'solution, not reached:' in run.out and 'panda_joint7' in run.out
    answer = call(command, *words, '--json').json
    assert not answer['success'] and answer['best_joints'].keys() >= {'panda_joint7'}
    assert answer['targets'][0]['position_error'] < 1e-3 and answer['motion_seconds'] == 0
