"""
Reader of scenes written in YAML; errors contain the location in the file.

    objects:                # added in list order; `frame` may belong to an earlier object
      - id: cup
        frame: table/top    # default: the root frame
        pose: {xyz: [0, 0, 0.05], rpy: [0, 0, 0]}      # or quat_xyzw; default: identity
        color: [0.8, 0.2, 0.2, 1]
        shapes:             # one kind each, see core/scene/shapes; poses in the object frame
          - cylinder: {radius: 0.04, length: 0.1}
          - mesh: {file: handle.stl, scale: 0.001}     # path relative to the folder of this file
            pose: {xyz: [0.05, 0, 0]}
        subframes: {rim: {xyz: [0, 0, 0.05]}}
    attached:               # objects on links; poses in the link frame
      - {id: pen, link: hand, touch_links: [left_finger, right_finger],
         shapes: [capsule: {radius: 0.01, length: 0.1}]}
    allowed: [[cup, table], pen]                       # pairs, or one name with all others
    checked: [[hand, wrist], left_finger]              # pairs to check even if the SRDF disables
                                                       # them, or one name (pairs have precedence)
    padding: {hand: 0.01}   # [m]
    frames: {camera: {xyz: [1, 0, 1]}}
"""

from collections.abc import Callable, Collection
from dataclasses import fields, MISSING
from functools import partial
import math
from pathlib import Path
from reprlib import repr as brief
from typing import Any, TypeVar

import numpy as np
import pinocchio as pin

from ros2_ik.core.checks import direction, text, vector
from ros2_ik.core.errors import IKError, InvalidSceneError, unknown_name
from ros2_ik.core.robot import Configuration, Robot
from ros2_ik.core.robot.shipped import config_folder
from ros2_ik.core.scene.scene import Scene
from ros2_ik.core.scene.scene_object import scene_placement, SceneObject, ShapeInstance
from ros2_ik.core.scene.shapes import Mesh, Shape, shape_kinds
from ros2_ik.core.strict_yaml import read_yaml

# in the order of reading: objects refer to frames, allowed pairs to objects and attached objects
MAPPINGS, LISTS = ('frames', 'padding'), ('objects', 'attached', 'allowed', 'checked')
T = TypeVar('T')

OBJECT_KEYS = ('id', 'frame', 'pose', 'shapes', 'subframes', 'color')
ATTACHED_KEYS = ('id', 'link', 'touch_links', 'pose', 'shapes', 'subframes', 'color')


def load_scene(path_or_text: str | Path, robot: Robot,
               at: Configuration | None = None) -> Scene:
    """
    Load a scene from a YAML file or a YAML text, or a shipped scene by its name.

    The configuration `at` is needed if an object is placed in a frame that moves with the robot.
    Raises InvalidSceneError with the location of the error in the file.
    """
    yaml_text, path = _text(path_or_text)
    # the folder that mesh paths are relative to, and the prefix of error messages
    folder, file = (path.parent, f'{path}: ') if path else (Path(), '')
    try:
        content = read_yaml(yaml_text)
    except ValueError as error:
        raise InvalidSceneError(f'{file}the scene is not valid YAML: {error}') from None
    _read_at(f'{file}the scene', _keys, content, ('description', *MAPPINGS, *LISTS))
    scene = Scene(robot)
    for section in MAPPINGS:
        for name, value in _collection(content.get(section), dict, f'{file}{section}').items():
            scene = _read_at(f'{file}{section}.{name}', _READERS[section], scene, name, value)
    for section in LISTS:
        for i, item in enumerate(_collection(content.get(section), list, f'{file}{section}')):
            scene = _read_at(f'{file}{section}[{i}]', _READERS[section], scene, item, folder, at)
    return scene


def shipped_scenes() -> dict[str, Path]:
    """Files of the scenes that come with the package, by name."""
    return {path.stem: path for path in sorted((config_folder() / 'scenes').glob('*.yaml'))}


def _text(path_or_text: str | Path) -> tuple[str, Path | None]:
    """
    Return the YAML text and its file (None if the argument itself is YAML text).

    A string with a line break or ': ' is YAML text; any other string is a file or a shipped name.
    """
    if isinstance(path_or_text, str) and ('\n' in path_or_text or ': ' in path_or_text):
        return path_or_text, None
    if not isinstance(path_or_text, (str, Path)) or not str(path_or_text).strip():
        raise InvalidSceneError(f'a scene must be a file, a name or YAML, not {path_or_text!r}')
    path = Path(path_or_text)
    try:
        if not path.is_file():
            path = shipped_scenes().get(str(path_or_text), path)
        return path.read_text('utf-8'), path
    except (OSError, ValueError) as error:
        raise InvalidSceneError(f'the scene cannot be read: {error}; '
                                f'shipped: {", ".join(shipped_scenes())}') from None


def _read_at(location: str, read: Callable[..., T], *arguments: object) -> T:
    """Call `read(*arguments)`; an IKError gets the location in the file as a prefix."""
    try:
        return read(*arguments)
    except IKError as error:
        raise InvalidSceneError(f'{location}: {error}') from None


