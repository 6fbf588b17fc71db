"""Fixtures: the command, in this process or a child; a demo; yourdfpy as independent judge."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
import json
import os
from pathlib import Path
import signal
import subprocess
import sys
from typing import Any, NamedTuple

from judge import RestJudge
import numpy as np
import pytest
from small_robots import joint, urdf

from ros2_ik.cli import main
from ros2_ik.cli.arguments import CommandError
from ros2_ik.core import Robot

COMMAND = Path(__file__).parents[2] / 'scripts' / 'ros2_ik'
LOCALHOST_ONLY = {'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}

# two links of 0.5 m and 0.3 m that rotate about z, and a prismatic joint along z at the end
PLANAR_ARM = urdf(
    joint('shoulder', 'revolute', 'base', 'upper', axis=(0, 0, 1), limits=(-2.0, 2.0)),
    joint('elbow', 'continuous', 'upper', 'fore', (0.5, 0, 0), axis=(0, 0, 1)),
    joint('lift', 'prismatic', 'fore', 'slide', (0.3, 0, 0), axis=(0, 0, 1), limits=(0.0, 0.2)),
    name='planar_arm')


class Run(NamedTuple):
    """Exit code and output of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Return the output as strict JSON."""
        return json.loads(self.out, parse_constant=lambda name: pytest.fail(f'{name} in JSON'))

    def refusal(self) -> str:
        """Assert that the command was refused; return its one-line reason."""
        assert self.code == 2
        assert self.out == ''
        lines = self.err.strip().splitlines()
        assert 'Traceback' not in self.err
        assert len(lines) == 1, self.err
        return lines[0]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Callable[..., Run]:
    """Return a function that runs the command in this process."""
    def run(*arguments: object) -> Run:
        try:
            code = main([*map(str, arguments)])
        except SystemExit as end:
            code = int(end.code or 0)
        return Run(code, *capsys.readouterr())
    return run


@pytest.fixture(scope='session')
def child_command() -> Callable[..., Run]:
    """Return a function that runs the command in a child process."""
    def run(*arguments: object, **environment: str) -> Run:
        ended = subprocess.run([sys.executable, COMMAND, *map(str, arguments)],
                               capture_output=True, text=True, timeout=60,
                               env=os.environ | environment)
        return Run(ended.returncode, ended.stdout, ended.stderr)
    return run


@pytest.fixture(scope='module')
def domain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run a demo in its own ROS domain, which is yielded; SIGINT must end it with code 0."""
    from ros2_ik.demo.domain import unused_domain
    domain, log = str(unused_domain()), tmp_path_factory.mktemp('demo') / 'log'
    demo = subprocess.Popen(
        [sys.executable, '-m', 'ros2_ik.demo'], stdout=subprocess.PIPE, stderr=log.open('wb'),
        env=os.environ | LOCALHOST_ONLY | {'ROS_DOMAIN_ID': domain},
        text=True, start_new_session=True)
    try:
        assert any('Ctrl-C ends' in line for line in demo.stdout or ()), log.read_text()
        yield domain
    finally:
        os.killpg(demo.pid, signal.SIGINT)
        assert demo.wait(10) == 0
    assert 'Traceback' not in log.read_text() and 'exit code' not in log.read_text()


@pytest.fixture
def in_domain(domain: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the ROS domain of this process and its children to that of the demo."""
    for name, value in (LOCALHOST_ONLY | {'ROS_DOMAIN_ID': domain}).items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def set_parameter() -> Callable[[Any, str, float], None]:
    """Return a function that sets a floating-point parameter of a node."""
    from rcl_interfaces.srv import SetParameters
    from rclpy.parameter import Parameter

    def set_value(client: Any, name: str, number: float) -> None:
        service = client.connect(SetParameters, 'set_parameters', 60.0)
        request = SetParameters.Request(parameters=[Parameter(name, value=number)
                                                    .to_parameter_msg()])
        results = []
        while not results:
            # DDS may lose the response to a new client
            with suppress(CommandError):
                results = client.ask(service, request, 5.0).results
        assert results[0].successful, results[0].reason
    return set_value


@pytest.fixture
def planar_arm(tmp_path: Path) -> Path:
    path = tmp_path / 'planar arm.urdf'
    path.write_text(PLANAR_ARM)
    return path


@pytest.fixture(scope='session')
def judge() -> Callable[..., np.ndarray]:
    """Return yourdfpy's forward kinematics of shipped robots: T_frame_link (4, 4)."""
    load = cache(lambda robot: RestJudge(Robot.load(robot).urdf))
    return lambda robot, joints, link, frame: load(robot).transform(joints, link, frame)
