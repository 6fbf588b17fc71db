"""Where the mesh files that a URDF names are, and whether they are still the same."""

from functools import lru_cache
import math
import os
from pathlib import Path
import re
import stat
import time
from urllib.parse import unquote
from weakref import WeakKeyDictionary
from xml.sax.saxutils import quoteattr, unescape

from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.robot import Robot
from ros2_ik.core.robot.packages import package_places, PATHS, ros_package_folders

MeshFiles = tuple[tuple[str | int, ...], ...]
AGAIN = 0.1      # [s]
_looked: WeakKeyDictionary[Robot, tuple[float, MeshFiles]] = WeakKeyDictionary()


def mesh_files(robot: Robot) -> MeshFiles:
    """
    Return the state of the files of the robot's collision meshes; another one after a change.

    Of each mesh it is the path, inode, size and the times of the last changes [ns]; nothing of
    one that is not found. A robot's `key` is of its description alone: what is kept of its
    geometry is kept under this, too, so that a mesh that was written anew is read again.
    """
    files = _look(robot)
    _looked[robot] = time.monotonic(), files
    return files


def known_mesh_files(robot: Robot) -> MeshFiles:
    """Return the same as of up to 0.1 s ago: to look takes a fifth of a short search."""
    looked, files = _looked.get(robot, (-math.inf, ()))
    return files if time.monotonic() < looked + AGAIN else mesh_files(robot)


def _look(robot: Robot) -> MeshFiles:
    dirs = robot.package_dirs
    where = _where(robot, *map(os.environ.get, PATHS))
    return tuple(_state(path) or _first(name, dirs)[1] for name, path in where)


@lru_cache(maxsize=8)
def _where(robot: Robot, *_searched: str | None) -> tuple[tuple[str, str], ...]:
    """Return the meshes' names, and where each was found: to look again takes too long."""
    meshes = robot.tree.element.findall('link/collision/geometry/mesh')
    names = dict.fromkeys(mesh.get('filename', '') for mesh in meshes)
    return tuple((name, _first(name, robot.package_dirs)[0]) for name in names)


def _first(name: str, package_dirs: tuple[str, ...]) -> tuple[str, tuple[str | int, ...]]:
    """Return where a mesh is found, and the state of that file; nothing if it is not."""
    found = ((path, _state(path)) for path in
             _places(name, package_dirs, ros_package_folders()) or ())
    return next((one for one in found if one[1]), ('', ()))


def _state(path: str) -> tuple[str | int, ...]:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return ()
    if not stat.S_ISREG(found.st_mode):
        return ()
    return path, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def find_mesh(name: str, package_dirs: tuple[str, ...]) -> Path:
    """
    Return the file of a package://, model:// or file:// address or a path.

    Packages are looked for in, around and beside `package_dirs`, by the folder's name or that in
    its package.xml; then where ROS has them (AMENT_PREFIX_PATH, ROS_PACKAGE_PATH); relative paths
    in `package_dirs`. Raises InvalidSceneError that lists where it was looked for.
    """
    tried = _places(name, package_dirs, ros_package_folders())
    scheme, separator, _ = name.partition('://')
    if tried is None:
        raise InvalidSceneError(f"the mesh '{name}' has an address of kind '{scheme}'; "
                                'valid: package, model, file or a path')
    if found := _first(name, package_dirs)[0]:
        return Path(found)
    looked = ', '.join(tried) or 'nowhere'
    more = {'': '; package_dirs names more folders', 'file': ''}.get(
        scheme if separator else '', '; package_dirs and AMENT_PREFIX_PATH name more folders')
    raise InvalidSceneError(f"the mesh '{name}' cannot be found; looked for: {looked}{more}")


@lru_cache(maxsize=1024)
def _places(name: str, package_dirs: tuple[str, ...],
            package_folders: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return where a mesh may be, the first place first; None for an unknown kind of address."""
    scheme, separator, rest = name.partition('://')
    if not separator:
        tried = [Path(folder) / name for folder in ('/', *package_dirs)
                 if folder != '/' or name.startswith('/')]
    elif scheme == 'file':
        tried = [Path(unquote(rest))]
    elif scheme in ('package', 'model'):
        package, _, inside = rest.partition('/')
        tried = [place / inside for place in package_places(package, package_dirs)]
    else:
        return None
    return tuple(map(str, tried))


def urdf_for_others(robot: Robot) -> str:
    """Return the URDF with the paths of meshes that only the robot's `package_dirs` lead to."""
    def located(found: re.Match[str]) -> str:
        name = unescape(found[2])
        path = '' if _first(name, ())[0] else _first(name, robot.package_dirs)[0]
        return f'{found[1]}{quoteattr(f"file://{path}")}' if path else found[0]
    return re.sub(r'(<mesh\b[^>]*?\bfilename=)"([^"]*)"', located, robot.urdf)
