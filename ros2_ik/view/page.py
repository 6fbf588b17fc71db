"""The page of a session in browsers."""

from collections.abc import Callable
from functools import partial
import math
from typing import Any, NamedTuple

import numpy as np
import viser

from ros2_ik.core import Array, Configuration, Joint, load_scene, Robot, save_scene
from ros2_ik.view.access import Access
from ros2_ik.view.bodies import ContactPoints, RobotBodies, SceneBodies
from ros2_ik.view.gizmos import Gizmos
from ros2_ik.view.pose_form import PoseForm
from ros2_ik.view.robot_model import BACK, extent, RobotModel
from ros2_ik.view.scene_model import touched_names
from ros2_ik.view.server import InputHandle, listening, stop
from ros2_ik.view.session import problem_text, Session
from ros2_ik.view.status import copy_html, kinds_html, LEGEND, SMALL, status_html
from ros2_ik.view.worker import MOVE, Worker
from ros2_ik.view.yaml_form import YamlForm

CLOSE = 0.25    # size of the gizmos of targets, as a part of the robot's
FIELD_OF_VIEW = math.radians(45)    # of the first camera; viser's 75 degrees distort a robot
DISTANCE = 1.7    # of the first camera, in sizes of the robot
STEP = {True: 0.1, False: 1e-3}    # of the sliders of rotary joints [deg] and others [m]


class Event(NamedTuple):
    """
    An event of a browser; `value` is that of the control, or the pose of the gizmo.

    The control may have another value by the time at which the worker processes the event.
    """

    client: viser.ClientHandle
    value: Any
    phase: str


class Page:
    """
    A session for any number of browsers, which all show and control the same.

    `url` is its address. Raises OSError where the port is taken.
    """

    def __init__(self, session: Session, access: Access, port: int) -> None:
        self.session, self.url = session, access.url(port)
        self.server = server = listening(access, port)
        model = RobotModel(session.robot)
        self.notes = model.notes
        middle, size = extent(session.robot, session.arm.q)
        _set_stage(server, middle, size)
        self.gizmos = Gizmos(self, gizmo_size(size))
        self._robot = RobotBodies(server, '/robot', model)
        self._ghost = RobotBodies(server, '/ghost', model, ghost=True)
        self._scene = SceneBodies(server, '/scene')
        self._contacts = ContactPoints(server, '/contacts')
        self.worker = Worker(session, self._show)
        self._status = server.gui.add_html('')
        server.gui.add_html(LEGEND)
        self._add_controls()
        self._show()
        self.worker.start()

    def stop(self) -> None:
        """Stop the worker and the server."""
        self.worker.stop()
        stop(self.server)

    # -- controls --------------------------------------------------------------------------

    def bind(self, register: Callable[[Any], object], job: Callable[[Event], None],
             kind: str | None = None) -> None:
        """Have the worker do a job of a kind at each event of a handle; see `Worker.post`."""
        def do(event: Event) -> None:
            self.session.forget_refusal()
            job(event)
        self._bind(register, lambda event: self.worker.post(partial(do, event), kind))

    def _bind(self, register: Callable[[Any], object], react: Callable[[Event], None]) -> None:
        async def happened(event: Any) -> None:    # async: in the order of the events
            if event.client is not None:           # else this program has set the control
                handle = event.target
                value = (np.array(handle.wxyz), np.array(handle.position)) if hasattr(
                    handle, 'wxyz') else getattr(handle, 'value', None)
                react(Event(event.client, value, getattr(event, 'phase', '')))
        register(happened)

    def _add_controls(self) -> None:
        gui, session = self.server.gui, self.session
        tabs = gui.add_tab_group()
        with tabs.add_tab('Solve'):
            self._add_buttons()
            self._avoid: InputHandle = gui.add_checkbox('avoid collisions', True)
            self.bind(self._avoid.on_update, lambda event: session.switch_collisions(event.value))
            self._pose = PoseForm(self)
            with gui.add_folder('Copy', expand_by_default=False):
                self._copy = gui.add_html('')
        with tabs.add_tab('Joints'):
            self._add_sliders()
        with tabs.add_tab('Constraints'):
            self.constraints = YamlForm(self, 'problem.yaml',
                                        lambda: problem_text(session.problem.rest),
                                        session.load_yaml, session.problem_yaml)
            self.constraints.show()
            with gui.add_folder('Kinds of constraints and costs', expand_by_default=False):
                gui.add_html(kinds_html())
        with tabs.add_tab('Scene'):
            shadows = gui.add_checkbox('shadows', True,
                                       hint='off is faster without a graphics card')
            self.bind(shadows.on_update, lambda event: self.set_shadows(event.value))
            self.scene = YamlForm(self, 'scene.yaml', self._scene_yaml, self._load_scene,
                                  self._scene_yaml)

    def _add_buttons(self) -> None:
        session, add = self.session, self.server.gui.add_button
        self.bind(add('Solve').on_click, lambda _: session.solve(), 'solve')
        self.bind(add('Next solution').on_click, lambda _: session.next_solution())
        self._move = add('Move there', color='green')
        self.bind(self._move.on_click, lambda _: session.move_there(), MOVE)
        self.bind(add('Back to the robot', color='gray').on_click,
                  lambda _: session.back_to_robot())
        self._bind(add('Stop', color='red').on_click,
                   lambda _: self.worker.post_stop(session.stop))

    def _add_sliders(self) -> None:
        session, self.sliders = self.session, dict[str, InputHandle]()
        self.server.gui.add_html(f'<div style="{SMALL}">angles in degrees, slides in m</div>')
        for joint in session.robot.joints:
            step = STEP[joint.rotary]
            lower, upper = slider_ends(session.robot, joint)
            if joint.is_scalar and upper - lower > step:
                value = slider_value(joint, session.arm.q)
                slider = self.server.gui.add_slider(joint.name, lower, upper, step,
                                                    min(max(value, lower), upper))
                self.sliders[joint.name] = slider
                self.bind(slider.on_update, partial(self._slide, joint), f'joint {joint.name}')

    def _slide(self, joint: Joint, event: Event) -> None:
        self.session.place_joint(joint.name, math.radians(event.value) if joint.rotary
                                 else event.value)

    def set_shadows(self, on: bool) -> None:
        """Switch the shadows of bodies on or off."""
        self.server.scene.configure_default_lights(cast_shadow=on)

    def _scene_yaml(self) -> str:
        return save_scene(self.session.arm.scene)

    def _load_scene(self, text: str) -> None:
        arm = self.session.arm    # the '\n' below keeps the text from being taken for a file name
        self.session.change_scene(load_scene(text + '\n', arm.robot,
                                             Configuration(arm.robot, arm.q)))

    # -- display ---------------------------------------------------------------------------

    def _show(self) -> None:
        session, answer = self.session, self.session.answer
        q, contacts = session.arm.q, () if answer is None else answer.contacts
        with self.server.atomic():
            self._robot.show(q)
            if answer is None:
                self._ghost.show(None)
            else:
                self._ghost.show(answer.q, answer.reached.value, q)
            self._contacts.show(contacts)
            self._scene.show(session.arm.scene, q, touched_names(contacts))
            self.gizmos.show(session.problem.targets)
        self._show_controls()

    def _show_controls(self) -> None:
        session = self.session
        for html, text in (self._status, status_html(session)), (self._copy, copy_html(session)):
            if html.content != text:
                html.content = text
        ready = session.answer is not None and session.answer.accepted
        if self._move.disabled == ready:
            self._move.disabled = not ready
        if self._avoid.value != session.avoid_collisions:
            self._avoid.value = session.avoid_collisions
        for name, slider in self.sliders.items():
            joint = session.robot.joint(name)
            value = slider_value(joint, session.arm.q)
            apart = abs(slider.value - value) > STEP[joint.rotary]
            if apart and slider.min <= value <= slider.max:
                slider.value = value
        self._pose.show()


