"""Where the mesh files that a URDF names are, and whether they are still the same."""

from functools import lru_cache
import os
from pathlib import Path
import stat
from urllib.parse import unquote

from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.robot import Robot
from ros2_ik.core.robot.urdf import parse_xml

MeshFiles = tuple[tuple[str | int, ...], ...]
_SEARCHED = ('AMENT_PREFIX_PATH', 'ROS_PACKAGE_PATH')


def mesh_files(robot: Robot) -> MeshFiles:
    """
    Return the state of the files of the robot's collision meshes; another one after a change.

    Of each mesh it is the path, inode, size and the times of the last changes [ns]; nothing of
    one that is not found. A robot's `key` is of its description alone: what is kept of its
    geometry is kept under this, too, so that a mesh that was written anew is read again.
    """
    folders = _package_folders()
    return tuple(_state(_places(name, robot.package_dirs, folders))
                 for name in _mesh_names(robot.urdf))


@lru_cache(maxsize=8)
def _mesh_names(urdf: str) -> tuple[str, ...]:
    meshes = parse_xml(urdf, 'URDF').findall('link/collision/geometry/mesh')
    return tuple(dict.fromkeys(mesh.get('filename', '') for mesh in meshes))


def _state(places: tuple[str, ...] | None) -> tuple[str | int, ...]:
    for path in places or ():
        try:
            found = os.stat(path)
        except (OSError, ValueError):
            continue
        if stat.S_ISREG(found.st_mode):
            return path, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
    return ()


def find_mesh(name: str, package_dirs: tuple[str, ...]) -> Path:
    """
    Give the file of a package://, model:// or file:// address or a path.

    Packages are looked for in `package_dirs`, then where ROS has them (AMENT_PREFIX_PATH,
    ROS_PACKAGE_PATH); relative paths in `package_dirs`. Raises InvalidSceneError that lists
    where it was looked for.
    """
    tried = _places(name, package_dirs, _package_folders())
    scheme, separator, _ = name.partition('://')
    if tried is None:
        raise InvalidSceneError(f"the mesh '{name}' has an address of kind '{scheme}'; "
                                'valid: package, model, file or a path')
    for path in map(Path, tried):
        if path.is_file():
            return path
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
        tried = _in_packages(rest, package_dirs) + [Path(f) / rest for f in package_folders]
    else:
        return None
    return tuple(map(str, tried))


def _in_packages(rest: str, package_dirs: tuple[str, ...]) -> list[Path]:
    package, _, inside = rest.partition('/')
    folders = [Path(folder) for folder in package_dirs]
    return [path for folder in folders
            for path in ([folder / rest] + [folder / inside] * (folder.name == package))]


def _package_folders() -> tuple[str, ...]:
    """Return the folders in which ROS has its packages."""
    prefixes, roots = ([entry for entry in os.environ.get(variable, '').split(':') if entry]
                       for variable in _SEARCHED)
    return (*(f'{prefix}/share' for prefix in prefixes), *roots)
