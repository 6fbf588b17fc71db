"""Run the launch tests, if launch_testing is installed."""

from pathlib import Path
import subprocess
import sys

from ament_index_python.packages import get_packages_with_prefixes
import pytest

pytest.importorskip('launch_testing')


@pytest.mark.timeout(300)
@pytest.mark.parametrize(('name', 'package'), [
    ('answering_demo', 'ros2_ik'), ('moving_ros2_control', 'controller_manager')])
def test_launch_test_passes(name, package):
    if package not in get_packages_with_prefixes():
        pytest.skip(f'package {package} is not installed')
    program = Path(__file__).with_name(f'{name}.py')
    run = subprocess.run([sys.executable, '-m', 'launch_testing.launch_test', program],
                         capture_output=True, text=True, timeout=280)
    assert run.returncode == 0, run.stdout + run.stderr
