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
    `arguments` are those of `<xacro:arg>`. Raises RobotDescriptionError, also for an argument
    that the file does not have.
    """
    import xacro  # late: few robots need it
    from xacro import substitution_args
    near, given = (str(path.absolute().parent), *package_dirs), _Arguments(arguments)
    with _alone:
        usual, substitution_args._eval_find = substitution_args._eval_find, partial(_find, near)
        try:
            text: str = xacro.process_file(str(path), mappings=given).toxml()
        except (xacro.XacroException, ExpatError, OSError, RobotDescriptionError) as error:
            reason = getattr(error, 'exc', None) or error     # without xacro's names of classes
            raise RobotDescriptionError(f'xacro cannot expand {path}: {reason}') from None
        finally:
            substitution_args._eval_find = usual
    if unknown := arguments.keys() - given.declared:
        raise RobotDescriptionError(f"{path} has no xacro argument '{min(unknown)}'; valid: "
                                    f'{", ".join(sorted(given.declared)) or "none"}')
    return text


class _Arguments(dict[str, str]):
    """Arguments for xacro, which asks of each `<xacro:arg>` whether it is given."""

    def __init__(self, given: Mapping[str, str]) -> None:
        super().__init__(given)
        self.declared = set[str]()

    def __contains__(self, name: object) -> bool:
        self.declared.add(str(name))
        return super().__contains__(name)


def _find(near: Sequence[str], package: str) -> str:
    """Return the folder of a package, installed or not."""
    places = list(package_places(package, near))
    if found := next(filter(Path.is_dir, places), None):
        return str(found)
    raise RobotDescriptionError(f"package '{package}' is not found; looked for: "
                                f'{", ".join(map(str, places))}; package_dirs names more folders')
