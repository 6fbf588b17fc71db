"""The robots that come with the package: one YAML each in config/, files of example-robot-data."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
import os
from pathlib import Path
import sys
from typing import Any
from xml.etree import ElementTree

import yaml

from ros2_ik.core.errors import RobotDescriptionError, UnknownRobotError
from ros2_ik.core.robot.robot import Robot


@dataclass(frozen=True)
class ShippedRobot:
    """
    What config/<name>.yaml says of a robot.

    `urdf` and `srdf` are files in example-robot-data's folder robots/, `group` and `tip` what is
    solved for when a request names none, `home` joint values to start from, `chains` groups
    besides those of the SRDF: name -> (base link, tip link).
    """

    name: str
    description: str
    urdf: str
    srdf: str | None = None
    root_joint: str = 'fixed'
    group: str | None = None
    tip: str | None = None
    home: dict[str, float] = field(default_factory=dict)
    chains: dict[str, list[str]] = field(default_factory=dict)

    def load(self, root_joint: str | None = None) -> Robot:
        """Make the robot; raises RobotDescriptionError when its files are not installed."""
        folder = _data_folder()
        srdf = self._srdf_text(folder)
        return Robot.from_urdf(folder / self.urdf, [folder.parents[1]], srdf,
                               self.root_joint if root_joint is None else root_joint)

    def _srdf_text(self, folder: Path) -> str | None:
        if not self.srdf and not self.chains:
            return None
        root = (ElementTree.parse(folder / self.srdf).getroot() if self.srdf
                else ElementTree.Element('robot', name=self.name))
        for name, (base, tip) in self.chains.items():
            group = ElementTree.SubElement(root, 'group', name=name)
            ElementTree.SubElement(group, 'chain', base_link=base, tip_link=tip)
        return ElementTree.tostring(root, encoding='unicode')


@lru_cache(maxsize=1)
def shipped_robots() -> dict[str, ShippedRobot]:
    """Every shipped robot by name."""
    robots = {}
    for path in sorted(config_folder().glob('*.yaml')):
        content: dict[str, Any] = yaml.safe_load(path.read_text(encoding='utf-8'))
        robots[path.stem] = ShippedRobot(path.stem, **content)
    return robots


def load_shipped(name: str, root_joint: str | None = None) -> Robot:
    """Load a shipped robot by name; raises UnknownRobotError."""
    robots = shipped_robots()
    if not isinstance(name, str) or name not in robots:
        raise UnknownRobotError(name, tuple(robots))
    return robots[name].load(root_joint)


def config_folder() -> Path:
    """config/ is installed into the package; in a checkout it stands beside it."""
    package = Path(__file__).parents[2]
    for folder in (package / 'config', package.parent / 'config'):
        if folder.is_dir():
            return folder
    raise RobotDescriptionError(f'the installation is broken: no folder config in {package}')


def _data_folder() -> Path:
    """Find the robots of example-robot-data as PyPI (cmeel), ROS or a system has them."""
    for prefix in _prefixes():
        folder = prefix / 'share' / 'example-robot-data' / 'robots'
        if folder.is_dir():
            return folder
    raise RobotDescriptionError("the shipped robots' files are missing; "
                                "install them with: pip install example-robot-data")


def _prefixes() -> Iterable[Path]:
    for entry in sys.path:
        yield Path(entry or '.') / 'cmeel.prefix'
    for variable in ('AMENT_PREFIX_PATH', 'CMAKE_PREFIX_PATH'):
        yield from (Path(entry) for entry in os.environ.get(variable, '').split(':') if entry)
    yield from (Path(sys.prefix), Path('/usr/local'), Path('/usr'))
