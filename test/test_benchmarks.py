"""Benchmarks without the packages that they compare with."""

from pathlib import Path
import subprocess
import sys

import pytest

FOLDER = Path(__file__).parents[1] / 'benchmarks'
RUN = """
import runpy, sys
absent, folder, *sys.argv = sys.argv[1:]
sys.modules[absent] = None
sys.path.insert(0, folder)
runpy.run_path(f'{folder}/{sys.argv[0]}', run_name='__main__')
"""


def run(absent, *arguments):
    return subprocess.run([sys.executable, '-c', RUN, absent, str(FOLDER), *arguments],
                          cwd=FOLDER.parent, capture_output=True, text=True, timeout=100)


NEEDED = [('pose_ik.py', 'yourdfpy', 'yourdfpy'), *(
    pytest.param(*needed, marks=pytest.mark.slow) for needed in (
        ('collision_ik.py', 'fcl', 'python-fcl'), ('constrained_ik.py', 'pydrake', 'drake'),
        ('whole_body_ik.py', 'yourdfpy', 'yourdfpy')))]


@pytest.mark.parametrize(('name', 'module', 'package'), NEEDED)
def test_without_a_package(name, module, package):
    ended = run(module, name)
    line, = ended.stderr.splitlines()
    assert ended.returncode == 1
    assert line.startswith(f'{package} is not installed: tools/run pip install ')
    assert package in line.split('install ')[1].split()
    told = run(module, name, '--help')
    assert told.returncode == 0 and not told.stderr
    assert f'benchmarks/{name} [--' in told.stdout and line in told.stdout
