"""The panel of the scene: objects to add, to drag and to remove."""

from itertools import count
from typing import Any, TYPE_CHECKING

import numpy as np

from ros2_ik.core import (
    Array,
    Box,
    Configuration,
    Cylinder,
    IKError,
    load_scene,
    save_scene,
    SceneObject,
    Shape,
    ShapeInstance,
    Sphere,
)
from ros2_ik.view.bodies import branch, place, pose_of

if TYPE_CHECKING:
    from ros2_ik.view.page import Page

KINDS = ('box', 'sphere', 'cylinder')
AHEAD = (0.5, 0.0, 0.5)     # where new objects are [m]
ROUNDING = 1e-9             # of poses on their way to the page and back [m, 1]
COLOR = (0.35, 0.5, 0.75, 1.0)


class SceneForm:
    """Adds objects, shows the gizmos by which they are dragged, saves and loads the scene."""

    def __init__(self, page: 'Page') -> None:
        self._page, self._session = page, page.session
        gui = page.server.gui
        self._kind = gui.add_dropdown('shape', KINDS)
        self._size = gui.add_vector3('size [m]', (0.1, 0.1, 0.1), min=(1e-3,) * 3, step=0.01,
                                     hint='box: x y z; sphere: radius; cylinder: radius, length')
        self._id = gui.add_text('name', '')
        page.bind(gui.add_button('Add').on_click, lambda _: self.add(
            self._kind.value, self._size.value, self._id.value))
        self._gizmos_on: Any = gui.add_checkbox('drag objects', False)
        page.bind(self._gizmos_on.on_update, lambda _: None)    # the page is shown after it
        self._object = gui.add_dropdown('object', ('',))
        page.bind(gui.add_button('Remove').on_click, lambda _: self._remove(self._object.value))
        page.bind(gui.add_button('Save as YAML').on_click, self._save)
        upload = gui.add_upload_button('Load YAML', mime_type='.yaml,.yml')
        page.bind(upload.on_upload, lambda event: self._load(event.value.content))
        shadows = gui.add_checkbox('shadows', True, hint='off is faster without a graphics card')
        page.bind(shadows.on_update, lambda event: self.set_shadows(event.value))
        self.gizmos: dict[str, Any] = {}
        self._gizmo_at: dict[str, Any] = {}    # the object as the page has it

    def add(self, kind: str, size: Any, id: str = '') -> None:
        """Add an object of that size [m] in front of the robot; its name is made up for ''."""
        objects = self._session.arm.scene.objects
        id = id.strip() or next(name for number in count(1)
                        if (name := f'{kind} {number}') not in objects)
        T = np.eye(4)
        T[:3, 3] = AHEAD
        part = ShapeInstance(make_shape(kind, np.array(size, dtype=float)))
        self._session.add_object(SceneObject(id, (part,), T, color=COLOR))
        self._gizmos_on.value = True

    def set_shadows(self, on: bool) -> None:
        """Let things cast shadows, or not."""
        self._page.server.scene.configure_default_lights(cast_shadow=on)

    def _remove(self, id: str) -> None:
        if not id:
            raise IKError('there is no object to remove')
        self._session.remove_object(id)

    def _save(self, event: Any) -> None:
        text = save_scene(self._session.arm.scene)
        event.client.send_file_download('scene.yaml', text.encode(),
                                        save_immediately=True)

    def _load(self, content: bytes) -> None:
        session = self._session
        text = content.decode(errors='replace') + '\n'     # a text for sure, never a file's name
        session.change_scene(load_scene(text, session.robot,
                                        Configuration(session.robot, session.arm.q)))

    # -- what people see -------------------------------------------------------------------

    def show(self) -> None:
        """Show the names of the objects that there are now."""
        ids = tuple(self._session.arm.scene.objects) or ('',)
        if tuple(self._object.options) != ids:
            self._object.options = ids

    def show_gizmos(self) -> None:
        """Show the gizmos of the objects, if they are wanted."""
        objects = self._session.arm.scene.objects if self._gizmos_on.value else {}
        for id in [id for id in self.gizmos if id not in objects]:
            self.gizmos.pop(id).remove()
            del self._gizmo_at[id]
        for id, item in objects.items():
            if id not in self.gizmos:
                self.gizmos[id] = self._gizmo(id)
            if self._gizmo_at.get(id) is not item:
                place(self.gizmos[id], item.pose)
                self._gizmo_at[id] = item

    def _gizmo(self, id: str) -> Any:
        gizmo = self._page.server.scene.add_transform_controls(
            f'/object gizmos/{branch(id)}', scale=0.15, depth_test=False)

        def dragged(event: Any) -> None:
            item = self._session.arm.scene.objects.get(id)
            if item is not None:
                try:
                    T = pose_of(*event.value)
                except IKError:     # another one, where the object is
                    self.gizmos.pop(id).remove()
                    self._gizmo_at.pop(id, None)
                    raise
                # where it was let go takes the place of a last move that waits, or repeats it
                if np.abs(T - item.pose.homogeneous).max() > ROUNDING:
                    self._session.move_object(id, T)
                    self._gizmo_at[id] = self._session.arm.scene.objects[id]
        self._page.bind(gizmo.on_update, dragged, f'object {id}')
        return gizmo


def make_shape(kind: str, size: Array) -> Shape:
    """Return a shape of KINDS, of up to three lengths (3,) [m]; raises InvalidSceneError."""
    if kind == 'box':
        return Box(size)
    if kind == 'sphere':
        return Sphere(float(size[0]))
    return Cylinder(float(size[0]), float(size[1]))
