"""Judges that are not installed, order of tests, and distribution of tests to processes."""

from importlib.machinery import ModuleSpec, PathFinder
import os
from pathlib import Path
import signal
import sys
from types import ModuleType

import pytest

# A background job of a shell ignores SIGINT, nohup ignores SIGHUP, and child processes inherit
# that: a process that a test interrupts would not end.
for number, default in ((signal.SIGINT, signal.default_int_handler),
                        (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, default)

# Fast discovery of DDS participants; all other DDS settings are the defaults.
os.environ.setdefault('FASTRTPS_DEFAULT_PROFILES_FILE',
                      str(Path(__file__).with_name('fast_discovery.xml')))

JUDGES = {'fcl': 'python-fcl', 'trimesh': 'trimesh', 'yourdfpy': 'yourdfpy'}
HIDDEN = os.environ.get('ROS2_IK_WITHOUT', '').split()     # see without/sitecustomize.py


class MissingJudge(ModuleType):
    """Stand-in for a judge that is not installed: a test that uses it is skipped."""

    def __getattr__(self, name: str) -> object:
        if name.startswith('__'):   # attributes that the import system reads
            raise AttributeError(name)
        judge = self.__name__.partition('.')[0]
        pytest.skip(f'{judge} judges here and is not installed; pip install {JUDGES[judge]}',
                    allow_module_level=True)


class MissingJudges:
    """
    Import hook that replaces missing judges, so that only tests that use them are skipped.

    These libraries have no rosdep key, so package.xml cannot require them.
    """

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        judge = name.partition('.')[0]
        if judge in JUDGES and (judge in HIDDEN or not PathFinder.find_spec(judge)):
            return ModuleSpec(name, MissingJudges, is_package=True)
        return None

    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType:
        return MissingJudge(spec.name)

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Leave the module empty."""


sys.meta_path.insert(0, MissingJudges)
sys.path.insert(0, str(Path(__file__).parent))   # judge.py, node_harness.py

# These tests judge positions of an arm over time, so two of them must not compete for a processor:
# one xdist process runs them all, while others run the tests of core and of nodes.
MOTIONS = ('test/node/motions/', *(f'test/node/test_{name}.py' for name in (
    'execute_action', 'execute_streams', 'motion_kills')))

# The tests of each of these folders share a node.
SHARED_NODE_FOLDERS = 'test/node/services/', 'test/node/robots/'

NICENESS = 10    # of all processes but that of the motions

# These tests do not depend on timing, so Chromium may render at the same time.
UNTIMED = ('test/core/functions/', 'test/core/kernels/', 'test/core/motion/', 'test/test_')
LONGEST_UNTIMED = ('test/core/kernels/', 'test/test_velocity_examples')    # the slowest of these


def scope_of(item: str) -> str:
    """Return the group of a test, run by one process: motions, pages, a folder or a file."""
    file: str = item.partition('::')[0]
    if file.endswith('_browser.py'):    # Chromium renders
        return 'pages'
    if file.startswith(MOTIONS):
        return 'motions'
    return next((folder for folder in SHARED_NODE_FOLDERS if file.startswith(folder)), file)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """
    Run motions first, beside core and nodes; run pages last, beside the tests without timing.

    Files of core, which compute, alternate with files that mostly wait for nodes. The shortest
    tests without timing run last, so that all processes end at about the same time.
    """
    groups: dict[bool, list[str]] = {True: [], False: []}    # of core, and the others

    def sort_key(item: pytest.Item) -> tuple[int, int]:
        scope = scope_of(item.nodeid)
        if scope.startswith(UNTIMED):
            return 3 if scope.startswith(LONGEST_UNTIMED) else 4, 0
        if scope in ('motions', 'pages'):
            return 0 if scope == 'motions' else 2, 0
        group = groups[scope.startswith('test/core/')]
        if scope not in group:
            group.append(scope)
        return 1, group.index(scope)
    items.sort(key=sort_key)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Lower the priority of this process and its children below that of the motions."""
    if ('PYTEST_XDIST_WORKER' in os.environ and scope_of(item.nodeid) != 'motions'
            and os.getpriority(os.PRIO_PROCESS, 0) < NICENESS):
        os.nice(NICENESS)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Run each group of tests in one process."""
    from xdist.scheduler import LoadScopeScheduling

    class LoadFiles(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return scope_of(nodeid)
    config.option.loadscopereorder = False
    return LoadFiles(config, log)
