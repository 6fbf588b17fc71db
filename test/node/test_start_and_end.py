"""Start of the node with warnings and refusals, and its end by signals."""

import os
import signal
import subprocess
import sys

from arm_harness import TRAJECTORIES
from builtin_interfaces.msg import Duration
from moveit_msgs.msg import CollisionObject
from node_harness import (
    assert_clean_exit,
    descendants,
    eventually,
    has_ended,
    installed,
    neutral,
    proc_text,
    reachable,
    stamped,
)
import numpy as np
import pytest
from scene_harness import (
    applied,
    apply_scene,
    box,
    change,
    check_state,
    contact_pairs,
    diff,
    mesh,
    pose,
)
from small_arm import arm_without_mesh, small_arm
from std_msgs.msg import String

from ros2_ik.msg import Status

TIP = 'panda_hand_tcp'


# the first test: descriptions that other tests have published would replace that of the parameters
def test_description_scene_and_meshes_come_from_parameters(start_node, client, panda):
    """meshes='hull' closes a gap between two walls; missing_meshes='skip' ignores a mesh."""
    start_node(robot_description=panda.urdf, robot_description_semantic=panda.srdf, scene='table',
               meshes='hull', missing_meshes='skip')
    T = np.diag([1.0, -1.0, -1.0, 1.0])     # the tip points down, into the table
    T[:3, 3] = 0.6, 0.0, 0.185
    response = client.ik(targets=[stamped(T)], timeout=Duration(nanosec=500_000_000))
    assert response.status == Status.GOAL_IN_COLLISION and "'table'" in response.message
    sides = [(x, y, z) for y in (-1, 1) for x, z in ((0.2, 0.5), (0.5, 0.5), (0.2, 0.8))]
    walls = change('walls', CollisionObject.ADD, meshes=[mesh(sides, [(0, 1, 2), (3, 4, 5)])])
    assert check_state(client).valid
    assert applied(client, diff(walls)) == "the scene has 'table', 'walls'"
    assert any('walls' in names for names in contact_pairs(check_state(client)))
    arm = arm_without_mesh()
    client.publish_robot(arm)
    answer = check_state(client, state=neutral(arm))
    assert answer.valid and any('meshes are not found' in text for text in answer.not_checked)


def test_node_with_malformed_parameters_exits_with_the_reason(start_node):
    cases = {'no_such_scene': {'scene': 'no_such_scene', 'robot_description': small_arm().urdf},
             'not XML': {'robot_description': 'hello'}}
    nodes = {words: start_node(**parameters) for words, parameters in cases.items()}
    for words, node in nodes.items():
        assert node.process.wait(30) == 1
        assert words in node.text.splitlines()[-1] and 'Traceback' not in node.text
    run = subprocess.run([installed('ik_node'), '-p', 'workers:=1'], capture_output=True,
                         text=True, timeout=30)
    assert run.returncode == 1 and 'parameters follow --ros-args' in run.stderr


def test_misspelt_parameters_are_logged_and_the_default_tip_is_checked(
        start_node, client, panda):
    limit = 'joint_limits.panda_jont1.max_velocity'    # accepted: the robot may have this joint
    node = start_node(default_tip='panda_hnd', default_group='arm', scene='floor',
                      velocity_scaling=0.25, defualt_timeout=1.0, **TRAJECTORIES,
                      **{limit: 1.0, limit.replace('ity', 'ty'): 1.0})
    for words in ("did you mean 'default_timeout'", f"'{limit.replace('ity', 'ty')}' is ignored",
                  "did you mean 'joint_limits.<joint>.max_velocity'",
                  'motions use 0.25 of the velocity limits and 0.1 of the acceleration limits'):
        eventually(lambda words=words: words in node.text, words)
    assert f"did you mean '{limit}'" not in node.text and 'the scene is empty' not in node.text
    client.publish_robot(panda)
    response = client.ik(targets=[reachable(panda, TIP)])
    assert response.status == Status.INVALID_LINK_NAME
    assert 'parameter default_tip' in response.message and 'did you mean' in response.message
    eventually(lambda: "parameter default_tip: unknown tip 'panda_hnd'" in node.text, 'the error')
    assert client.set('default_tip', 'panda_hand').successful


def test_robot_that_contradicts_the_scene_file_is_refused(start_node, client, panda, tmp_path):
    """Without the scene, no state may be reported as free of contact."""
    path = tmp_path / 'cell.yaml'
    path.write_text('objects: [{id: a, frame: panda_hand, shapes: [{sphere: {radius: 0.1}}]}]')
    node = start_node(scene=str(path))
    client.publish('robot_description', String(data=panda.urdf), latched=True)
    response = eventually(lambda: 'objects[0]' in (answer := client.ik()).message and answer,
                          'the refusal')
    assert response.status == Status.INVALID_ROBOT_STATE and str(path) in response.message
    assert "frame 'panda_hand' moves" in response.message
    assert 'objects[0]' in node.text
    assert not apply_scene(client, diff(box('b', at=pose(0, 0, 3)))).success


@pytest.mark.slow
def test_duplicate_node_name_and_missing_clock_are_logged(start_node):
    """Both nodes would respond, and a client receives only one response."""
    nodes = [start_node(use_sim_time=True) for _ in range(2)]
    for words in ('another node is named /ros2_ik', 'nothing was received on /clock'):
        for node in nodes:
            eventually(lambda node=node, words=words: words in node.text, words)


def signal_group(node, number):
    """Send a signal to the process group, like Ctrl-C in a terminal and systemd."""
    os.killpg(node.pid, number)


def has_handler(pid, number):
    """Return True if a process has a handler for a signal."""
    caught = proc_text(pid, 'status').split('SigCgt:')[1].split()[0]
    return int(caught, 16) >> (number - 1) & 1


@pytest.mark.parametrize('has_children', [False, True])
def test_interrupt_ends_a_node_that_is_starting(start_node, has_children):
    """The node may have processes that import and compile."""
    node = start_node()
    eventually(lambda: has_handler(node.pid, signal.SIGTERM), 'a handler')
    if has_children:
        eventually(lambda: descendants(node.pid), 'a child process')
    processes = descendants(node.pid)
    signal_group(node, signal.SIGINT)
    assert_clean_exit(node, processes)


def test_compiling_node_is_not_yet_visible_and_ends_with_all_its_processes(
        start_node, client, monkeypatch, tmp_path):
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))
    monkeypatch.delenv('NUMBA_CACHE_DIR', raising=False)
    node = start_node(('__node:=compiling_ik',))
    eventually(lambda: 'compiling inner loops' in node.text, 'the log of compiling')
    assert ('compiling_ik', '/') not in client.node.get_node_names_and_namespaces()
    processes = descendants(node.pid)
    signal_group(node, signal.SIGINT)
    # the signal handler runs only after LLVM has optimised a loop
    assert node.process.wait(15) == 0
    eventually(lambda: all(map(has_ended, processes)), 'the end of all processes')


@pytest.mark.parametrize('ignored', [False, True])
def test_sighup_ends_the_node_unless_it_is_ignored(ignored):
    """Programs started by nohup ignore SIGHUP."""
    code = 'from ros2_ik.node.process import SIGNALS; print(*map(int, SIGNALS))'
    output = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP,
                                         signal.SIG_IGN if ignored else signal.SIG_DFL)).stdout
    assert (str(int(signal.SIGHUP)) in output.split()) != ignored
