"""Expansion of xacro files, as by `xacro`."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
import threading
from xml.parsers.expat import ExpatError

from ros2_ik.core.errors import RobotDescriptionError
from ros2_ik.core.robot.packages import package_places

_alone = threading.Lock()    # xacro keeps its state in globals


def expand_xacro(path: Path, package_dirs: Sequence[str], arguments: Mapping[str, str]) -> str:
    """
    Return the URDF that xacro makes of a file.

    `$(find package)` looks around the file, in `package_dirs` and where ROS has packages.
    `arguments` are those of `<xacro:arg>`; as by xacro, others are passed over. Raises
    RobotDescriptionError.
    """
    import xacro  # late: few robots need it
    from xacro import substitution_args
    near = (str(path.absolute().parent), *package_dirs)
    with _alone:
        usual, substitution_args._eval_find = substitution_args._eval_find, partial(_find, near)
        try:
            text: str = xacro.process_file(str(path), mappings=dict(arguments)).toxml()
        except (xacro.XacroException, ExpatError, OSError, RobotDescriptionError) as error:
            reason = getattr(error, 'exc', None) or error     # without xacro's names of classes
            raise RobotDescriptionError(f'xacro cannot expand {path}: {reason}') from None
        finally:
            substitution_args._eval_find = usual
    return text


def _find(near: Sequence[str], package: str) -> str:
    """Return the folder of a package, installed or not."""
    places = list(package_places(package, near))
    if found := next(filter(Path.is_dir, places), None):
        return str(found)
    raise RobotDescriptionError(f"package '{package}' is not found; looked for: "
                                f'{", ".join(map(str, places))}; package_dirs names more folders')
