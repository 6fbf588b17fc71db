"""Search for ROS packages and for the mesh files of a URDF; expansion of xacro files."""

from collections.abc import Callable, Iterator, Mapping, Sequence
import os
from pathlib import Path
import re
import threading
from urllib.parse import unquote
from xml.parsers.expat import ExpatError
from xml.sax.saxutils import quoteattr, unescape

from ros2_ik.core.errors import IKError, InvalidSceneError, RobotDescriptionError

# a search folder and this many of its nearest parents may contain the folder of a package
N_PARENTS = 3
_NAME = re.compile(r'<name>\s*([^<]+?)\s*</name>')
# xacro keeps its state in global variables: one expansion at a time
_xacro_lock = threading.Lock()


def _package_candidates(package: str, search_folders: Sequence[str]) -> Iterator[Path]:
    """
    Yield folders that may be the package, existing or not.

    For each of `search_folders`: its subfolder `package`; the folder itself and its parents, if
    their name or package.xml matches; the subfolder `package` of its N_PARENTS nearest parents.
    Then share/`package` below each prefix in the environment variable AMENT_PREFIX_PATH.
    """
    for folder in map(Path, search_folders):
        yield folder / package
        above = (folder, *folder.parents)
        yield from (one for one in above if package in (one.name, _declared_name(one)))
        yield from (one / package for one in above[1:N_PARENTS + 1])
    for prefix in filter(None, os.environ.get('AMENT_PREFIX_PATH', '').split(':')):
        yield Path(prefix, 'share', package)


def _declared_name(folder: Path) -> str:
    """Return the name in the package.xml of a folder, or '' without a readable package.xml."""
    try:
        found = _NAME.search((folder / 'package.xml').read_text(encoding='utf-8'))
    except (OSError, ValueError):
        return ''
    return found[1] if found else ''


def _first_existing(candidates: Iterator[Path], exists: Callable[[Path], bool], what: str,
                    error: type[IKError]) -> Path:
    """Return the first path that exists; raises an error that lists the paths tried."""
    tried = []
    for path in candidates:
        if exists(path):
            return path
        tried.append(str(path))
    raise error(f'{what}; to search more folders, set package_dirs or AMENT_PREFIX_PATH; tried: '
                f'{", ".join(tried) or "nothing"}')


def find_mesh(name: str, package_dirs: tuple[str, ...]) -> Path:
    """
    Return the path of a mesh file given as a package://, model:// or file:// URI or as a path.

    Packages are searched for in and around `package_dirs`, then in AMENT_PREFIX_PATH (for details
    see `_package_candidates`). Relative paths are tried in `package_dirs`. Raises
    InvalidSceneError with the paths tried.
    """
    return _first_existing(_mesh_candidates(name, package_dirs), Path.is_file,
                           f"the mesh '{name}' cannot be found; valid: a path, file://, "
                           'package:// or model://', InvalidSceneError)


def _mesh_candidates(name: str, package_dirs: tuple[str, ...]) -> Iterator[Path]:
    """Yield the paths to try for a mesh file, in order."""
    scheme, separator, rest = name.partition('://')
    if not separator:
        folders = (*(['/'] if name.startswith('/') else []), *package_dirs)
        yield from (Path(folder) / name for folder in folders)
    elif scheme == 'file':
        yield Path(unquote(rest))
    elif scheme in ('package', 'model'):
        package, _, inside = rest.partition('/')
        yield from (place / inside for place in _package_candidates(package, package_dirs))


def urdf_for_others(urdf: str, package_dirs: tuple[str, ...]) -> str:
    """Return the URDF for other programs: meshes found only by `package_dirs` get file:// URIs."""
    def located(found: re.Match[str]) -> str:
        # keep a name that is found without package_dirs: other programs find it, too
        alone, path = (
            next(filter(Path.is_file, _mesh_candidates(unescape(found[2]), folders)), None)
            for folders in ((), package_dirs))
        return f'{found[1]}{quoteattr(f"file://{path}")}' if path and not alone else found[0]
    return re.sub(r'(<mesh\b[^>]*?\bfilename=)"([^"]*)"', located, urdf)


def expand_xacro(path: Path, package_dirs: Sequence[str], arguments: Mapping[str, str]) -> str:
    """
    Return the URDF text of a xacro file.

    `$(find package)` searches like `find_mesh`, with the file's folder as first search folder.
    `arguments` are the values of `<xacro:arg>` elements; as in xacro, unknown names are ignored.
    Raises RobotDescriptionError.
    """
    # imported here, because few robots need xacro
    import xacro
    from xacro import substitution_args
    search_folders = (str(path.absolute().parent), *package_dirs)

    def find(package: str) -> str:
        return str(_first_existing(_package_candidates(package, search_folders), Path.is_dir,
                                   f"package '{package}' cannot be found", RobotDescriptionError))
    # xacro has no option for package folders: replace its function for $(find ...)
    with _xacro_lock:
        original, substitution_args._eval_find = substitution_args._eval_find, find
        try:
            text: str = xacro.process_file(str(path), mappings=dict(arguments)).toxml()
        except (xacro.XacroException, ExpatError, OSError, RobotDescriptionError) as error:
            # report the inner error, without the class names that xacro adds
            reason = getattr(error, 'exc', None) or error
            raise RobotDescriptionError(f'xacro cannot expand {path}: {reason}') from None
        finally:
            substitution_args._eval_find = original
    return text
