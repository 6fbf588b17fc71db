"""Paths of the mesh files that a URDF names, and versions of a robot's mesh files."""

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
_files: WeakKeyDictionary[Robot, MeshFiles] = WeakKeyDictionary()


def mesh_files(robot: Robot) -> MeshFiles:
    """
    Return path, size [bytes] and time of the last change [ns] of each collision mesh file found.

    The files are searched once per Robot object; robots with added frames share the result.
    """
    robot = robot.plain
    if robot not in _files:
        _files[robot] = _current_files(robot)
    return _files[robot]


def geometry_key(robot: Robot) -> tuple[Hashable, ...]:
    """Return a key that identifies a robot's geometry, for caches."""
    # `robot.key` is a digest of URDF and SRDF; the content of mesh files is not part of it
    return robot.key, mesh_files(robot), robot.package_dirs


def adopt_mesh_files(robot: Robot, files: MeshFiles) -> None:
    """Set `mesh_files(robot)` to the result of another process, so that cache keys agree."""
    _files[robot] = files


def _current_files(robot: Robot) -> MeshFiles:
    meshes = robot.tree.element.findall('link/collision/geometry/mesh')
    names = dict.fromkeys(mesh.get('filename', '') for mesh in meshes)
    paths = [path for name in names if (path := _find(name, robot.package_dirs))]
    return tuple((str(path), path.stat().st_size, path.stat().st_ctime_ns) for path in paths)


def find_mesh(name: str, package_dirs: tuple[str, ...]) -> Path:
    """
    Return the path of a mesh file given as a package://, model:// or file:// URI or as a path.

    Packages are searched in `package_dirs`, their parents and siblings, by folder name or by the
    name in package.xml, then on AMENT_PREFIX_PATH and ROS_PACKAGE_PATH. Relative paths are
    searched in `package_dirs`. Raises InvalidSceneError that lists the paths tried.
    """
    if path := _find(name, package_dirs):
        return path
    looked = ', '.join(map(str, _candidates(name, package_dirs))) or 'nowhere'
    raise InvalidSceneError('it cannot be found; valid: a path, file://, package:// or model://; '
                            'package_dirs and AMENT_PREFIX_PATH name more folders; looked for: '
                            f'{looked}')


def _find(name: str, package_dirs: tuple[str, ...]) -> Path | None:
    return next((path for path in _candidates(name, package_dirs) if path.is_file()), None)


def _candidates(name: str, package_dirs: tuple[str, ...]) -> Iterator[Path]:
    """Yield the paths at which a mesh file is searched, in the order of the search."""
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
    """Return the URDF with absolute paths of the meshes that only `package_dirs` locates."""
    def located(found: re.Match[str]) -> str:
        # a name that is found without package_dirs stays: other programs find the mesh, too
        name = unescape(found[2])
        path = None if _find(name, ()) else _find(name, robot.package_dirs)
        return f'{found[1]}{quoteattr(f"file://{path}")}' if path else found[0]
    return re.sub(r'(<mesh\b[^>]*?\bfilename=)"([^"]*)"', located, robot.urdf)
