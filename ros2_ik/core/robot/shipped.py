"""Robots that come with the package: one YAML each in config/, files of example-robot-data."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
import logging
import os
from pathlib import Path
import sys
from xml.etree import ElementTree

from ros2_ik.core.errors import RobotDescriptionError, unknown_name
from ros2_ik.core.strict_yaml import read_yaml

_log = logging.getLogger('ros2_ik')


@dataclass(frozen=True)
class ShippedRobot:
    """
    Content of config/<name>.yaml; `Robot.load` makes the robot.

    `urdf` and `srdf` are files in example-robot-data's folder robots/, or absolute paths (the URDF
    may be a .xacro file, and its packages may be in `package_dirs`). `group` and `tip` are the
    defaults of requests, `home` joint values to start from, `chains` groups besides those of the
    SRDF: name -> (base link, tip link).
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
    package_dirs: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> 'ShippedRobot':
        """Read a file; raises RobotDescriptionError, which names it."""
        try:
            content, valid = dict(read_yaml(path.read_text('utf-8')) or {}), fields(cls)[1:]
            for name in content.keys() - {one.name for one in valid}:
                raise ValueError(unknown_name('field', name, [one.name for one in valid]))
            return cls(path.stem, **{key: value for key, value in content.items()
                                     if value not in (None, '')})
        except (OSError, ValueError, TypeError) as error:
            raise RobotDescriptionError(f'{path}: {error}') from None

    def sources(self) -> tuple[Path, list[str | Path], str | None]:
        """
        Return the URDF's file, the folders of packages, and the SRDF's text.

        Raises RobotDescriptionError when example-robot-data is not installed.
        """
        folder = _data_folder()
        return (folder / self.urdf, [*self.package_dirs, folder.parents[1]],
                self._srdf_text(folder))

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
def shipped_robots() -> Mapping[str, ShippedRobot]:
    """Return the shipped robots by name; one whose file is wrong is left out, with a warning."""
    found = {}
    for path in sorted(config_folder().glob('*.yaml')):
        try:
            found[path.stem] = ShippedRobot.read(path)
        except RobotDescriptionError as error:
            _log.warning('%s; this robot is left out', error)
    return found


def config_folder() -> Path:
    """Return config/: beside the package in a checkout, else in it (maybe as links)."""
    package = Path(__file__).parents[2]
    for folder in (package / 'config', package.parent / 'config'):
        if found := next(folder.glob('*.yaml'), None):
            return found.resolve().parent   # where a new file is seen without a build
    raise RobotDescriptionError(f'the installation is broken: no folder config in {package}')


def _data_folder() -> Path:
    """Find the robots of example-robot-data as PyPI (cmeel), ROS or a system has them."""
    given = (entry for variable in ('AMENT_PREFIX_PATH', 'CMAKE_PREFIX_PATH')
             for entry in os.environ.get(variable, '').split(':') if entry)
    for prefix in (*(f'{entry or "."}/cmeel.prefix' for entry in sys.path), *given, sys.prefix,
                   '/usr/local', '/usr'):
        folder = Path(prefix, 'share', 'example-robot-data', 'robots')
        if folder.is_dir():
            return folder
    raise RobotDescriptionError("the shipped robots' files are missing; "
                                "install them with: pip install example-robot-data")
