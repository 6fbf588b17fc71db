"""What all tests need."""

from importlib.machinery import ModuleSpec, PathFinder
import os
from pathlib import Path
import signal
import sys
from types import ModuleType

import pytest

# Who starts the tests in the background has Ctrl-C ignored, or with nohup the end of the terminal,
# and processes inherit that: those that tests interrupt would never notice.
for number, usual in ((signal.SIGINT, signal.default_int_handler),
                      (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)

# Processes find each other at once, and all else is as users have it.
os.environ.setdefault('FASTRTPS_DEFAULT_PROFILES_FILE',
                      str(Path(__file__).with_name('fast_discovery.xml')))

JUDGES = {'fcl': 'python-fcl', 'trimesh': 'trimesh', 'yourdfpy': 'yourdfpy'}
WITHOUT = os.environ.get('ROS2_IK_WITHOUT', '').split()     # see without/sitecustomize.py


class MissingJudge(ModuleType):
    """In the place of a judge that is not installed: whoever uses it is skipped, and says so."""

    def __getattr__(self, name: str) -> object:
        if name.startswith('__'):   # what Python itself asks a module for
            raise AttributeError(name)
        judge = self.__name__.partition('.')[0]
        pytest.skip(f'{judge} judges here and is not installed; pip install {JUDGES[judge]}',
                    allow_module_level=True)


class MissingJudges:
    """
    Finds the judges that are not installed, so that only the tests that use one are skipped.

    package.xml cannot bring these libraries.
    """

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        judge = name.partition('.')[0]
        if judge in JUDGES and (judge in WITHOUT or not PathFinder.find_spec(judge)):
            return ModuleSpec(name, MissingJudges, is_package=True)
        return None

    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType:
        return MissingJudge(spec.name)

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Leave it empty."""


sys.meta_path.insert(0, MissingJudges)

# Judged by when an arm is where: beside others of their kind, each with a node and a mock, they
# would have to wait for a processor. So one process has them all, while another one has the core.
MOTIONS = ('test/node/motions/', *(f'test/node/test_{name}.py' for name in (
    'controllers', 'execute_action', 'execute_streams', 'motion_kills', 'right_of_way',
    'servo_end')))

# The tests of each of these folders share a node.
FOLDERS = 'test/node/services/', 'test/node/robots/'

NICE = 10

# Nothing in them waits for anything: a Chromium that draws beside them disturbs nobody.
CALM = ('test/core/functions/', 'test/core/kernels/', 'test/core/motion/', 'test/test_')


def scope_of(item: str) -> str:
    """Return what one process has of the tests: motions, pages, a folder with one node, a file."""
    file: str = item.partition('::')[0]
    if file.endswith('_browser.py'):    # a Chromium draws
        return 'pages'
    if file.startswith(MOTIONS):
        return 'motions'
    return next((folder for folder in FOLDERS if file.startswith(folder)), file)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put motions first, beside the core; and pages last, beside what waits for nothing."""
    def turn(item: pytest.Item) -> int:
        scope = scope_of(item.nodeid)
        if scope.startswith(CALM):
            return 4
        return {'motions': 0, 'pages': 3}.get(scope, 1 if scope.startswith('test/core/') else 2)
    items.sort(key=turn)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let the motions of another process come first: what it starts, too, is nicer from now on."""
    if ('PYTEST_XDIST_WORKER' in os.environ and scope_of(item.nodeid) != 'motions'
            and os.getpriority(os.PRIO_PROCESS, 0) < NICE):
        os.nice(NICE)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Give each file to one process, the motions all to the same, and the pages."""
    from xdist.scheduler import LoadScopeScheduling

    class LoadFiles(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return scope_of(nodeid)
    config.option.loadscopereorder = False
    return LoadFiles(config, log)
