"""Shipped robots: one YAML file each in config/; example-robot-data has their URDF files."""

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
    The content of config/<name>.yaml, from which `Robot.load` makes the robot.

    `urdf` and `srdf` are absolute paths, or paths in the folder robots/ of example-robot-data. The
    URDF may be a .xacro file; `package_dirs` are the folders of the packages that it uses. `group`
    and `tip` are the defaults of requests. `home` (joint values by name) is the mock robot's first
    state and the command line's default start. `chains` adds groups: name -> [base, tip link].
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
        """Return the content of a YAML file; raises RobotDescriptionError with its path."""
        try:
            content, valid = dict(read_yaml(path.read_text('utf-8')) or {}), fields(cls)[1:]
            for name in content.keys() - {one.name for one in valid}:
                raise ValueError(unknown_name('field', name, [one.name for one in valid]))
            if missing := {'description', 'urdf'} - content.keys():
                raise ValueError(f'missing fields: {", ".join(sorted(missing))}')
            return cls(path.stem, **{key: value for key, value in content.items()
                                     if value not in (None, '')})
        except (OSError, ValueError, TypeError) as error:
            raise RobotDescriptionError(f'{path}: {error}') from None

    def sources(self) -> tuple[Path, list[str | Path], str | None]:
        """
        Return the path of the URDF, the folders of packages, and the text of the SRDF.

        The SRDF text has a group for each entry of `chains`. The text is None if there are neither
        `srdf` nor `chains`. Raises RobotDescriptionError if a file is missing.
        """
        folder = _data_folder()
        for name, file in (('urdf', self.urdf), ('srdf', self.srdf)):
            if file is not None and not (folder / file).is_file():
                raise RobotDescriptionError(
                    f"config/{self.name}.yaml: {name} is '{file}', which is not a file; valid: an "
                    f'absolute path, or a path in {folder}')
        root = (ElementTree.parse(folder / self.srdf).getroot() if self.srdf
                else ElementTree.Element('robot', name=self.name))
        for name, (base, tip) in self.chains.items():
            group = ElementTree.SubElement(root, 'group', name=name)
            ElementTree.SubElement(group, 'chain', base_link=base, tip_link=tip)
        text = ElementTree.tostring(root, encoding='unicode')
        return (folder / self.urdf, [*self.package_dirs, folder.parents[1]],
                text if self.srdf or self.chains else None)


@lru_cache(maxsize=1)
def shipped_robots() -> Mapping[str, ShippedRobot]:
    """Return the shipped robots by name; an invalid file is left out, with a warning."""
    found = {}
    for path in sorted(config_folder().glob('*.yaml')):
        try:
            found[path.stem] = ShippedRobot.read(path)
        except RobotDescriptionError as error:
            _log.warning('ros2_ik: %s; this robot is left out', error)
    return found


def config_folder() -> Path:
    """Return the folder config/: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parents[2]
    for folder in (package / 'config', package.parent / 'config'):
        if found := next(folder.glob('*.yaml'), None):
            # in a symlink install, follow the link: new files are found without a new build
            return found.resolve().parent
    raise RobotDescriptionError(f'the installation is broken: no folder config in {package}')


def _data_folder() -> Path:
    """Return the folder robots/ of example-robot-data, from PyPI (cmeel), ROS or the system."""
    ros = filter(None, os.environ.get('AMENT_PREFIX_PATH', '').split(':'))
    for prefix in (*(f'{entry or "."}/cmeel.prefix' for entry in sys.path), *ros, sys.prefix,
                   '/usr/local', '/usr'):
        folder = Path(prefix, 'share', 'example-robot-data', 'robots')
        if folder.is_dir():
            return folder
    raise RobotDescriptionError("the shipped robots' files are missing; "
                                "install them with: pip install example-robot-data")
