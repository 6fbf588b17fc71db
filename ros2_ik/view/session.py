"""The state and the actions of a page, or of goals in RViz; used by one thread."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin
import yaml

from ros2_ik.core import Array, Configuration, IKError, Robot
from ros2_ik.core.internals import read_yaml
from ros2_ik.view.arm import Answer, AnswerQuality, Arm, Reader

SOLUTIONS = 8    # number of solutions that 'next solution' searches for
NEAR_TIMEOUT = {'sec': 0, 'nanosec': 20_000_000}    # of the search near the seed during a drag
DRAG_TIMEOUT = {'sec': 0, 'nanosec': 50_000_000}    # of a drag's second search, without MAX_CHANGE
MAX_CHANGE = 0.5    # default bound of joint changes in the search near the seed [rad, m]
NOT_DONE = 'not done: '    # beginning of the status after an error
POSES = ('tips', 'targets')    # fields of a problem file that define the targets


class Session:
    """
    A robot, a problem and its answers.

    The problem has `targets` (poses (4, 4) in the root frame, by tip) and `rest` (other fields of
    a problem file, such as constraints and costs).

    `answers` are the answers of the last search, empty if there are none; `shown` is the index of
    the displayed answer. `status` is a message for the user. `command` is the command line that
    solves the saved problem.yaml for the same robot and scene.
    """

    def __init__(self, arm: Arm, tips: Sequence[str], read: Reader, command: str) -> None:
        self.arm, self.tips, self._read, self.command = arm, tuple(tips), read, command
        self.targets, self.rest = self._at_robot(), dict[str, object]()
        self.avoid_collisions = True
        self.answers: tuple[Answer, ...] = ()
        self.shown, self._answered_in = 0, arm.scene
        self._last_q: Array | None = None    # q (nq,) of the last displayed answer
        self.status = 'drag the gizmo at the tip, or solve'

    @property
    def robot(self) -> Robot:
        """The robot."""
        return self.arm.robot

    @property
    def answer(self) -> Answer | None:
        """The displayed answer, or None if there is none."""
        return self.answers[self.shown] if self.answers else None

    def _at_robot(self) -> dict[str, Array]:
        at = Configuration(self.robot, self.arm.q)
        return {tip: at.transform(tip) for tip in self.tips}

    def attempt(self, work: Callable[[], None]) -> None:
        """Call `work`; an IKError becomes the status."""
        try:
            work()
        except IKError as error:
            self.status = NOT_DONE + str(error)

    def clear_error(self) -> None:
        """Reset the status of a failed action before the next action."""
        if self.status.startswith(NOT_DONE):
            self.status = 'done'

    # -- the problem -----------------------------------------------------------------------

    def load_problem(self, content: dict[str, object]) -> None:
        """Replace the problem by the content of a file; on IKError, nothing changes."""
        request, _ = self._read(content, self.arm.scene, self.arm.q)
        targets = dict[str, Array]()
        for target in request.targets:
            if target.relative_to is not None:
                raise IKError(f"the target of '{target.tip}' is in frame '{target.relative_to}'; "
                              f"valid: the root frame '{self.robot.root_frame}'")
            targets[target.tip] = np.array(target.transform)
        self.tips = (*targets, *(tip for tip in self.tips if tip not in targets))
        rest = {name: value for name, value in content.items()
                if name not in (*POSES, 'avoid_collisions')}
        weights = [float(weight) for target in request.targets for weight in target.weights]
        # store implied weights: a target without a rotation in the file has rotation weights 0
        if min(weights, default=1) < 1:
            rest['weights'] = weights
        self.targets, self.rest = targets, rest
        self.avoid_collisions = request.avoid_collisions

    def load_yaml(self, text: str) -> None:
        """
        Replace the problem by YAML text and solve it; on IKError, the previous problem stays.

        If the text has neither tips nor targets, the present targets stay.
        """
        try:
            content = read_yaml(text)
        except ValueError as error:
            raise IKError(f'the problem is not YAML: {error}') from None
        content = {} if content is None else content
        if not isinstance(content, dict):
            raise IKError(f'a problem is a mapping from fields to values, not {content!r:.60}')
        if content.keys().isdisjoint(POSES):
            content = {**target_fields(self.targets), **content}
        before = self.targets, self.rest, self.tips, self.avoid_collisions
        try:
            self.load_problem(content)
            self.solve()
        except IKError:
            self.targets, self.rest, self.tips, self.avoid_collisions = before
            raise

    def content(self) -> dict[str, Any]:
        """Return the problem and `avoid_collisions` as the content of a problem file."""
        return {**target_fields(self.targets), **self.rest,
                'avoid_collisions': self.avoid_collisions}

    def problem_yaml(self) -> str:
        """Return the problem as YAML for `ros2_ik constrained`; the seed is the shown answer."""
        content = self.content()
        if self.answer is not None:
            # joint_state has one value per joint: floating and planar joints are left out
            q = self.answer.q.tolist()
            scalar = [joint for joint in self.robot.joints if joint.is_scalar]
            content['seed'] = {**content.get('seed', {}), 'joint_state': {
                'name': [joint.name for joint in scalar],
                'position': [q[joint.index] for joint in scalar]}}
        return problem_text(content)

    def drag(self, tip: str, T: Array, released: bool = False) -> None:
        """
        Move the target of `tip` to T (4, 4), and solve.

        If the answer is not accepted at the end of the drag (`released`), solve once more, with
        the timeout of the problem.
        """
        self.targets[tip] = T
        self.solve(dragging=True)
        if released and self.answer is not None and not self.answer.accepted:
            self.solve(near=True)

    def switch_collisions(self, on: bool) -> None:
        """Switch collision avoidance of answers and motions on or off."""
        self.avoid_collisions = on
        if self.answers:
            self.solve(dragging=True)

    def back_to_robot(self) -> None:
        """Reset the targets to the present poses of the tips, and delete the answers."""
        self.targets.update(self._at_robot())
        self.answers, self._last_q = (), None
        self.status = "the targets are at the robot's tips"

    # -- answers ---------------------------------------------------------------------------

    def solve(self, dragging: bool = False, near: bool = False, solutions: int = 1) -> None:
        """
        Solve the problem; on IKError there is no answer.

        The search starts at the robot's state or, with `dragging` or `near`, at the last displayed
        answer. With `dragging` the search is short and prefers small changes.
        """
        if self.answer is not None:
            self._last_q = self.answer.q
        self.answers = ()
        seed = self.arm.q if self._last_q is None or not (dragging or near) else self._last_q
        answer = (self._solve_drag(seed) if dragging else
                  self.arm.solve({**self.content(), 'solutions': solutions}, seed))
        self.answers, self.shown = (answer, *answer.more), 0
        self._answered_in = self.arm.scene
        self.status = answer.message

    def _solve_drag(self, seed: Array) -> Answer:
        content = {**self.content(), 'solutions': 1}
        # first near the seed, so that the ghost jumps only if necessary
        near = self.arm.solve({'max_joint_change': MAX_CHANGE, **content,
                               'timeout': NEAR_TIMEOUT}, seed)
        if near.accepted:
            return near
        far = self.arm.solve({**content, 'timeout': DRAG_TIMEOUT}, seed)
        far = replace(far, seconds=near.seconds + far.seconds)
        # show the best attempt near the seed: attempts far from it would make the ghost flicker
        return replace(near, message=far.message) if far.quality is AnswerQuality.FAILED else far

    def next_solution(self) -> None:
        """Display the next answer; if there are fewer than two, search for several solutions."""
        if len(self.answers) < 2:
            self.solve(solutions=SOLUTIONS)
        else:
            self.shown = (self.shown + 1) % len(self.answers)
        if len(self.answers) > 1:
            self.status = f'solution {self.shown + 1} of {len(self.answers)}'

    # -- motions ---------------------------------------------------------------------------

    def set_joint(self, name: str, value: float) -> None:
        """Set the value of a joint in the robot's state [rad, m]."""
        self.arm.set_state(self.robot.to_q({name: value}, self.arm.q))

    def move_there(self) -> None:
        """Move the robot to the answer; raises IKError if the answer was not accepted."""
        answer = self.answer
        if answer is None:
            raise IKError('there is no answer to move to: solve first')
        if not answer.accepted:
            raise IKError(f'the answer was not accepted ({answer.message})')
        self.status = self.arm.go_to(answer.q, self.avoid_collisions)

    def stop(self) -> None:
        """Stop the robot."""
        self.arm.stop()
        self.status = 'stopped'

    def step(self) -> None:
        """Step the arm; solve again if another client has changed the scene."""
        try:
            if text := self.arm.step():
                self.status = text
            # compare by `is` first, as `!=` of large scenes is slow
            before, self._answered_in = self._answered_in, self.arm.scene
            if self.answers and before is not self._answered_in and before != self._answered_in:
                self.solve(dragging=True)
        except IKError as error:
            self.status = NOT_DONE + str(error)


def target_fields(targets: Mapping[str, Array]) -> dict[str, object]:
    """Return problem file fields `tips` and `targets` for targets (4, 4), by tip; {} for none."""
    poses = []
    for T in targets.values():
        values = pin.SE3ToXYZQUAT(pin.SE3(T[:3, :3], np.array(T[:3, 3]))).tolist()
        poses.append({'pose': {'position': dict(zip('xyz', values[:3], strict=True)),
                               'orientation': dict(zip('xyzw', values[3:], strict=True))}})
    return {'tips': list(targets), 'targets': poses} if targets else {}


def problem_text(content: Mapping[str, object]) -> str:
    """Return fields of a problem file as YAML, '' if there are none."""
    text: str = yaml.safe_dump(dict(content), sort_keys=False, default_flow_style=None, width=99)
    return text if content else ''
