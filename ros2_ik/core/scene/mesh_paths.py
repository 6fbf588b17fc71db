"""Where the mesh files that a URDF names are."""

import os
from pathlib import Path
from urllib.parse import unquote

from ros2_ik.core.errors import InvalidSceneError


def find_mesh(name: str, package_dirs: tuple[str, ...]) -> Path:
    """
    Give the file of a package://, model:// or file:// address or a path.

    Packages are looked for in `package_dirs`, then where ROS has them (AMENT_PREFIX_PATH,
    ROS_PACKAGE_PATH); relative paths in `package_dirs`. Raises InvalidSceneError that lists
    where it was looked for.
    """
    scheme, separator, rest = name.partition('://')
    if not separator:
        tried = [Path(folder) / name for folder in ('/', *package_dirs)
                 if folder != '/' or name.startswith('/')]
    elif scheme == 'file':
        tried = [Path(unquote(rest))]
    elif scheme in ('package', 'model'):
        tried = _in_packages(rest, package_dirs)
    else:
        raise InvalidSceneError(f"the mesh '{name}' has an address of kind '{scheme}'; "
                                'valid: package, model, file or a path')
    for path in tried:
        if path.is_file():
            return path
    looked = ', '.join(str(path) for path in tried) or 'nowhere'
    more = {'': '; package_dirs names more folders', 'file': ''}.get(
        scheme if separator else '', '; package_dirs and AMENT_PREFIX_PATH name more folders')
    raise InvalidSceneError(f"the mesh '{name}' cannot be found; looked for: {looked}{more}")


def _in_packages(rest: str, package_dirs: tuple[str, ...]) -> list[Path]:
    package, _, inside = rest.partition('/')
    folders = [Path(folder) for folder in package_dirs]
    tried = [path for folder in folders
             for path in ([folder / rest] + [folder / inside] * (folder.name == package))]
    shares = [Path(prefix) / 'share' for prefix in _entries('AMENT_PREFIX_PATH')]
    shares += [Path(folder) for folder in _entries('ROS_PACKAGE_PATH')]
    return tried + [folder / rest for folder in shares]


def _entries(variable: str) -> list[str]:
    return [entry for entry in os.environ.get(variable, '').split(':') if entry]
