"""The tests of the solvers, with inner loops that are not compiled."""

import os
from pathlib import Path
import subprocess
import sys

import pytest

CORE = Path(__file__).parents[1]
# not those that count what is found in a time: plain Python is ten times slower and more
FILES = ['test_sqp.py', 'test_costs.py', 'test_nasty_cases.py', 'test_search.py']


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_with_plain_loops():
    files = [str(CORE / 'solvers' / name) for name in FILES if (CORE / 'solvers' / name).exists()]
    command = [sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--timeout', '120',
               *files]
    env = {**os.environ, 'PLAIN': '1', 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))}
    result = subprocess.run(command, env=env, cwd=CORE, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[-4000:]
