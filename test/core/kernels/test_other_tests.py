"""The tests of the solvers, with compiled inner loops."""

import os
from pathlib import Path
import subprocess
import sys

import pytest

pytest.importorskip('numba')
CORE = Path(__file__).parents[1]
FILES = ['test_sqp.py', 'test_costs.py', 'test_nasty_cases.py', 'test_search.py',
         'test_collisions.py']
# a compiled attempt goes on to its end, for a fraction of a millisecond
IN_ONE_PIECE = ('cancelled_within_an_iteration or flag_is_looked_at_in_every_iteration'
                ' or the_deadline_is_kept or test_cancelling')


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_with_compiled_loops():
    files = [str(CORE / 'solvers' / name) for name in FILES if (CORE / 'solvers' / name).exists()]
    command = [sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--timeout', '60',
               '-k', f'not ({IN_ONE_PIECE})', *files]
    # of the same folders as here: loops of another folder would be compiled once more
    env = {**os.environ, 'COMPILED': '1', 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))}
    result = subprocess.run(command, env=env, cwd=CORE, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[-4000:]