def _keys(value: object, known: Collection[str], needed: Collection[str] = ()) -> dict[str, Any]:
    """Return a mapping that has all `needed` keys and only `known` keys, or raise an error."""
    if not isinstance(value, dict):
        raise InvalidSceneError(f'must have the keys {", ".join(known)}, not {brief(value)}')
    for key in value:
        if key not in known:
            raise InvalidSceneError(unknown_name('key', key, known))
    for key in needed:
        if key not in value:
            raise InvalidSceneError(f"'{key}' is missing")
    return value


def _collection(value: object, kind: type, location: str) -> Any:
    """Return the list or dict in a section, an empty one if the section is absent or empty."""
    if not isinstance(value, kind | None):
        valid = 'a list' if kind is list else 'a mapping from names'
        raise InvalidSceneError(f'{location}: must be {valid}, not {brief(value)}')
    return value or kind()


def _add(scene: Scene, item: Any, folder: Path, at: Configuration | None) -> Scene:
    # search a list, because an id in YAML may be a value that cannot be hashed
    if _keys(item, OBJECT_KEYS, ('id', 'shapes'))['id'] in [*scene.objects]:
        raise InvalidSceneError(f"object '{item['id']}' already exists")
    return scene.add(_object(item, folder), item.get('frame'), at)


def _attach(scene: Scene, item: Any, folder: Path, *_: object) -> Scene:
    attached = _object(_keys(item, ATTACHED_KEYS, ('id', 'link', 'shapes')), folder)
    if attached.id in (*scene.objects, *scene.attached):
        raise InvalidSceneError(f"object '{attached.id}' already exists")
    touch_links = _collection(item.get('touch_links'), list, 'touch_links')
    return scene.attach(attached, item['link'], touch_links)


def _allow(flag: bool, scene: Scene, item: Any, *_: object) -> Scene:
    names = item if isinstance(item, list) else [item]
    if len(names) not in (1, 2) or None in names:
        raise InvalidSceneError(f'must be one or two names, not {brief(item)}')
    return scene.allow(names[0], names[1] if len(names) == 2 else None, flag)


_READERS: dict[str, Callable[..., Scene]] = {
    'frames': lambda scene, name, value: scene.with_frames({name: _pose(value)}),
    'padding': lambda scene, name, value: scene.with_padding({name: value}),
    'objects': _add, 'attached': _attach, 'allowed': partial(_allow, True),
    'checked': partial(_allow, False)}


def _object(item: dict[str, Any], folder: Path) -> SceneObject:
    parts = [_read_at(f'shapes[{index}]', _part, shape, folder)
             for index, shape in enumerate(_collection(item['shapes'], list, 'shapes'))]
    subframes = {name: _read_at(f'subframes.{name}', _pose, pose)
                 for name, pose in _collection(item.get('subframes'), dict, 'subframes').items()}
    pose = _read_at('pose', _pose, item['pose']) if 'pose' in item else None
    return SceneObject(item['id'], tuple(parts), pose, subframes, item.get('color'))


def _pose(value: object) -> pin.SE3:
    """Read a pose from `xyz` [m] and `rpy` [rad] or `quat_xyzw`, which is normalized."""
    sizes = {'xyz': 3, 'rpy': 3, 'quat_xyzw': 4}
    given = {key: vector(numbers, key, sizes[key], InvalidSceneError)
             for key, numbers in _keys(value, sizes).items()}
    if given.keys() >= {'rpy', 'quat_xyzw'}:
        raise InvalidSceneError('has rpy and quat_xyzw; give one of them')
    rpy = given.get('rpy', np.zeros(3))
    # a larger angle is probably in degrees; 0.1 % allows for a rounded 2 pi
    if np.abs(rpy).max() > 1.001 * math.tau:
        raise InvalidSceneError(f'rpy is {rpy.tolist()}, more than a full turn; angles are '
                                'radians')
    rotation = pin.rpy.rpyToMatrix(rpy)
    if 'quat_xyzw' in given:
        unit = direction(given['quat_xyzw'], 'quat_xyzw', InvalidSceneError, 4)
        rotation = pin.Quaternion(unit).toRotationMatrix()
    return scene_placement(pin.SE3(rotation, given.get('xyz', np.zeros(3))), 'it')


def _part(item: Any, folder: Path) -> ShapeInstance:
    kinds = shape_kinds()
    named = _keys(item, (*sorted(kinds), 'pose')).keys() - {'pose'}
    if len(named) != 1:
        raise InvalidSceneError(f'must have one shape, not {len(named)}; '
                                f'valid: {", ".join(sorted(kinds))}')
    kind, = named
    return ShapeInstance(_read_at(kind, _shape, kinds[kind], item[kind], folder),
                         _read_at('pose', _pose, item['pose']) if 'pose' in item else None)


def _shape(shape: type[Shape], item: Any, folder: Path) -> Shape:
    if shape is Mesh and isinstance(item, dict) and 'vertices' not in item:
        file = text(_keys(item, ('file', 'scale', 'detail'), ('file',))['file'],
                    'the file of a mesh', InvalidSceneError)
        return Mesh.from_file(folder / file, item.get('scale', 1.0), item.get('detail', 'exact'))
    members = fields(shape)  # type: ignore[arg-type]   # all shapes are dataclasses
    return shape(**_keys(item, [member.name for member in members],
                         [member.name for member in members if member.default is MISSING]))
