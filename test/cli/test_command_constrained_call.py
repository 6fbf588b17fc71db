"""`ros2_ik constrained` with a real node, over DDS."""

import os
from pathlib import Path
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import pytest
import yaml

rclpy = pytest.importorskip('rclpy')
from rclpy.action import ActionServer, CancelResponse, GoalResponse  # noqa: E402
from rclpy.callback_groups import ReentrantCallbackGroup  # noqa: E402
from rclpy.executors import MultiThreadedExecutor  # noqa: E402

from ros2_ik.action import SolveConstrainedIK  # noqa: E402
from ros2_ik.msg import Status  # noqa: E402

ROOT = Path(__file__).parents[2]
LOCAL = {'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}
TRAY = ROOT / 'examples/ros/upright_tray.yaml'


@pytest.fixture
def ask(process, domain):
    """Ask the node of the demo."""
    return lambda *words: process('constrained', *words, ROS_DOMAIN_ID=domain, **LOCAL)


@pytest.fixture
def problem(tmp_path):
    """Give a function that writes a problem: the hand at least so high, the elbow bent."""
    def write(height, seconds, **fields):
        path = tmp_path / 'problem.yaml'
        path.write_text(yaml.safe_dump({'constraints': [{
            'kind': 'point_to_plane', 'frame': 'panda_hand', 'normal': [0, 0, 1],
            'bounds': {'name': 'high', 'lower': [height]}, **fields}, {
            'kind': 'joint_positions', 'names': ['panda_joint4'],
            'bounds': {'name': 'folded', 'upper': [-2.5]}}],
            'timeout': {'sec': seconds}}))
        return path
    return write


@pytest.mark.slow
def test_an_answer_as_tables(ask):
    run = ask(TRAY)
    assert run.code == 0, run.err
    assert run.out.startswith('SUCCESS')
    for words in ('panda_joint7', 'tray is level', 'angle [rad]', 'posture', 'round trip'):
        assert words in run.out


def test_what_cannot_be(ask, problem):
    run = ask(problem(1.1, 2))
    assert run.code == 1, run.err
    assert 'VIOLATED by' in run.out and 'best attempt' in run.out
    feedback = [line for line in run.err.splitlines() if 's, searching: ' in line]
    assert feedback


def test_a_mistake_is_refused_by_its_place(ask, problem):
    refused = ask(problem(1.1, 1, relative_to='nowhere')).refused()
    assert 'INVALID_LINK_NAME: constraints[0] (point_to_plane): relative_to: unknown' in refused


def test_an_interrupt_cancels(domain, problem):
    running = subprocess.Popen(
        [sys.executable, ROOT / 'scripts/ros2_ik', 'constrained', problem(1.1, 10)], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=os.environ | LOCAL | {'ROS_DOMAIN_ID': domain})
    killer = threading.Timer(60.0, running.kill)
    killer.start()
    assert any('s, searching: ' in line for line in running.stderr)
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate()
    killer.cancel()
    assert running.returncode == 130 and out.startswith('PREEMPTED'), out
    assert 'best attempt' in out and 'VIOLATED by' in out


class SlowServer:
    """The action of a node that takes goals late, and ends them when they are cancelled."""

    def __init__(self, domain: str) -> None:
        self.asked, self.may_take = threading.Event(), threading.Event()
        self.cancelled = threading.Event()
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=int(domain))
        self._node = rclpy.create_node('slow_ik', context=self._context)
        self._server = ActionServer(
            self._node, SolveConstrainedIK, '/slow_ik/solve_constrained_ik', self._run,
            goal_callback=self._take, cancel_callback=lambda goal: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup())
        self._executor = MultiThreadedExecutor(4, context=self._context)
        self._executor.add_node(self._node)
        self._thread = threading.Thread(target=self._executor.spin)
        self._thread.start()

    def _take(self, goal: object) -> GoalResponse:
        self.asked.set()
        assert self.may_take.wait(20)
        return GoalResponse.ACCEPT

    def _run(self, handle: Any) -> SolveConstrainedIK.Result:
        end = time.monotonic() + 20
        while not handle.is_cancel_requested and time.monotonic() < end:
            time.sleep(0.01)
        if handle.is_cancel_requested:
            self.cancelled.set()
            handle.canceled()
        else:
            handle.abort()
        return SolveConstrainedIK.Result(status=Status.PREEMPTED, message='cancelled')

    def close(self) -> None:
        self.may_take.set()
        self._executor.shutdown()
        self._thread.join()
        self._server.destroy()
        self._node.destroy_node()
        rclpy.shutdown(context=self._context)


def test_an_interrupt_before_the_goal_was_taken_cancels_it(domain, problem):
    server = SlowServer(domain)
    try:
        running = subprocess.Popen(
            [sys.executable, ROOT / 'scripts/ros2_ik', 'constrained', problem(1.1, 10),
             '--node', '/slow_ik'], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=os.environ | LOCAL | {'ROS_DOMAIN_ID': domain})
        killer = threading.Timer(60.0, running.kill)
        killer.start()
        assert server.asked.wait(30)
        running.send_signal(signal.SIGTERM)
        time.sleep(0.2)
        server.may_take.set()
        out, errors = running.communicate()
        killer.cancel()
        assert server.cancelled.is_set(), errors
        assert running.returncode == 130 and out.startswith('PREEMPTED'), out + errors
    finally:
        server.close()
