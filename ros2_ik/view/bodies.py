"""Robots, objects and contacts as meshes in viser's scene."""

from collections.abc import Collection, Sequence

import numpy as np
import pinocchio as pin
import viser

from ros2_ik.core import Array, Contact, IKError, Scene, SceneObject
from ros2_ik.view.surfaces import (
    Color,
    CONTACT_COLOR,
    CONTACT_OPACITY,
    CONTACT_RADIUS,
    contact_text,
    drawn_object,
    MAX_CONTACTS,
    placed_objects,
    RobotModel,
    Surface,
)

LABEL_SPACING = 0.04   # distance of a label from its contact, and between labels [m]
SAME_POSE = 1e-4       # largest relative difference of pose matrices that is not visible


def set_pose(handle: viser.SceneNodeHandle, pose: pin.SE3) -> None:
    """Set the pose of a node in viser's scene."""
    x, y, z, qx, qy, qz, qw = pin.SE3ToXYZQUAT(pose).tolist()
    handle.position, handle.wxyz = (x, y, z), (qw, qx, qy, qz)


def pose_of(wxyz: Array, position: Array) -> Array:
    """Convert viser's quaternion (w x y z) and position to a pose (4, 4); raises IKError."""
    if not np.isfinite(position).all() or not 0.9 < np.linalg.norm(wxyz) < 1.1:
        raise IKError('a pose has finite numbers, and a quaternion of length 1')
    w, x, y, z = wxyz
    return np.array(pin.XYZQUATToSE3(np.array([*position, x, y, z, w])).homogeneous)


def node_name(name: str) -> str:
    """Return a name for a node in viser's tree, with / escaped, because / separates levels."""
    return name.replace('%', '%25').replace('/', '%2F')


def rgb(color: Color) -> tuple[int, int, int]:
    """Convert a colour with components in [0, 1] to viser's components, 0 to 255."""
    r, g, b = (round(255 * value) for value in color)
    return r, g, b


def add_surface(server: viser.ViserServer, name: str, surface: Surface, pose: pin.SE3,
                opacity: float | None = None) -> viser.MeshHandle:
    """Add a surface at a pose in the frame of the parent node; `opacity` None: the surface's."""
    opaque = surface.opacity if opacity is None else opacity
    handle = server.scene.add_mesh_simple(
        name, surface.vertices.astype(np.float32), surface.faces.astype(np.uint32),
        color=rgb(surface.color), opacity=None if opaque >= 1 else opaque)
    set_pose(handle, pose)
    return handle


class RobotBodies:
    """
    A robot on the page, or its translucent ghost in one colour.

    A link of the ghost is hidden while the robot's link is at the same pose.
    """

    def __init__(self, server: viser.ViserServer, root: str, model: RobotModel,
                 ghost: bool = False) -> None:
        self._model, self._root = model, server.scene.add_frame(root, show_axes=False)
        self.frames = {link: server.scene.add_frame(f'{root}/{link}', show_axes=False)
                       for link in model.links}
        self.surfaces = [
            add_surface(server, f'{root}/{link}/{number}', surface, in_link,
                        0.5 if ghost else None)
            for number, (link, surface, in_link) in enumerate(model.surfaces)]
        self._shown: tuple[object, ...] = ()

    def show(self, q: Array | None, color: Color | None = None,
             robot_q: Array | None = None) -> None:
        """Show the robot at q (None: nothing), except links with the same pose at `robot_q`."""
        # viser sends every assignment to all browsers: assign changed values only
        if self._root.visible != (q is not None):
            self._root.visible = q is not None
        shown = (color, *(tuple(each.tolist()) for each in (q, robot_q) if each is not None))
        if q is None or shown == self._shown:
            return
        self._shown = shown
        if color is not None:
            for handle in self.surfaces:
                handle.color = rgb(color)
        poses = self._model.poses(q)
        others = {} if robot_q is None else self._model.poses(robot_q)
        for link, frame in self.frames.items():
            set_pose(frame, poses[link])
            differs = link not in others or not poses[link].isApprox(others[link], SAME_POSE)
            if frame.visible != differs:
                frame.visible = differs


class SceneBodies:
    """The objects of a scene on the page."""

    def __init__(self, server: viser.ViserServer, root: str) -> None:
        self._server, self._root = server, root
        self._scene: Scene | None = None
        self._frames: dict[str, viser.FrameHandle] = {}
        # surfaces of each object, each with its opacity without contact
        self._surfaces: dict[str, list[tuple[viser.MeshHandle, float | None]]] = {}

    def show(self, scene: Scene, q: Array, touched: Collection[str] = ()) -> None:
        """Show the objects, with the robot at q (nq,); objects in `touched` are translucent."""
        if scene is not self._scene:
            self._scene = scene
            for frame in self._frames.values():
                frame.remove()
            self._frames, self._surfaces = {}, {}
        for item, pose, color in placed_objects(scene, q):
            if item.id not in self._frames:
                self._add(item, color)
            set_pose(self._frames[item.id], pose)
            for handle, opacity in self._surfaces[item.id]:
                new_opacity = CONTACT_OPACITY if item.id in touched else opacity
                if handle.opacity != new_opacity:
                    handle.opacity = new_opacity

    def _add(self, item: SceneObject, color: Color) -> None:
        name = f'{self._root}/{node_name(item.id)}'
        self._frames[item.id] = self._server.scene.add_frame(name, show_axes=False)
        handles = [add_surface(self._server, f'{name}/{number}', surface, in_item)
                   for number, (surface, in_item) in enumerate(drawn_object(item, color))]
        self._surfaces[item.id] = [(handle, handle.opacity) for handle in handles]


class ContactPoints:
    """Contacts on the page: red points, labelled with the names of the bodies."""

    def __init__(self, server: viser.ViserServer, root: str) -> None:
        self._server, self._root = server, root
        self._points: list[viser.IcosphereHandle] = []
        self._shown: tuple[Contact, ...] = ()

    def show(self, contacts: Sequence[Contact]) -> None:
        """Show the first MAX_CONTACTS contacts, which are the deepest."""
        shown = tuple(contacts[:MAX_CONTACTS])
        if shown == self._shown:
            return
        scene, self._shown = self._server.scene, shown
        for point in self._points:
            point.remove()    # also removes its label
        names = [f'{self._root}/{number}' for number in range(len(shown))]
        self._points = [
            scene.add_icosphere(name, CONTACT_RADIUS, rgb(CONTACT_COLOR), position=contact.point)
            for name, contact in zip(names, shown, strict=True)]
        # labels at different heights, because contacts are often close together
        for number, (name, contact) in enumerate(zip(names, shown, strict=True), start=1):
            scene.add_label(f'{name}/names', contact_text(contact), anchor='bottom-left',
                            position=(0.0, 0.0, LABEL_SPACING * number))
