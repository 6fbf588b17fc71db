"""Expansion of xacro files by the package xacro."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
import threading
from xml.parsers.expat import ExpatError

from ros2_ik.core.errors import RobotDescriptionError
from ros2_ik.core.robot.packages import package_candidates

# xacro keeps its state in global variables: one expansion at a time
_xacro_lock = threading.Lock()


def expand_xacro(path: Path, package_dirs: Sequence[str], arguments: Mapping[str, str]) -> str:
    """
    Return the URDF text of a xacro file.

    `$(find package)` searches near the file, near `package_dirs`, and in the ROS environment.
    `arguments` are the values of `<xacro:arg>` elements; unknown ones are ignored, as by xacro.
    Raises RobotDescriptionError.
    """
    # imported here, because few robots need xacro
    import xacro
    from xacro import substitution_args
    near = (str(path.absolute().parent), *package_dirs)
    # xacro has no option for package folders: replace its function for $(find ...)
    with _xacro_lock:
        original, substitution_args._eval_find = substitution_args._eval_find, partial(_find, near)
        try:
            text: str = xacro.process_file(str(path), mappings=dict(arguments)).toxml()
        except (xacro.XacroException, ExpatError, OSError, RobotDescriptionError) as error:
            # the inner error, without the class names that xacro adds
            reason = getattr(error, 'exc', None) or error
            raise RobotDescriptionError(f'xacro cannot expand {path}: {reason}') from None
        finally:
            substitution_args._eval_find = original
    return text


def _find(near: Sequence[str], package: str) -> str:
    """Return the folder of a package; raises RobotDescriptionError."""
    candidates = list(package_candidates(package, near))
    if found := next(filter(Path.is_dir, candidates), None):
        return str(found)
    raise RobotDescriptionError(f"package '{package}' is not found; searched: "
                                f'{", ".join(map(str, candidates))}; add its folder to '
                                'package_dirs')