def _set_stage(server: viser.ViserServer, middle: Array, size: float) -> None:
    server.gui.configure_theme(show_logo=False, show_share_button=False, control_width='medium')
    server.scene.world_axes.visible = False
    server.scene.add_grid('/grid', 4.0, 4.0, cell_size=0.1, section_size=1.0,
                          cell_color=(225, 225, 225), section_color=(190, 190, 190))
    back = np.array(BACK) / np.linalg.norm(BACK)
    right = np.array([-back[1], back[0], 0.0])
    look_at = middle + 0.15 * size * right    # the panel covers the right side
    server.initial_camera.position = tuple((look_at + DISTANCE * size * back).tolist())
    server.initial_camera.look_at = tuple(look_at.tolist())
    server.initial_camera.fov = FIELD_OF_VIEW


def gizmo_size(size: float) -> float:
    """Return the length of the arms of a gizmo [m] for a robot of some size [m]."""
    return min(max(CLOSE * size, 0.05), 0.4)


def slider_value(joint: Joint, q: Array) -> float:
    """Return the value of a joint at q (nq,), rounded to the step of its slider."""
    value = float(q[joint.index])
    return round(math.degrees(value), 1) if joint.rotary else round(value, 3)


def slider_ends(robot: Robot, joint: Joint) -> tuple[float, float]:
    """Return the ends of the slider of a joint, within its limits."""
    lower, upper = (float(limits[joint.index])
                    for limits in robot.sampling_limits(np.array(robot.neutral)))
    steps = 1 / STEP[joint.rotary]
    if joint.rotary:
        lower, upper = math.degrees(lower), math.degrees(upper)
    return math.ceil(steps * lower) / steps, math.floor(steps * upper) / steps
