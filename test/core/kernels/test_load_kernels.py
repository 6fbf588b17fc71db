"""Whatever keeps the inner loops from being compiled is a warning, not an error."""

from importlib.util import find_spec
import os
from pathlib import Path
import resource
from shutil import copytree
import subprocess
import sys
import warnings

import pytest

import ros2_ik.core
from ros2_ik.core import kernels_cached, load_kernels

needs_numba = pytest.mark.skipif(not find_spec('numba'), reason='numba is not installed')
ASK = """
import warnings
warnings.simplefilter('error', DeprecationWarning)
from ros2_ik.core import kernels_cached, load_kernels, Robot, solve_pose
before = kernels_cached()
print(before, load_kernels(), kernels_cached())
"""


def ask(code=ASK, limit=None, **environment):
    """Run Python in a process of its own; gives what it printed, and what went wrong."""
    inherited = {name: value for name, value in os.environ.items()
                 if not name.startswith('NUMBA_')}
    done = subprocess.run(
        [sys.executable, '-c', code], env={**inherited, **environment}, text=True,
        capture_output=True, timeout=100, check=True,
        preexec_fn=limit and (lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))))
    return done.stdout.split(), done.stderr


def test_without_numba(tmp_path):
    """That is no fault: it is optional."""
    answer, said = ask("import sys; sys.modules['numba'] = None" + ASK,
                       XDG_CACHE_HOME=str(tmp_path))
    assert answer == ['False', 'False', 'False'] and not said


@needs_numba
def test_broken_numba(tmp_path):
    (tmp_path / 'numba.py').write_text("raise OSError('libllvm.so: no such file')\n")
    path = f'{tmp_path}{os.pathsep}{os.environ.get("PYTHONPATH", "")}'
    answer, said = ask(XDG_CACHE_HOME=str(tmp_path / 'cache'), PYTHONPATH=path)
    assert answer == ['False', 'False', 'False']
    assert 'RuntimeWarning: the inner loops are not compiled' in said and 'libllvm.so' in said


@pytest.mark.parametrize('kind', ['file', 'absent'])
def test_cache_that_cannot_be_written_to(tmp_path, kind):
    """Where a user has named the folder, none else is taken."""
    (tmp_path / 'file').write_text('')
    folder = tmp_path / 'file' if kind == 'file' else Path('/proc/no/such/folder')
    answer, said = ask(NUMBA_CACHE_DIR=str(folder))
    assert answer == ['False', 'False', 'False']
    assert 'RuntimeWarning: the inner loops are not compiled' in said and str(folder) in said


@needs_numba
def test_home_that_cannot_be_written_to(tmp_path):
    """Then a folder for temporary files is taken, the same one each time."""
    (tmp_path / 'file').write_text('')
    code = 'from ros2_ik.core import kernels_cached; import os; kernels_cached(); ' \
           'print(os.environ["NUMBA_CACHE_DIR"])'
    homes = {'XDG_CACHE_HOME': str(tmp_path / 'file'), 'TMPDIR': str(tmp_path)}
    (folder,), _ = ask(code, **homes)
    assert ask(code, **homes)[0] == [folder]
    assert tmp_path in Path(folder).parents and Path(folder).is_dir()


def test_folder_for_temporary_files_of_others(tmp_path):
    """Code that anybody may have put there is not run."""
    (tmp_path / 'file').write_text('')
    planted = tmp_path / f'ros2_ik-{os.getuid()}'
    planted.mkdir()
    planted.chmod(0o777)
    answer, said = ask(XDG_CACHE_HOME=str(tmp_path / 'file'), TMPDIR=str(tmp_path))
    assert answer == ['False', 'False', 'False'] and 'NUMBA_CACHE_DIR' in said


def test_full_disk(tmp_path):
    """It is seen before a minute of computing has gone into what cannot be kept."""
    small = tmp_path / 'small'
    small.mkdir()
    mount = ['mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', str(small)]
    if os.getuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip('needs the right to mount')
    try:
        answer, said = ask(XDG_CACHE_HOME=str(small), TMPDIR=str(small))
    finally:
        subprocess.run(['umount', str(small)], check=True)
    assert answer == ['False', 'False', 'False'] and 'No space left' in said


@needs_numba
@pytest.mark.parametrize('suffix', ['nbi', 'nbc'])
@pytest.mark.slow
def test_damaged_cache(tmp_path, suffix):
    """As after a power failure: it is filled anew, once."""
    code = ('from ros2_ik.core.kernels import source\n'     # one loop, which takes less time
            'del source._formulas[:], source._loops[1:]\n'
            'from ros2_ik.core import kernels_cached, load_kernels\n'
            'print(kernels_cached(), load_kernels(), kernels_cached())')
    environment = {'NUMBA_CACHE_DIR': str(tmp_path)}
    assert ask(code, **environment)[0] == ['False', 'True', 'True']
    (path,) = tmp_path.glob(f'*/*.{suffix}')
    good = path.read_bytes()
    for damaged in (b'', bytes(len(good))):
        path.write_bytes(damaged)
        known = str(len(damaged) == len(good))
        assert ask(code, **environment) == ([known, 'True', 'True'], '')
        assert len(path.read_bytes()) == len(good)


@needs_numba
def test_numba_that_was_imported_before():
    """All is loaded from our folder; nothing is compiled anew."""
    ask()
    answer, _ = ask("""
import numba
from numba.core import event
from ros2_ik.core import load_kernels
with event.install_recorder('numba:compile') as compiled:
    print(load_kernels(), len(compiled.buffer))
""")
    assert answer == ['True', '0']


@needs_numba
def test_cache_other_copy_of_the_package_compiles_nothing(tmp_path):
    """A checkout, an installed package and another clone share what has been compiled."""
    ask()
    package = Path(ros2_ik.core.__file__).resolve().parents[1]
    copytree(package / 'core', tmp_path / 'ros2_ik' / 'core')
    (tmp_path / 'ros2_ik' / '__init__.py').write_bytes((package / '__init__.py').read_bytes())
    answer, _ = ask(f'import sys; sys.path.insert(0, {str(tmp_path)!r})' """
from numba.core import event
import ros2_ik.core
from ros2_ik.core import kernels_cached, load_kernels
with event.install_recorder('numba:compile') as compiled:
    print(ros2_ik.core.__file__, kernels_cached(), load_kernels(), len(compiled.buffer))
""")
    assert answer == [str(tmp_path / 'ros2_ik' / 'core' / '__init__.py'), 'True', 'True', '0']


@needs_numba
def test_what_is_cached_is_known(tmp_path):
    """And when some of it is gone, that is seen."""
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        assert load_kernels() and kernels_cached()
    folder = Path(os.environ['NUMBA_CACHE_DIR'])
    ask(NUMBA_CACHE_DIR=str(folder))      # of this one's environment, if pytest's is another
    answer, _ = ask(NUMBA_CACHE_DIR=str(folder))    # the next process knows before it loads them
    assert answer == ['True', 'True', 'True']
    gone = list(folder.rglob('sqp.hold*.nbc'))    # other checkouts may have theirs there, too
    assert gone
    for number, path in enumerate(gone):
        path.rename(tmp_path / str(number))
    try:
        assert not kernels_cached()
    finally:
        for number, path in enumerate(gone):
            (tmp_path / str(number)).rename(path)
    assert kernels_cached()
