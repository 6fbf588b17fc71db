"""The web page of a session: controls, and the robot, its ghost and its scene in 3D."""

from collections.abc import Callable
from functools import partial
import math
import secrets
from typing import Any, NamedTuple

import numpy as np
import viser

from ros2_ik.core import Array, Configuration, Joint, Path
from ros2_ik.view.bodies import ContactPoints, RobotBodies, SceneBodies
from ros2_ik.view.server import HOST, InputHandle, start_server, stop
from ros2_ik.view.session import problem_text, Session
from ros2_ik.view.status import copy_html, kinds_html, LEGEND, SMALL, status_html
from ros2_ik.view.surfaces import extent, RobotModel, TO_CAMERA, touched_names
from ros2_ik.view.targets import Targets
from ros2_ik.view.worker import MOVE, Worker

GIZMO_RATIO = 0.25    # size of the gizmos of targets / size of the robot
FIELD_OF_VIEW = math.radians(45)    # of the initial camera [rad]; viser's 75 deg distort a robot
CAMERA_RATIO = 1.7    # distance of the initial camera / size of the robot
SOLVED_COLOR = (40, 160, 60)      # colour of the solved part of a path
UNSOLVED_COLOR = (210, 40, 40)    # colour of the unsolved part
SPACING = 5e-3    # distance between points of the unsolved part [m]
SLIDER_UNIT = {True: math.degrees(1), False: 1.0}    # factor: rad to deg if rotary, otherwise 1
SLIDER_STEP = {True: 0.1, False: 1e-3}    # step of a slider [deg] if rotary, otherwise [m]


class Event(NamedTuple):
    """
    An event from a browser; `value` is the value of the control, or the pose of the gizmo.

    The value is stored here because the control may change before the worker processes the event.
    """

    client: viser.ClientHandle
    value: Any
    phase: str


class Page:
    """
    The page of one session, for any number of browsers, which show and control the same state.

    `url` is the address to open, with a random token. Raises OSError if the port is in use.
    """

    def __init__(self, session: Session, port: int) -> None:
        token = secrets.token_urlsafe(16)
        self.session, self.url = session, f'http://{HOST}:{port}/{token}/'
        self.server = server = start_server(token, port)
        model = RobotModel(session.robot)
        self.notes = model.notes
        middle, size = extent(session.robot, session.arm.q)
        _set_up_scene(server, middle, size)
        self._robot = RobotBodies(server, '/robot', model)
        self._ghost = RobotBodies(server, '/ghost', model, ghost=True)
        self._scene = SceneBodies(server, '/scene')
        self._contacts = ContactPoints(server, '/contacts')
        self.worker = Worker(session, self._show)
        self._status = server.gui.add_html('')
        server.gui.add_html(LEGEND)
        self._add_controls(min(max(GIZMO_RATIO * size, 0.05), 0.4))
        self._show()
        self.worker.start()

    def stop(self) -> None:
        """Stop the worker and the server."""
        self.worker.stop()
        stop(self.server)

    # -- controls --------------------------------------------------------------------------

    def bind(self, register: Callable[[Any], object], job: Callable[[Event], None],
             kind: str | None = None) -> None:
        """
        Run `job` in the worker's thread at each event of a control; `kind`: see `Worker.post`.

        `register` is the control's method that registers a callback, such as `on_click`.
        """
        def work(event: Event) -> None:
            self.session.clear_error()
            job(event)
        self._bind(register, lambda event: self.worker.post(partial(work, event), kind))

    def _bind(self, register: Callable[[Any], object], react: Callable[[Event], None]) -> None:
        # async, because viser runs plain functions in a thread pool, which can reorder events
        async def on_event(event: Any) -> None:
            # an event without a client means that the program itself has set the control
            if event.client is not None:
                handle = event.target
                value = (np.array(handle.wxyz), np.array(handle.position)) if hasattr(
                    handle, 'wxyz') else getattr(handle, 'value', None)
                react(Event(event.client, value, getattr(event, 'phase', '')))
        register(on_event)

    def _add_controls(self, gizmo_size: float) -> None:
        gui, session = self.server.gui, self.session
        tabs = gui.add_tab_group()
        with tabs.add_tab('Solve'):
            self._add_buttons()
            self._avoid: InputHandle = gui.add_checkbox('avoid collisions', True)
            self.bind(self._avoid.on_update, lambda event: session.switch_collisions(event.value))
            self.targets = Targets(self, gizmo_size)
            with gui.add_folder('Copy', expand_by_default=False):
                self._copy = gui.add_html('')
        with tabs.add_tab('Joints'):
            self._add_sliders()
        with tabs.add_tab('Constraints'):
            self.constraints: InputHandle = gui.add_text(
                'YAML', problem_text(session.rest), multiline=True)
            self.bind(gui.add_button('Apply').on_click,
                      lambda _: session.load_yaml(self.constraints.value))
            self.bind(gui.add_button('Save as problem.yaml').on_click, self._save)
            with gui.add_folder('Kinds of constraints and costs', expand_by_default=False):
                gui.add_html(kinds_html())

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
        arm, self.sliders = self.session.arm, dict[str, InputHandle]()
        self.server.gui.add_html(f'<div style="{SMALL}">angles in degrees, slides in m</div>')
        # sampling limits are finite even for joints without limits
        lower, upper = arm.robot.sampling_limits()
        for joint in arm.robot.joints:
            unit, step, i = SLIDER_UNIT[joint.rotary], SLIDER_STEP[joint.rotary], joint.index
            # joints with a range below one step, or with several values, have no slider
            if joint.is_scalar and unit * (upper[i] - lower[i]) > step:
                slider = self.server.gui.add_slider(
                    joint.name, float(unit * lower[i]), float(unit * upper[i]), step,
                    float(unit * np.clip(arm.q[i], lower[i], upper[i])))
                self.sliders[joint.name] = slider
                self.bind(slider.on_update, partial(self._slide, joint), f'joint {joint.name}')

    def _slide(self, joint: Joint, event: Event) -> None:
        self.session.set_joint(joint.name, event.value / SLIDER_UNIT[joint.rotary])

    def _save(self, event: Event) -> None:
        event.client.send_file_download('problem.yaml', self.session.problem_yaml().encode(),
                                        save_immediately=True)

    # -- display ---------------------------------------------------------------------------

    def _show(self) -> None:
        """Show the session's state; called by the worker after each job and step."""
        session, answer = self.session, self.session.answer
        q, contacts = session.arm.q, () if answer is None else answer.contacts
        # browsers apply all changes of the scene at once
        with self.server.atomic():
            self._robot.show(q)
            if answer is None:
                self._ghost.show(None)
            else:
                self._ghost.show(answer.q, answer.quality.value, q)
            self._contacts.show(contacts)
            self._scene.show(session.arm.scene, q, touched_names(contacts))
            self.targets.show()
        self._show_controls()

    def _show_controls(self) -> None:
        # assign changed values only, as each assignment is sent to all browsers
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
            value = float(SLIDER_UNIT[joint.rotary] * session.arm.q[joint.index])
            # a slider that a user has moved differs only by rounding: do not send the value back
            differs = abs(slider.value - value) > SLIDER_STEP[joint.rotary]
            if differs and slider.min <= value <= slider.max:
                slider.value = value


