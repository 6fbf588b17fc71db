"""Paths of the mesh files that a URDF names."""

from collections.abc import Iterator
from pathlib import Path
import re
from urllib.parse import unquote
from xml.sax.saxutils import quoteattr, unescape

from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.robot import Robot
from ros2_ik.core.robot.packages import package_candidates


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
