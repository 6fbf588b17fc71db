"""Search for the folders of ROS packages, and expansion of xacro files, which refer to them."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
import os
from pathlib import Path
import re
import threading
from xml.parsers.expat import ExpatError

from ros2_ik.core.errors import RobotDescriptionError

# number of parent folders whose subfolders are searched
LEVELS = 3
_NAME = re.compile(r'<name>\s*([^<]+?)\s*</name>')
# xacro keeps its state in global variables: one expansion at a time
_xacro_lock = threading.Lock()


def package_candidates(package: str, near: Sequence[str]) -> Iterator[Path]:
    """
    Yield folders that may be the package, existing or not.

    Search subfolders, parents and siblings of the folders `near`, then folders of the environment
    variables AMENT_PREFIX_PATH and ROS_PACKAGE_PATH.
    """
    for folder in map(Path, near):
        yield folder / package
        above = (folder, *folder.parents)
        yield from (one for one in above if package in (one.name, _declared_name(one)))
        yield from (one / package for one in above[1:LEVELS + 1])
    for variable, inside in (('AMENT_PREFIX_PATH', 'share'), ('ROS_PACKAGE_PATH', '')):
        folders = filter(None, os.environ.get(variable, '').split(':'))
        yield from (Path(folder, inside, package) for folder in folders)


def _declared_name(folder: Path) -> str:
    """Return the name in the package.xml of a folder, or '' without a readable package.xml."""
    try:
        found = _NAME.search((folder / 'package.xml').read_text(encoding='utf-8'))
    except (OSError, ValueError):
        return ''
    return found[1] if found else ''


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
