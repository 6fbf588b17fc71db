"""Which tests are collected and which are skipped, by what is installed."""

import os
from pathlib import Path
import re
import subprocess
import sys

import pytest

ROOT = Path(__file__).parents[1]
# of launch and launch_ros for Jazzy, from their setup.py: names and modules of the plugins
PLUGINS = {'launch_testing': ('launch_testing', 'launch_testing.pytest.hooks'),
           'launch_testing_ros': ('launch_ros', 'launch_testing_ros_pytest_entrypoint')}


def collect(*words, without='', path=''):
    """Collect tests in a process that does not have some modules; gives it and their number."""
    folders = [str(ROOT / 'test' / 'without'), str(path), os.environ.get('PYTHONPATH', '')]
    inherited = {name: value for name, value in os.environ.items() if name != 'PYTEST_ADDOPTS'}
    run = subprocess.run(
        [sys.executable, '-m', 'pytest', '-p', 'no:cacheprovider', '--collect-only', '-q', *words],
        cwd=ROOT, capture_output=True, text=True, timeout=100,
        env=inherited | {'ROS2_IK_WITHOUT': without, 'PYTHONPATH': os.pathsep.join(
            folder for folder in folders if folder)})
    found = re.search(r'^(\d+) tests? collected', run.stdout, re.MULTILINE)
    return run, int(found[1]) if found else 0


@pytest.mark.slow
def test_without_judges_the_rest_is_collected_and_the_reason_told():
    run, count = collect(
        'test/core/scene/test_shapes.py', 'test/core/collision/test_self_pairs.py', '-rs',
        without='fcl trimesh yourdfpy')
    assert run.returncode == 0 and count > 5, run.stdout + run.stderr
    assert 'test_shapes.py::' not in run.stdout and 'test_self_pairs.py::' in run.stdout
    assert 'trimesh judges here and is not installed; pip install trimesh' in run.stdout


@pytest.mark.slow
def test_the_node_is_tested_wherever_rclpy_is():
    pytest.importorskip('rclpy')
    run, count = collect('test/node', without='fcl trimesh yourdfpy')
    assert run.returncode == 0 and count > 500, run.stdout + run.stderr
    # an installation that is broken
    run, count = collect('test/node/test_conversions.py', without='std_srvs')
    assert run.returncode not in (0, 5), run.stdout
    assert 'std_srvs' in run.stdout + run.stderr


def test_without_rclpy_there_is_no_node_to_test():
    run, count = collect('test/node', 'test/mock', 'test/demo', 'test/launch', without='rclpy')
    assert run.returncode == 5 and count == 0, run.stdout + run.stderr


def test_with_the_plugins_of_launch_testing_pytest_runs(tmp_path):
    """They do not load in every pytest that there is; here they never do."""
    for package, (name, module) in PLUGINS.items():
        about = tmp_path / f'{package}-1.0.dist-info'
        about.mkdir()
        (about / 'METADATA').write_text(f'Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n')
        (about / 'entry_points.txt').write_text(f'[pytest11]\n{name} = {module}\n')
        path = tmp_path / f'{module.replace(".", "/")}.py'
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('raise RuntimeError("a plugin that does not load was loaded")\n')
    run, count = collect('test/test_readme.py', path=tmp_path)
    assert run.returncode == 0 and count > 0, run.stdout + run.stderr
