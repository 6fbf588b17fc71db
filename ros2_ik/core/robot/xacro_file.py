"""Expands xacro files, as `xacro` does."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
import threading
from typing import Any
from xml.parsers.expat import ExpatError

from ros2_ik.core.errors import RobotDescriptionError
from ros2_ik.core.robot.packages import package_places

_alone = threading.Lock()    # xacro keeps its state in globals


def is_xacro(path: Any) -> bool:
    """Return whether a file is to be expanded first, by its name."""
    return str(path).endswith('.xacro')


def expand_xacro(path: Path, package_dirs: Sequence[str], arguments: Mapping[str, str]) -> str:
    """
    Return the URDF that a xacro file stands for.

    `$(find package)` looks around the file, in `package_dirs` and where ROS has packages.
    `arguments` are those of `<xacro:arg>`. Raises RobotDescriptionError.
    """
    try:
        import xacro
    except ModuleNotFoundError:
        raise RobotDescriptionError(f'{path} needs xacro: pip install xacro, or apt install '
                                    'ros-$ROS_DISTRO-xacro') from None
    near = (str(path.absolute().parent), *package_dirs)
    with _alone, _finding(near):
        try:
            text: str = xacro.process_file(str(path), mappings=dict(arguments)).toxml()
        except (xacro.XacroException, ExpatError, OSError, RobotDescriptionError) as error:
            reason = getattr(error, 'exc', None) or error     # without xacro's names of classes
            raise RobotDescriptionError(f'xacro cannot expand {path}: {reason}') from None
    return text


@contextmanager
def _finding(near: Sequence[str]) -> Iterator[None]:
    """Let $(find package) see packages that no ament index knows."""
    def find(package: str) -> str:
        places = list(package_places(package, near))
        for place in places:
            if place.is_dir():
                return str(place)
        raise RobotDescriptionError(f"package '{package}' is not found; looked for: "
                                    f'{", ".join(map(str, places))}; package_dirs names more '
                                    'folders')
    from xacro import substitution_args
    before, substitution_args._eval_find = substitution_args._eval_find, find
    try:
        yield
    finally:
        substitution_args._eval_find = before
