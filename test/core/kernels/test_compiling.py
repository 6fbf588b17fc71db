"""Numba functions compile at first use and are cached on disk."""

import os
from pathlib import Path
from shutil import copytree
import subprocess
import sys

import ros2_ik.core

# runs a small kernel; prints its result, and whether it was compiled (or loaded)
RUN_KERNEL = """
from numba.core import event
from ros2_ik.core.kernels.comparisons import are_within
with event.install_recorder('numba:compile') as compiled:
    import numpy as np
    f = np.zeros(1)
    print(are_within.run(f, f - 1, f + 1, 0.0), len(compiled.buffer) > 0)
"""
SOLVE_POSE = """
import sys
from numba.core import event
from ros2_ik.core import Configuration, Robot, solve_pose
robot = Robot.load('panda')
T = Configuration(robot, robot.neutral).transform('panda_hand')
with event.install_recorder('numba:compile') as compiled:
    found = solve_pose(robot, 'panda_hand', T, robot.neutral + 0.05, collisions=False)
print(found.success, len(compiled.buffer))
"""


def run(code, **environment):
    """Run Python in a child process; return its output and errors."""
    inherited = {name: value for name, value in os.environ.items()
                 if not name.startswith('NUMBA_')}
    done = subprocess.run([sys.executable, '-c', code], env={**inherited, **environment},
                          text=True, capture_output=True, timeout=100, check=True)
    return done.stdout.split(), done.stderr


def test_first_solve_compiles_and_prints_nothing():
    assert run(SOLVE_POSE) == (['True', '0'], '')


def test_missing_numba_is_named_in_the_error():
    code = "import sys; sys.modules['numba'] = None\n" + RUN_KERNEL
    done = subprocess.run([sys.executable, '-c', code], text=True, capture_output=True,
                          timeout=100, check=False)
    assert done.returncode == 1 and 'numba' in done.stderr.splitlines()[-1]


def test_kernel_runs_with_a_warning_if_the_cache_is_not_writable(tmp_path):
    (tmp_path / 'file').write_text('')
    output, warnings = run(RUN_KERNEL, XDG_CACHE_HOME=str(tmp_path / 'file'))
    assert output == ['True', 'True']
    (line,) = warnings.splitlines()
    assert 'is not cached' in line and str(tmp_path) in line and 'NUMBA_CACHE_DIR' in line


def test_corrupt_cache_is_replaced(tmp_path):
    """Its files are empty or full of zeros, as after a power failure."""
    environment = {'NUMBA_CACHE_DIR': str(tmp_path)}
    for suffix, is_empty in (('nbi', True), ('nbc', False)):
        assert run(RUN_KERNEL, **environment)[0] == ['True', 'True']
        (path,) = tmp_path.glob(f'*/*/*.{suffix}')
        path.write_bytes(b'' if is_empty else bytes(path.stat().st_size))
        output, warnings = run(RUN_KERNEL, **environment)
        assert output == ['True', 'True'] and 'removing the compiled code' in warnings


def test_copy_of_the_package_recompiles_only_if_compiled_sources_differ(tmp_path):
    """Checkouts and installed packages share the cache."""
    package = Path(ros2_ik.core.__file__).resolve().parents[1]
    copytree(package / 'core', tmp_path / 'ros2_ik' / 'core')
    (tmp_path / 'ros2_ik' / '__init__.py').write_bytes((package / '__init__.py').read_bytes())
    environment = {'NUMBA_CACHE_DIR': str(tmp_path)}
    assert run(RUN_KERNEL, **environment)[0] == ['True', 'True']
    code = f'import sys; sys.path.insert(0, {str(tmp_path)!r})' + RUN_KERNEL
    for edited, compiles in (('problem/program.py', 'False'), ('functions/angles.py', 'True')):
        with (tmp_path / 'ros2_ik/core' / edited).open('a', encoding='utf-8') as source:
            source.write('# edited\n')
        assert run(code, **environment)[0] == ['True', compiles]