class PathOnPage:
    """
    The line of a path on a page: green up to the last pose reached, red beyond.

    The slider places the robot at the configurations of the path.
    """

    def __init__(self, page: Page, path: Path, tip: str) -> None:
        self._page, self._path = page, path
        self.lines = dict[str, viser.LineSegmentsHandle]()
        reached = [Configuration(path.problem.robot, q).transform(tip) for q in path.q]
        self._draw('reached', [T[:3, 3] for T in reached], SOLVED_COLOR)
        if reached:
            # the path's frame may move: fix the frame where it is at the last pose reached
            last, length = path.parameters[-1], path.tool_path.length
            frame = reached[-1] @ np.linalg.inv(path.tool_path.pose(last))
            self._draw('beyond', [
                (frame @ path.tool_path.pose(s))[:3, 3]
                for s in np.append(np.arange(last, length, SPACING), length)], UNSOLVED_COLOR)
            self.slider = page.server.gui.add_slider('along the path', 0, len(path.q) - 1, 1, 0)
            page.bind(self.slider.on_update, self._place)

    def _draw(self, name: str, points: list[Array], color: tuple[int, int, int]) -> None:
        if len(points) > 1:
            line = np.stack([points[:-1], points[1:]], axis=1)
            self.lines[name] = self._page.server.scene.add_line_segments(
                f'/path/{name}', line, color, thickness=4.0)

    def _place(self, event: Event) -> None:
        self._page.session.arm.set_state(self._path.q[int(event.value)])


def _set_up_scene(server: viser.ViserServer, middle: Array, size: float) -> None:
    server.gui.configure_theme(show_logo=False, show_share_button=False, control_width='medium')
    server.scene.world_axes.visible = False
    # a browser without a graphics card draws shadows slowly
    server.scene.configure_default_lights(cast_shadow=False)
    server.scene.add_grid('/grid', 4.0, 4.0, cell_size=0.1, section_size=1.0,
                          cell_color=(225, 225, 225), section_color=(190, 190, 190))
    to_camera = np.array(TO_CAMERA) / np.linalg.norm(TO_CAMERA)
    right = np.array([-to_camera[1], to_camera[0], 0.0])
    # show the robot left of the centre, because the panel covers the right side
    look_at = middle + 0.15 * size * right
    server.initial_camera.position = tuple((look_at + CAMERA_RATIO * size * to_camera).tolist())
    server.initial_camera.look_at = tuple(look_at.tolist())
    server.initial_camera.fov = FIELD_OF_VIEW
