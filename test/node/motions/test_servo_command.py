"""The command `ros2_ik servo` with a keyboard and a gamepad."""

import os
import pty
import signal
import subprocess
from unittest.mock import Mock

from ament_index_python.packages import get_package_prefix
from node_harness import eventually, repeating
import numpy as np
import pytest
from sensor_msgs.msg import Joy
from servo_harness import FRAMES, PERIOD, TIP

from ros2_ik.cli.servo import Gamepad, ZERO_TWIST


def start_command(domain, *words, **options):
    return subprocess.Popen(
        [f'{get_package_prefix("ros2_ik")}/lib/ros2_ik/ros2_ik', 'servo', *words],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, 'ROS_DOMAIN_ID': str(domain)}, **options)


def wait_for_twists(servo):
    """Wait until the command has switched the servo on and publishes twists."""
    eventually(lambda: servo.statuses and servo.statuses[-1].mode == 'twist'
               and servo.client.node.count_publishers('ros2_ik/servo/twist'), 'the servo')


@pytest.mark.slow
def test_held_key_moves_the_tip(domain, servo):
    keyboard, terminal = pty.openpty()
    before = servo.wait_for_rest()
    with start_command(domain, '--tip', TIP, '--speed', '0.1', stdin=terminal) as process:
        try:
            wait_for_twists(servo)
            assert np.abs(servo.wait_for_rest() - before).max() < 1e-9
            with repeating(lambda: os.write(keyboard, b'a'), 0.1):
                eventually(lambda: FRAMES.tip(servo.q()).translation[1]
                           > FRAMES.tip(before).translation[1] + 0.02, 'motion')
            moved = FRAMES.tip(servo.wait_for_rest()).translation - FRAMES.tip(before).translation
            assert np.abs(moved[[0, 2]]).max() < 2e-3
            os.write(keyboard, b'x')
            assert process.wait(20) == 0, process.stdout.read()
        finally:
            process.kill()
            os.close(keyboard)
            os.close(terminal)
    assert servo.switch('off').message == 'the servo was off'


@pytest.mark.slow
def test_gamepad_moves_the_tip_while_its_button_is_held(domain, servo):
    with start_command(domain, '--joy', '/joy', stdin=subprocess.DEVNULL) as process:
        try:
            wait_for_twists(servo)
            before, joy = servo.wait_for_rest(), Joy(axes=[0.0, 1.0, 0, 0, 0], buttons=[0] * 8)
            with servo.client.publishing('/joy', joy, PERIOD):
                assert np.abs(servo.wait_for_rest() - before).max() < 0.01
                joy.buttons[4] = 1
                eventually(lambda: np.abs(servo.q() - before).max() > 0.01, 'motion')
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 0, process.stdout.read()
        finally:
            process.kill()


def test_gamepad_without_its_button_is_reported_once_and_moves_nothing(capsys):
    gamepad = Gamepad(Mock(), '/joy', 20)
    for _ in range(2):
        gamepad._on_joy(Joy(axes=[1.0] * 5, buttons=[1] * 8))
        assert gamepad.signs() == ZERO_TWIST
    assert capsys.readouterr().err.count('/joy has 8 buttons') == 1


def test_servo_command_without_a_terminal_is_refused(domain):
    with start_command(domain, stdin=subprocess.DEVNULL) as process:
        assert process.wait(20) == 2 and 'stdin is not a terminal' in process.stdout.read()
