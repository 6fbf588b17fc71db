"""Surfaces in a page of viser."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
import viser

from ros2_ik.core import Array, Contact, IKError, Scene, SceneObject
from ros2_ik.view.robot_model import RobotModel
from ros2_ik.view.scene_model import (
    CONTACT,
    CONTACT_RADIUS,
    contact_text,
    drawn_object,
    MOST_CONTACTS,
    placed_objects,
    TOUCHED,
)
from ros2_ik.view.surface import Color, Surface

LABEL_APART = 0.04     # [m]
SAME = 1e-4            # poses that differ by less are the same


def place(handle: Any, pose: Any) -> None:
    """Put something of viser's where pose (pinocchio.SE3) is."""
    x, y, z, qx, qy, qz, qw = pin.SE3ToXYZQUAT(pose).tolist()
    handle.position, handle.wxyz = (x, y, z), (qw, qx, qy, qz)


def pose_of(wxyz: Array, position: Array) -> Array:
    """Return viser's pose as T (4, 4); raises IKError where it is none."""
    if len(wxyz) != 4 or len(position) != 3:
        raise IKError('a pose has four numbers of a quaternion and three of a position')
    w, x, y, z = wxyz
    if not np.isfinite(position).all() or not 0.9 < np.linalg.norm(wxyz) < 1.1:
        raise IKError('a pose has finite numbers, and a quaternion of length 1')
    return np.array(pin.XYZQUATToSE3(np.array([*position, x, y, z, w])).homogeneous)


def branch(name: str) -> str:
    """Return a name as one branch of viser's tree, where a / begins the next one."""
    return name.replace('%', '%25').replace('/', '%2F')


def rgb(color: Color) -> tuple[int, int, int]:
    """Return a colour as viser has it."""
    r, g, b = (round(255 * value) for value in color)
    return r, g, b


def add_surface(server: viser.ViserServer, name: str, surface: Surface,
                opacity: float | None = None) -> Any:
    """Add a surface, with its own opacity or another."""
    opaque = surface.opacity if opacity is None else opacity
    return server.scene.add_mesh_simple(
        name, surface.vertices.astype(np.float32), surface.faces.astype(np.uint32),
        color=rgb(surface.color), opacity=None if opaque >= 1 else opaque,
        cast_shadow=opaque >= 1, receive_shadow=opaque >= 1)


class RobotBodies:
    """
    A robot on the page, in its own colours, or a ghost of it in one.

    A ghost has no links where the robot has the same ones.
    """

    def __init__(self, server: viser.ViserServer, root: str, model: RobotModel,
                 ghost: bool = False) -> None:
        self._model, self._root = model, server.scene.add_frame(root, show_axes=False)
        self.frames = {link: server.scene.add_frame(f'{root}/{link}', show_axes=False)
                       for link in model.links}
        self.surfaces = []
        for number, (link, surface, in_link) in enumerate(model.surfaces):
            handle = add_surface(server, f'{root}/{link}/{number}', surface,
                                 opacity=0.5 if ghost else None)
            place(handle, in_link)
            self.surfaces.append(handle)
        self._shown: tuple[Array, ...] = ()
        self._color: Color | None = None

    @property
    def visible(self) -> bool:
        """Whether it is seen."""
        return bool(self._root.visible)

    def show(self, q: Array | None, color: Color | None = None,
             robot_q: Array | None = None) -> None:
        """Put it where it is at q (nq,), None hides it; beside it the robot is at `robot_q`."""
        if self.visible != (q is not None):
            self._root.visible = q is not None
        if q is None:
            return
        if color is not None and color != self._color:
            self._color = color
            for handle in self.surfaces:
                handle.color = rgb(color)
        qs = (q,) if robot_q is None else (q, robot_q)
        if len(qs) == len(self._shown) and all(map(np.array_equal, qs, self._shown)):
            return
        self._shown = tuple(each.copy() for each in qs)
        poses = self._model.poses(q)
        others = {} if robot_q is None else self._model.poses(robot_q)
        for link, frame in self.frames.items():
            place(frame, poses[link])
            apart = link not in others or not poses[link].isApprox(others[link], SAME)
            if frame.visible != apart:
                frame.visible = apart


