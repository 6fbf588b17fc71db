"""Paths of the mesh files that a URDF names, and the versions of the files that a robot has."""

from collections.abc import Hashable, Iterator
from pathlib import Path
import re
from urllib.parse import unquote
from weakref import WeakKeyDictionary
from xml.sax.saxutils import quoteattr, unescape

from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.robot import Robot
from ros2_ik.core.robot.packages import package_candidates

MeshFiles = tuple[tuple[str | int, ...], ...]
_known: WeakKeyDictionary[Robot, MeshFiles] = WeakKeyDictionary()


def mesh_files(robot: Robot) -> MeshFiles:
    """
    Return path, size and time of the last change [ns] of each collision mesh that is found.

    They are looked up once for each Robot object, whatever frames were added to it.
    """
    robot = robot.plain
    if robot not in _known:
        _known[robot] = _current_files(robot)
    return _known[robot]


def geometry_key(robot: Robot) -> tuple[Hashable, ...]:
    """Return what a robot's geometry follows from: its `key` is of the description alone."""
    return robot.key, mesh_files(robot), robot.package_dirs


def adopt_mesh_files(robot: Robot, files: MeshFiles) -> None:
    """Take the files as another process knows them, whose robot was made later."""
    _known[robot] = files


def _current_files(robot: Robot) -> MeshFiles:
    meshes = robot.tree.element.findall('link/collision/geometry/mesh')
    names = dict.fromkeys(mesh.get('filename', '') for mesh in meshes)
    paths = [path for name in names if (path := _find(name, robot.package_dirs))]
    return tuple((str(path), path.stat().st_size, path.stat().st_ctime_ns) for path in paths)


def find_mesh(name: str, package_dirs: tuple[str, ...]) -> Path:
    """
    Return the file of a package://, model:// or file:// address or a path.

    Packages are looked for in, around and beside `package_dirs`, by the folder's name or that in
    its package.xml; then where ROS has them (AMENT_PREFIX_PATH, ROS_PACKAGE_PATH); relative paths
    in `package_dirs`. Raises InvalidSceneError that lists where it was looked for.
    """
    if found := _find(name, package_dirs):
        return found
    looked = ', '.join(map(str, _places(name, package_dirs))) or 'nowhere'
    raise InvalidSceneError('it cannot be found; valid: a path, file://, package:// or model://; '
                            'package_dirs and AMENT_PREFIX_PATH name more folders; looked for: '
                            f'{looked}')


def _find(name: str, package_dirs: tuple[str, ...]) -> Path | None:
    return next((path for path in _places(name, package_dirs) if path.is_file()), None)


def _places(name: str, package_dirs: tuple[str, ...]) -> Iterator[Path]:
    """Yield the paths that a mesh may have, the first place first."""
    scheme, separator, rest = name.partition('://')
    if not separator:
        folders = (*(['/'] if name.startswith('/') else []), *package_dirs)
        yield from (Path(folder) / name for folder in folders)
    elif scheme == 'file':
        yield Path(unquote(rest))
    elif scheme in ('package', 'model'):
        package, _, inside = rest.partition('/')
        yield from (place / inside for place in package_candidates(package, package_dirs))


def urdf_for_others(robot: Robot) -> str:
    """Return the URDF with full paths for meshes found only in the robot's `package_dirs`."""
    def located(found: re.Match[str]) -> str:
        name = unescape(found[2])
        path = None if _find(name, ()) else _find(name, robot.package_dirs)
        return f'{found[1]}{quoteattr(f"file://{path}")}' if path else found[0]
    return re.sub(r'(<mesh\b[^>]*?\bfilename=)"([^"]*)"', located, robot.urdf)
