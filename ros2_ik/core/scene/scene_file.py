"""
Scenes from YAML files; each error names its place in the file.

    objects:                # in this order; a frame may be that of an object further up
      - id: cup
        frame: table/top    # default: the root frame
        pose: {xyz: [0, 0, 0.05], rpy: [0, 0, 0]}      # or quat_xyzw; default: identity
        color: [0.8, 0.2, 0.2, 1]
        shapes:             # one kind each, see shapes.py; poses are in the object
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

from collections.abc import Callable
from dataclasses import fields, MISSING
from pathlib import Path
from typing import Any

from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.regular_file import read_text_file
from ros2_ik.core.robot import Configuration, Robot
from ros2_ik.core.robot.shipped import config_folder
from ros2_ik.core.scene.poses import placement
from ros2_ik.core.scene.scene import Scene
from ros2_ik.core.scene.scene_object import SceneObject, ShapeInstance
from ros2_ik.core.scene.shapes import Mesh, Shape, shape_kinds
from ros2_ik.core.scene.yaml_entry import Entry

SECTIONS = ('description', 'frames', 'objects', 'attached', 'allowed', 'checked', 'padding')
OBJECT_KEYS = ('id', 'frame', 'pose', 'shapes', 'subframes', 'color')
ATTACHED_KEYS = ('id', 'link', 'touch_links', 'frame', 'pose', 'shapes', 'subframes', 'color')
MESH_FILE_KEYS = ('file', 'scale', 'detail')


def load_scene(path_or_text: str | Path, robot: Robot,
               at: Configuration | None = None) -> Scene:
    """
    Read a scene from a YAML file, a YAML text or, by name, from the shipped scenes.

    `at` is needed where an object is placed in, or an object of the world attached to, a frame
    that moves with the robot. Raises InvalidSceneError that says where in the file.
    """
    text, folder = _read(path_or_text)
    entry = Entry.read(text)
    sections = entry.keys(SECTIONS)
    scene = Scene(robot)
    for name in SECTIONS:    # not the file's order: what is attached may be an object
        if name in sections and sections[name].value is not None:
            scene = _READERS[name](scene, sections[name], folder, at)
    return scene


def check_scene_file(path_or_text: str | Path) -> None:
    """
    Look at what `load_scene` would read, before there is a robot.

    Raises InvalidSceneError where there is no such file or shipped scene, or where it is not a
    mapping of sections.
    """
    Entry.read(_read(path_or_text)[0]).keys(SECTIONS)


def shipped_scenes() -> dict[str, Path]:
    """Files of the scenes that come with the package, by name."""
    return {path.stem: path for path in sorted((config_folder() / 'scenes').glob('*.yaml'))}


def _read(path_or_text: str | Path) -> tuple[str, Path]:
    """Take what has a line end or a colon as YAML, anything else as a file or a name."""
    if isinstance(path_or_text, str) and ('\n' in path_or_text or ': ' in path_or_text):
        return path_or_text, Path()
    if not isinstance(path_or_text, (str, Path)) or not str(path_or_text).strip():
        raise InvalidSceneError(f'a scene is a file, a name or YAML, not {path_or_text!r}')
    path = Path(path_or_text)
    if not path.exists() and isinstance(path_or_text, str):
        path = shipped_scenes().get(path_or_text, path)
    try:
        return read_text_file(path), path.parent
    except (OSError, ValueError) as error:
        raise InvalidSceneError(f'the scene cannot be read: {error}; '
                                f'shipped: {", ".join(shipped_scenes())}') from None


def _description(scene: Scene, entry: Entry, *_: Any) -> Scene:
    entry.text()
    return scene


def _frames(scene: Scene, entry: Entry, *_: Any) -> Scene:
    return scene.with_frames({name: _pose(pose) for name, pose in entry.named().items()})


def _objects(scene: Scene, entry: Entry, folder: Path, at: Configuration | None) -> Scene:
    for item in entry.items():
        given = item.keys(OBJECT_KEYS, needed=('id', 'shapes'))
        id = given['id'].text()
        if id in scene.objects:
            raise given['id'].fault(f"there is an object '{id}' further up")
        made = _object(item, given, folder)
        frame = given['frame'].text() if 'frame' in given else None
        with given.get('frame', item).error_context():
            scene = scene.add(made, frame, at)
    return scene


def _attached(scene: Scene, entry: Entry, folder: Path, at: Configuration | None) -> Scene:
    for item in entry.items():
        given = item.keys(ATTACHED_KEYS, needed=('id', 'link'))
        id, link = given['id'].text(), given['link'].text()
        if id in scene.attached:
            raise given['id'].fault(f"there is an attached object '{id}' further up")
        touch = [name.text() for name in given['touch_links'].items()] \
            if 'touch_links' in given else []
        if 'shapes' not in given:
            for key in ('frame', 'pose', 'subframes', 'color'):
                if key in given:
                    raise given[key].fault(f"without shapes '{id}' is the object of that id, "
                                           'attached where it is')
            with item.error_context():
                scene = scene.attach(id, link, touch, at)
            continue
        made = _object(item, given, folder)
        if id in scene.objects:
            raise given['shapes'].fault(f"there is an object '{id}' in the world; leave the "
                                        'shapes out to attach it')
        with item.error_context():
            scene = scene.attach(made, link, touch, at,
                                 given['frame'].text() if 'frame' in given else None)
    return scene


def _allowed(flag: bool) -> Callable[..., Scene]:
    def read(scene: Scene, entry: Entry, *_: Any) -> Scene:
        for item in entry.items():
            names = [name.text() for name in item.items()] if isinstance(item.value, list) \
                else [item.text()]
            if len(names) > 2 or not names:
                raise item.fault(f'must be a name or two, not {names}')
            with item.error_context():
                scene = scene.allow(names[0], names[1] if len(names) > 1 else None, flag)
        return scene
    return read


def _padding(scene: Scene, entry: Entry, *_: Any) -> Scene:
    for link, value in entry.named().items():
        with value.error_context():
            scene = scene.with_padding({link: value.value})
    return scene


_READERS: dict[str, Callable[..., Scene]] = {
    'description': _description, 'frames': _frames, 'objects': _objects, 'attached': _attached,
    'allowed': _allowed(True), 'checked': _allowed(False), 'padding': _padding}


def _object(item: Entry, given: dict[str, Entry], folder: Path) -> SceneObject:
    parts = [_part(shape, folder) for shape in given['shapes'].items()]
    subframes = {name: _pose(pose) for name, pose in given['subframes'].named().items()} \
        if 'subframes' in given else {}
    pose = _pose(given['pose']) if 'pose' in given else None
    color = given['color'].value if 'color' in given else None
    with item.error_context():
        return SceneObject(given['id'].text(), tuple(parts), pose, subframes, color)


def _pose(entry: Entry) -> Any:
    given = {key: item.value for key, item in entry.keys(('xyz', 'rpy', 'quat_xyzw')).items()}
    return placement(**given, what=entry.place)


def _part(entry: Entry, folder: Path) -> ShapeInstance:
    kinds = shape_kinds()
    given = entry.keys((*sorted(kinds), 'pose'))
    named = [kind for kind in given if kind != 'pose']
    if len(named) != 1:
        raise entry.fault(f'must have one shape, not {len(named)}; '
                          f'valid: {", ".join(sorted(kinds))}')
    pose = _pose(given['pose']) if 'pose' in given else None
    return ShapeInstance(_shape(kinds[named[0]], given[named[0]], folder), pose)


def _shape(shape: type[Shape], entry: Entry, folder: Path) -> Shape:
    if shape is Mesh and isinstance(entry.value, dict) and 'vertices' not in entry.value:
        given = entry.keys(MESH_FILE_KEYS, needed=('file',))
        path = folder / given.pop('file').text()
        with entry.error_context():
            return Mesh.from_file(path, **{key: item.value for key, item in given.items()})
    members = fields(shape)  # type: ignore[arg-type]   # shapes are dataclasses, all of them
    given = entry.keys([member.name for member in members],
                       [member.name for member in members if member.default is MISSING])
    try:
        return shape(**{key: item.value for key, item in given.items()})
    except InvalidSceneError as error:
        at_fault = [item for key, item in given.items() if str(error).startswith(f'the {key} of')]
        raise (at_fault or [entry])[0].fault(str(error)) from None
