"""Node and mock robot as the launch files start them, but without launch."""

from contextlib import contextmanager
import os
import signal
import subprocess
import sys

from ament_index_python.packages import get_package_prefix
import pytest

from ros2_ik.demo.domain import unused_domain

PROGRAMS = os.path.join(get_package_prefix('ros2_ik'), 'lib', 'ros2_ik')


@pytest.fixture(scope='module')
def environment():
    """Return environment variables with a separate ROS domain."""
    return os.environ | {'ROS_DOMAIN_ID': str(unused_domain())}


@contextmanager
def running(environment, program, *arguments):
    """Run a program of the package, which must end cleanly."""
    process = subprocess.Popen([sys.executable, os.path.join(PROGRAMS, program), *arguments],
                               env=environment, start_new_session=True)
    try:
        yield
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def call(environment, *arguments):
    program = os.path.join(PROGRAMS, 'ros2_ik')
    command = [sys.executable, program, 'call', '--wait', '30', *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=90)


def test_node_and_mock_robot_in_a_namespace_solve(environment):
    with running(environment, 'mock_robot', '--robot', 'ur5', '--ros-args', '-r', '__ns:=/cell'), \
            running(environment, 'ik_node', '--ros-args', '-r', '__ns:=/cell'):
        answer = call(environment, '--node', '/cell/ros2_ik', '--tip', 'tool0', '--xyz', '0.4',
                      '0.1', '0.5', '--seed', 'elbow_joint=1.2')
        assert answer.returncode == 0, answer.stderr
        assert 'elbow_joint' in answer.stdout
