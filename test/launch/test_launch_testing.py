"""Runs the launch tests where launch_testing is installed, whatever pytest it fits to."""

from pathlib import Path
import subprocess
import sys

import pytest

pytest.importorskip('launch_testing')


def test_the_demo_answers():
    program = Path(__file__).with_name('answering_demo.py')
    run = subprocess.run([sys.executable, '-m', 'launch_testing.launch_test', program],
                         capture_output=True, text=True, timeout=110)
    assert run.returncode == 0, run.stdout + run.stderr
