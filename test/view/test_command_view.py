"""`ros2_ik view` as a child process, and its refusals."""

import os
from pathlib import Path
import signal
import socket
import subprocess
import sys
from urllib.request import urlopen

import pytest

from ros2_ik.cli import main

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, str(ROOT / 'scripts/ros2_ik'), 'view']


def refusal(capsys, *arguments):
    """Assert that a command line is refused; return the error message."""
    try:
        code = main(['view', *map(str, arguments)])
    except SystemExit as end:
        code = end.code
    out, err = capsys.readouterr()
    assert code == 2 and out == '' and 'Traceback' not in err
    return err.strip().splitlines()[-1]


def test_view_serves_the_page_and_ends_at_sigint(free_port):
    pytest.importorskip('viser')
    process = subprocess.Popen(
        [*COMMAND, 'panda', '--scene', 'table', '--port', str(free_port)], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        name, address, end = process.stdout.readline().split(maxsplit=2)
        assert (name, end) == ('panda:', '(Ctrl-C ends it)\n')
        assert address.startswith(f'http://127.0.0.1:{free_port}/')
        with urlopen(address, timeout=20) as answer:
            assert b'<html' in answer.read(1000)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 0 and out == '' and err == ''


def test_port_in_use_is_refused(capsys, free_port):
    pytest.importorskip('viser')
    with socket.socket() as other:
        other.bind(('127.0.0.1', free_port))
        other.listen()
        reason = refusal(capsys, 'panda', '--port', free_port)
        assert f"'127.0.0.1:{free_port}': Address already in use; choose another" in reason


@pytest.mark.parametrize(('arguments', 'reason'), [
    (['no_robot'], "unknown robot 'no_robot'"),
    (['panda', '--port', '0'], "'0' is not a whole number from 1 to 65535"),
    (['panda', '--tip', 'panda_hant'], "did you mean 'panda_hand'"),
    (['panda', '--node', '/ros2_ik'], 'ROBOT without --node'),
    (['panda', '--problem', 'no_file.yaml'], "'no_file.yaml': No such file"),
    (['panda', '--problem', ROOT / 'examples/ros/welding.yaml'], 'unknown frame')])
def test_malformed_arguments_of_view_are_refused(capsys, arguments, reason):
    pytest.importorskip('viser')
    assert reason in refusal(capsys, *arguments)


def test_missing_viser_is_refused_with_the_install_command():
    environment = {**os.environ, 'ROS2_IK_WITHOUT': 'viser', 'PYTHONPATH': os.pathsep.join(
        [str(ROOT / 'test/without'), os.environ.get('PYTHONPATH', '')])}
    ended = subprocess.run([*COMMAND, 'panda'], capture_output=True, text=True, timeout=60,
                           env=environment)
    assert (ended.returncode, ended.stdout) == (2, '')
    assert ended.stderr == 'ros2_ik: viser is missing: pip install viser\n'
