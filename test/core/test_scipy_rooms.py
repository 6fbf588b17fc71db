"""SciPy's rooms are loaded when they are used, by one thread at a time."""

import ast
import subprocess
import sys
import threading
import time

import pytest

from ros2_ik.core import scipy_rooms


def test_one_thread_loads_at_a_time(monkeypatch):
    inside, most = [], []

    def load(name):
        inside.append(name)
        most.append(len(inside))
        time.sleep(0.02)
        inside.remove(name)
        return name
    monkeypatch.setattr(scipy_rooms, 'import_module', load)
    found = []
    threads = [threading.Thread(target=lambda k=k: found.append(getattr(scipy_rooms, f'room_{k}')))
               for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(8):
        monkeypatch.delattr(scipy_rooms, f'room_{k}')
    assert sorted(found) == [f'scipy.room_{k}' for k in range(8)]
    assert max(most) == 1


def test_rooms_that_nobody_has():
    with pytest.raises(ModuleNotFoundError, match=r'scipy\.attic'):
        _ = scipy_rooms.attic
    assert not hasattr(scipy_rooms, '__path__')


def test_none_is_loaded_with_the_library():
    code = "import sys, ros2_ik.core; print([n for n in sys.modules if n.startswith('scipy.')])"
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    found = ast.literal_eval(done.stdout)
    assert not {'scipy.spatial', 'scipy.optimize', 'scipy.sparse'} & set(found), found