class SceneBodies:
    """The objects of a scene on the page."""

    def __init__(self, server: viser.ViserServer, root: str) -> None:
        self._server, self._root = server, root
        self._shown: dict[str, ShownObject] = {}

    def show(self, scene: Scene, q: Array, touched: Collection[str] = ()) -> None:
        """Show the objects; held ones move with the robot at q (nq,), touched ones are glassy."""
        items = {item.id: (item, pose, usual) for item, pose, usual in placed_objects(scene, q)}
        for id in [id for id in self._shown if id not in items]:
            self._shown.pop(id).frame.remove()
        for id, (item, pose, usual) in items.items():
            known = self._shown.get(id)
            if known is None or known.usual != usual or not _looks_the_same(known.item, item):
                if known is not None:
                    known.frame.remove()
                known = self._shown[id] = self._added(item, usual)
                place(known.frame, pose)
            elif known.item is not item or id in scene.attached:
                place(known.frame, pose)
            known.item = item
            known.set_touched(id in touched)

    def _added(self, item: SceneObject, usual: Color) -> 'ShownObject':
        name = f'{self._root}/{branch(item.id)}'
        frame = self._server.scene.add_frame(name, show_axes=False)
        handles = []
        for number, (surface, in_item) in enumerate(drawn_object(item, usual)):
            handles.append(add_surface(self._server, f'{name}/{number}', surface))
            place(handles[-1], in_item)
        return ShownObject(item, usual, frame, handles)


@dataclass
class ShownObject:
    """An object as it is shown, its frame and its surfaces in viser; see `drawn_object`."""

    item: SceneObject
    usual: Color
    frame: Any
    handles: list[Any]
    touched: bool = False

    def set_touched(self, touched: bool) -> None:
        """Let it look touched, or not."""
        if touched != self.touched:
            self.touched = touched
            opaque = self.item.color[3] if self.item.color and self.item.color[3] > 0 else 1.0
            for handle in self.handles:
                handle.opacity = TOUCHED if touched else None if opaque >= 1 else opaque


def _looks_the_same(one: SceneObject, other: SceneObject) -> bool:
    return one is other or (one.color == other.color and len(one.parts) == len(other.parts)
                            and all(a is b or (a.shape is b.shape and a.pose == b.pose)
                                    for a, b in zip(one.parts, other.parts, strict=True)))


class ContactPoints:
    """What touches, as red points with the names."""

    def __init__(self, server: viser.ViserServer, root: str) -> None:
        self._server, self._root = server, root
        self._handles: list[tuple[Any, Any]] = []
        self._contacts: tuple[Contact, ...] = ()

    def show(self, contacts: Sequence[Contact]) -> None:
        """Show these, the deepest ones first."""
        shown = tuple(contacts[:MOST_CONTACTS])
        if shown == self._contacts:
            return
        scene, self._contacts = self._server.scene, shown
        while len(self._handles) > len(shown):
            for handle in self._handles.pop():
                handle.remove()
        for number, contact in enumerate(shown):
            text = contact_text(contact)
            if number == len(self._handles):
                point = scene.add_icosphere(f'{self._root}/{number}', CONTACT_RADIUS,
                                            color=rgb(CONTACT),
                                            cast_shadow=False)
                self._handles.append((point, scene.add_label(f'{self._root}/names {number}', text,
                                                             anchor='bottom-left')))
            point, label = self._handles[number]
            point.position = contact.point
            # above the points, and one above the other: what touches is often near
            label.position = tuple(np.add(contact.point, (0, 0, LABEL_APART * (number + 1))))
            label.text = text
