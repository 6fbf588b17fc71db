"""
Scenes from YAML files and back; each error names its place in the file.

    objects:                # in this order; a frame may be that of an object further up
      - id: cup
        frame: table/top    # default: the root frame
        pose: {xyz: [0, 0, 0.05], rpy: [0, 0, 0]}      # or quat_xyzw; default: identity
        color: [0.8, 0.2, 0.2, 1]
        shapes:             # one kind each, see the folder shapes; poses are in the object
          - cylinder: {radius: 0.04, length: 0.1}
          - mesh: {file: handle.stl, scale: 0.001}     # from the folder of this file
            pose: {xyz: [0.05, 0, 0]}
        subframes: {rim: {xyz: [0, 0, 0.05]}}
    attached:               # without shapes: the object of that id; else posed in the link
      - {id: cup, link: hand, touch_links: [left_finger, right_finger]}
    allowed: [[cup, table], camera]                    # pairs, or a name with any other
    checked: [[hand, table]]                           # pairs the SRDF allows, or a name
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
import yaml

from ros2_ik.core.checks import direction, vector
from ros2_ik.core.errors import IKError, InvalidSceneError, nearest
from ros2_ik.core.robot import Configuration, Robot
from ros2_ik.core.robot.shipped import config_folder
from ros2_ik.core.scene.allowed_collisions import AllowedCollisions
from ros2_ik.core.scene.poses import scene_placement
from ros2_ik.core.scene.scene import Scene
from ros2_ik.core.scene.scene_object import SceneObject, ShapeInstance
from ros2_ik.core.scene.shapes import Mesh, Shape, shape_kinds
from ros2_ik.core.strict_yaml import read_yaml

# in the order they are read: what is attached may be an object
MAPPINGS, LISTS = ('frames', 'padding'), ('objects', 'attached', 'allowed', 'checked')
T = TypeVar('T')

OBJECT_KEYS = ('id', 'frame', 'pose', 'shapes', 'subframes', 'color')


def load_scene(path_or_text: str | Path, robot: Robot,
               at: Configuration | None = None) -> Scene:
    """
    Read a scene from a YAML file, a YAML text or, by name, from the shipped scenes.

    `at` is needed where an object is placed in, or an object of the world attached to, a frame
    that moves with the robot. Raises InvalidSceneError that says where in the file.
    """
    content, folder, file = _content(path_or_text)
    scene = Scene(robot)
    for section in MAPPINGS:
        for name, value in _collection(content.get(section), dict, f'{file}{section}').items():
            scene = _at(f'{file}{section}.{name}', _READERS[section], scene, name, value)
    for section in LISTS:
        for index, item in enumerate(_collection(content.get(section), list, f'{file}{section}')):
            scene = _at(f'{file}{section}[{index}]', _READERS[section], scene, item, folder, at)
    return scene


def check_scene_file(path_or_text: str | Path) -> None:
    """Raise InvalidSceneError where there is no such file or scene, or none of sections."""
    _content(path_or_text)


def shipped_scenes() -> dict[str, Path]:
    """Files of the scenes that come with the package, by name."""
    return {path.stem: path for path in sorted((config_folder() / 'scenes').glob('*.yaml'))}


def _content(path_or_text: str | Path) -> tuple[dict[str, Any], Path, str]:
    """Return the sections of a file, its folder, and 'FILE: ', which errors begin with, or ''."""
    text, path = _text(path_or_text)
    file = f'{path}: ' if path else ''
    try:
        content = read_yaml(text, exponents=True)
    except ValueError as error:
        raise InvalidSceneError(f'{file}the scene is no YAML: {error}') from None
    keys = 'description', *MAPPINGS, *LISTS
    return (_at(f'{file}the scene', _keys, content, keys), path.parent if path else Path(), file)


def _text(path_or_text: str | Path) -> tuple[str, Path | None]:
    """
    Return the YAML and its file, None if the YAML itself is given.

    A text with a line end or a colon is YAML, any other text a file or a name.
    """
    if isinstance(path_or_text, str) and ('\n' in path_or_text or ': ' in path_or_text):
        return path_or_text, None
    if not isinstance(path_or_text, (str, Path)) or not str(path_or_text).strip():
        raise InvalidSceneError(f'a scene is a file, a name or YAML, not {path_or_text!r}')
    path = Path(path_or_text)
    if not path.exists():
        path = shipped_scenes().get(str(path_or_text), path)
    try:
        return path.read_text('utf-8'), path
    except (OSError, ValueError) as error:
        raise InvalidSceneError(f'the scene cannot be read: {error}; '
                                f'shipped: {", ".join(shipped_scenes())}') from None


# -- reading ------------------------------------------------------------------------------------

def _at(place: str, read: Callable[..., T], *arguments: object) -> T:
    """Read a value at a place of the file, with which errors begin."""
    try:
        return read(*arguments)
    except IKError as error:
        raise InvalidSceneError(f'{place}: {error}') from None


def _keys(value: object, known: Collection[str], needed: Collection[str] = ()) -> dict[str, Any]:
    """Check that a mapping has the `needed` keys, and only `known` ones."""
    if not isinstance(value, dict):
        raise InvalidSceneError(f'must have the keys {", ".join(known)}, not {brief(value)}')
    for key in value:
        if key not in known:
            hint = ("did you mean 'id'?" if key == 'name' and 'id' in known
                    else nearest(key, known) or f'valid: {", ".join(known)}')
            raise InvalidSceneError(f'unknown key {key!r}; {hint}')
    for key in needed:
        if key not in value:
            raise InvalidSceneError(f"'{key}' is missing")
    return value


def _collection(value: object, kind: type, place: str) -> Any:
    """Return a list or dict, empty where nothing is written."""
    if not isinstance(value, kind | None):
        wanted = 'a list' if kind is list else 'a mapping from names'
        raise InvalidSceneError(f'{place}: must be {wanted}, not {brief(value)}')
    return value or kind()


def _add(scene: Scene, item: Any, folder: Path, at: Configuration | None) -> Scene:
    if _keys(item, OBJECT_KEYS, ('id', 'shapes'))['id'] in [*scene.objects]:
        raise InvalidSceneError(f"there is an object '{item['id']}' further up")
    return scene.add(_object(item, folder), item.get('frame'), at)


def _attach(scene: Scene, item: Any, folder: Path, at: Configuration | None) -> Scene:
    held = _keys(item, ('link', 'touch_links', *OBJECT_KEYS), ('id', 'link'))['id']
    if 'shapes' in item:
        held = _object(item, folder)
        if held.id in scene.objects:
            raise InvalidSceneError(f"there is an object '{held.id}' in the world; leave the "
                                    'shapes out to attach it')
        if item.get('frame') not in (None, item['link']):
            scene, held = scene.add(held, item['frame'], at), held.id
    elif item.keys() & {'frame', 'pose', 'subframes', 'color'}:
        raise InvalidSceneError(f"without shapes '{held}' is the object of that id, attached "
                                'where it is and as it is')
    if item['id'] in [*scene.attached]:
        raise InvalidSceneError(f"there is an attached object '{item['id']}' further up")
    touch_links = _collection(item.get('touch_links'), list, 'touch_links')
    return scene.attach(held, item['link'], touch_links, at)


def _allow(flag: bool, scene: Scene, item: Any, *_: object) -> Scene:
    names = item if isinstance(item, list) else [item]
    if len(names) not in (1, 2) or None in names:
        raise InvalidSceneError(f'must be a name or two, not {brief(item)}')
    return scene.allow(names[0], names[1] if len(names) == 2 else None, flag)


_READERS: dict[str, Callable[..., Scene]] = {
    'frames': lambda scene, name, value: scene.with_frames({name: _pose(value)}),
    'padding': lambda scene, name, value: scene.with_padding({name: value}),
    'objects': _add, 'attached': _attach, 'allowed': partial(_allow, True),
    'checked': partial(_allow, False)}


def _object(item: dict[str, Any], folder: Path) -> SceneObject:
    parts = [_at(f'shapes[{index}]', _part, shape, folder)
             for index, shape in enumerate(_collection(item['shapes'], list, 'shapes'))]
    subframes = {name: _at(f'subframes.{name}', _pose, pose)
                 for name, pose in _collection(item.get('subframes'), dict, 'subframes').items()}
    pose = _at('pose', _pose, item['pose']) if 'pose' in item else None
    return SceneObject(item['id'], tuple(parts), pose, subframes, item.get('color'))


def _pose(value: object) -> pin.SE3:
    """Return a pinocchio.SE3 of a point and a quaternion, which is normalised, or rpy [rad]."""
    sizes = {'xyz': 3, 'rpy': 3, 'quat_xyzw': 4}
    given = {key: vector(numbers, key, sizes[key], InvalidSceneError)
             for key, numbers in _keys(value, sizes).items()}
    if given.keys() >= {'rpy', 'quat_xyzw'}:
        raise InvalidSceneError('has rpy and quat_xyzw; give one of them')
    rpy = given.get('rpy', np.zeros(3))
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
    return ShapeInstance(_at(kind, _shape, kinds[kind], item[kind], folder),
                         _at('pose', _pose, item['pose']) if 'pose' in item else None)


def _shape(shape: type[Shape], item: Any, folder: Path) -> Shape:
    if shape is Mesh and isinstance(item, dict) and 'vertices' not in item:
        file = _keys(item, ('file', 'scale', 'detail'), ('file',))['file']
        if not isinstance(file, str):
            raise InvalidSceneError(f'the file of a mesh must be a text, not {brief(file)}')
        return Mesh.from_file(folder / file, item.get('scale', 1.0), item.get('detail', 'exact'))
    members = fields(shape)  # type: ignore[arg-type]   # shapes are dataclasses, all of them
    return shape(**_keys(item, [member.name for member in members],
                         [member.name for member in members if member.default is MISSING]))


# -- writing ------------------------------------------------------------------------------------

def save_scene(scene: Scene, path: str | Path | None = None) -> str:
    """
    Return the scene as YAML, and write it to a file if there is a path.

    Objects are written in the root frame, meshes with all their triangles. Entries of
    `allowed` for names that are not in the scene are left out.
    """
    written: dict[str, object] = {
        'frames': {name: _written_pose(pose) for name, pose in scene.frames.items()},
        'objects': [_written_object(item) for item in scene.objects.values()],
        'attached': [{**_written_object(held.object), 'link': held.link,
                      'touch_links': sorted(held.touch_links - {held.link})}
                     for held in scene.attached.values()],
        **_written_allowed(scene), 'padding': dict(scene.padding)}
    content = {key: value for key, value in written.items() if value} or {'objects': []}
    text: str = yaml.safe_dump(content, sort_keys=False, default_flow_style=None, width=99)
    if path is not None:
        Path(path).write_text(text, encoding='utf-8')
    return text


def _written_object(item: SceneObject) -> dict[str, object]:
    written = {'id': item.id, 'pose': _written_pose(item.pose),
               'color': None if item.color is None else list(item.color),
               'shapes': [_written_part(part) for part in item.parts],
               'subframes': {name: _written_pose(pose) for name, pose in item.subframes.items()}}
    return {key: value for key, value in written.items() if value}


def _written_part(part: ShapeInstance) -> dict[str, object]:
    shape = {}
    for member in fields(part.shape):  # type: ignore[arg-type]   # shapes are dataclasses
        value = getattr(part.shape, member.name)
        if isinstance(value, np.ndarray):
            shape[member.name] = value.tolist()
        elif member.default is MISSING or value != member.default:
            shape[member.name] = value
    pose = _written_pose(part.pose)
    return {part.shape.kind: shape, **({'pose': pose} if pose else {})}


def _written_pose(pose: pin.SE3) -> dict[str, list[float]]:
    """Leave the parts of the identity out."""
    written = {}
    if pose.translation.any():
        written['xyz'] = pose.translation.tolist()
    if not np.array_equal(pose.rotation, np.eye(3)):
        written['quat_xyzw'] = pin.Quaternion(pose.rotation).coeffs().tolist()
    return written


def _written_allowed(scene: Scene) -> dict[str, list[str | list[str]]]:
    """Return what differs from the robot's own matrix."""
    usual = AllowedCollisions.of_robot(scene.robot).pairs
    known = {*scene.robot.tree.links, *scene.objects, *scene.attached}
    pairs = {**dict.fromkeys(usual, False), **scene.allowed.pairs}
    entries: list[tuple[str | list[str], bool]] = [
        (list(pair), flag) for pair, flag in sorted(pairs.items())
        if known.issuperset(pair) and usual.get(pair) != flag]
    entries += [(name, flag) for name, flag in sorted(scene.allowed.defaults.items())
                if name in known]
    return {'allowed': [names for names, flag in entries if flag],
            'checked': [names for names, flag in entries if not flag]}
