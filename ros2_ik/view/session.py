"""What a page or RViz shows and changes. One thread works on it; it knows nothing of these."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import yaml

from ros2_ik.core import (
    Array,
    Configuration,
    IKError,
    read_yaml,
    Robot,
    Scene,
)
from ros2_ik.view.answer import Answer
from ros2_ik.view.arm import Arm, Question, Reader
from ros2_ik.view.problem import POSES, Problem, rest_of

SOLUTIONS = 8    # looked for when somebody browses
NOT_DONE = 'not done: '


class Session:
    """
    A robot, what is wanted of it, and the answers.

    `answers` are the last ones, of which number `shown` is looked at; none before the first
    question. `status` is what there is to say.
    """

    def __init__(self, arm: Arm, tips: Sequence[str], read: Reader) -> None:
        self.arm, self.tips, self._read = arm, tuple(tips), read
        self.problem = Problem(self._at_robot())
        self.solve_while_dragging, self.avoid_collisions = True, True
        self.answers: tuple[Answer, ...] = ()
        self.shown, self._answered_in = 0, arm.scene
        self._last_q: Array | None = None    # of the answer that was dropped last
        self.status = 'drag the gizmo at the tip, or solve'

    @property
    def robot(self) -> Robot:
        """The robot."""
        return self.arm.robot

    @property
    def answer(self) -> Answer | None:
        """The answer that is looked at, None before the first."""
        return self.answers[self.shown] if self.answers else None

    def _at_robot(self) -> dict[str, Array]:
        at = Configuration(self.robot, self.arm.q)
        return {tip: at.transform(tip) for tip in self.tips}

    def attempt(self, work: Callable[[], None]) -> None:
        """Do something; what cannot be is said, and changes nothing."""
        try:
            work()
        except IKError as error:
            self.status = NOT_DONE + str(error)

    def forget_refusal(self) -> None:
        """Say no more that something was not done: something else is."""
        if self.status.startswith(NOT_DONE):
            self.status = 'done'

    # -- what is wanted --------------------------------------------------------------------

    def load_problem(self, content: dict[str, Any]) -> None:
        """Take what a problem file has; raises IKError and keeps what was there."""
        request, _ = self._read(content, self.arm.scene, self.arm.q)
        targets = dict[str, Array]()
        for target in request.targets:
            if target.relative_to is not None:
                raise IKError(f"the target of '{target.tip}' is in frame '{target.relative_to}'; "
                              f"here all are in the root frame '{self.robot.root_frame}'")
            targets[target.tip] = np.array(target.transform)
        self.tips = (*targets, *(tip for tip in self.tips if tip not in targets))
        weights = [float(weight) for target in request.targets for weight in target.weights]
        self.problem = Problem(targets, rest_of(content) | (
            {'weights': weights} if min(weights, default=1) < 1 else {}))
        self.avoid_collisions = request.avoid_collisions

    def load_yaml(self, text: str) -> None:
        """
        Take a problem file's text, and answer it; raises IKError and keeps what was there.

        Without targets and tips in it, the targets stay.
        """
        try:
            content = read_yaml(text)
        except ValueError as error:
            raise IKError(f'the problem is not YAML: {error}') from None
        content = {} if content is None else content
        if not isinstance(content, dict):
            raise IKError(f'a problem has fields by name, this is {content!r:.60}')
        if content.keys().isdisjoint(POSES):
            content = Problem(self.problem.targets, content).content()
        before = self.problem, self.tips, self.avoid_collisions
        try:
            self.load_problem(content)
            self.solve()
        except IKError:
            self.problem, self.tips, self.avoid_collisions = before
            raise

    def content(self) -> dict[str, Any]:
        """Return what a problem file has of all that is wanted now."""
        return {**self.problem.content(), 'avoid_collisions': self.avoid_collisions}

    def problem_yaml(self) -> str:
        """Return the same as YAML for `ros2_ik constrained`, whose search starts at the answer."""
        content = self.content()
        if self.answer is not None:
            q = self.answer.q.tolist()
            scalar = [joint for joint in self.robot.joints if joint.is_scalar]
            content['seed'] = {**content.get('seed', {}), 'joint_state': {
                'name': [joint.name for joint in scalar],
                'position': [q[joint.index] for joint in scalar]}}
        return problem_text(content)

    def entries_changed(self) -> None:
        """Answer anew, or have no answer any more, where there was one."""
        self._ask_again('the question')

    def _ask_again(self, what: str) -> None:
        """Answer anew where something has changed, or have no answer rather than one of before."""
        if self.answers and self.solve_while_dragging:
            self.solve(dragging=True)
        elif self.answers:
            self._drop_answers()
            self.status = f'{what} has changed: solve again'

    def _drop_answers(self) -> None:
        """Have no answer any more; the next drag begins at the one that was seen."""
        if self.answer is not None:
            self._last_q = self.answer.q
        self.answers = ()

    def drag(self, tip: str, T: Array, released: bool = False) -> None:
        """Move the tip's target to T (4, 4), and answer as `dragged` does."""
        self.problem.targets[tip] = T
        self.dragged(released)

    def dragged(self, released: bool) -> None:
        """
        Answer after a drag: at once, or, with `solve_while_dragging` off, when it is `released`.

        A released target that is not reached is searched for once more, for longer.
        """
        if self.solve_while_dragging or released:
            self.solve(dragging=True)
            if released and self.answer is not None and not self.answer.accepted:
                self.solve(near=True)
        else:
            self._ask_again('the target')

    def back_to_robot(self) -> None:
        """Have a target for each tip, where it is on the robot; there is no answer then."""
        self.problem.targets.update(self._at_robot())
        self.answers, self._last_q = (), None
        self.status = 'the targets are where the robot is'

    # -- answers ---------------------------------------------------------------------------

    def solve(self, dragging: bool = False, near: bool = False, solutions: int = 1) -> None:
        """
        Answer what is wanted now, from where the robot stands.

        While `dragging`, or `near`, the search starts at the answer that was seen last. Raises
        IKError for what makes no sense; then there is no answer.
        """
        self._drop_answers()
        seed = self.arm.q if self._last_q is None or not (dragging or near) else self._last_q
        answer = self.arm.solve(Question(self.content(), self.problem.targets, seed, dragging,
                                         solutions))
        self.answers, self.shown = (answer, *answer.more), 0
        self._answered_in = self.arm.scene
        self.status = answer.message

    def next_solution(self) -> None:
        """Look at the next answer; the first time several are looked for."""
        if len(self.answers) < 2:
            self.solve(solutions=SOLUTIONS)
        else:
            self.shown = (self.shown + 1) % len(self.answers)
        if len(self.answers) > 1 and self.answer is not None:
            self.status = f'solution {self.shown + 1} of {len(self.answers)}'

    def prepare(self) -> None:
        """Have all that takes long the first time behind it, before somebody drags."""
        answers, status = self.answers, self.status
        self.solve(dragging=True)
        self.answers, self.status = answers, status

    # -- motions ---------------------------------------------------------------------------

    def place_joint(self, name: str, value: float) -> None:
        """Have the robot stand with a joint there."""
        self.arm.place(self.robot.to_q({name: value}, self.arm.q))

    def move_there(self) -> None:
        """Have the robot go to the answer; raises IKError unless that was accepted."""
        answer = self.answer
        if answer is None:
            raise IKError('there is no answer to go to: solve first')
        if not answer.accepted:
            raise IKError(f'the answer was not accepted ({answer.message})')
        self.status = self.arm.go_to(answer.q, self.avoid_collisions)

    def stop(self) -> None:
        """Have the robot brake."""
        self.arm.stop()
        self.status = 'stopped'

    def step(self) -> None:
        """Go on with what moves, and answer anew in a scene that others have changed."""
        try:
            if text := self.arm.step():
                self.status = text
            if self.arm.scene is not self._answered_in:
                self._look_at_scene()
        except IKError as error:
            self.status = NOT_DONE + str(error)

    # -- the scene -------------------------------------------------------------------------

    def change_scene(self, scene: Scene) -> None:
        """Have another scene, and answer anew in it if there was an answer."""
        self.arm.change_scene(scene)
        self._look_at_scene()

    def _look_at_scene(self) -> None:
        before, self._answered_in = self._answered_in, self.arm.scene
        if before != self._answered_in:
            self._ask_again('the scene')

    def move_object(self, id: str, T: Array) -> None:
        """Move an object to a pose (4, 4) in the root frame."""
        self.change_scene(self.arm.scene.move(id, T))

    def switch_collisions(self, on: bool) -> None:
        """Have answers and motions avoid collisions or not."""
        self.avoid_collisions = on
        self.entries_changed()


def problem_text(content: Mapping[str, Any]) -> str:
    """Return fields of a problem file as YAML, '' for none."""
    text: str = yaml.safe_dump(dict(content), sort_keys=False, default_flow_style=None, width=99)
    return text if content else ''
