"""Random poses one after the other, each asked for with `execute`, and every motion judged."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
import re
import time
from typing import Any, NamedTuple

from arm_harness import execute, mock_robot
from builtin_interfaces.msg import Duration
from node_harness import Client, eventually, nodes, stamped
import numpy as np
from state_record import StateRecord, Way

from motion.motion_judge import Extremes, longest, MotionJudge, Touch
from ros2_ik.core import Configuration, load_scene, Robot, Scene, shipped_robots
from ros2_ik.mock.controlled_groups import controlled_groups, node_parameters
from ros2_ik.msg import Status
from ros2_ik.srv import ComputeIK

ACCELERATION = 3.0     # as the node is told [rad/s^2]
ARRIVED = 1e-3         # so near is there [rad]
NAMED = 0.02           # a place in a message, of 3 digits, is so near to the place [rad]
RESOLUTION = 0.01      # what touches for less of the way may be missed: path_resolution [rad]
BLOCKS = 3             # in a row, before the arm is brought home
PATIENCE = 120.0       # for one motion [s]
ROUNDING = 1e-3        # of limits


class Leg(NamedTuple):
    """
    What became of one pose.

    `kind`: arrived, blocked or refused; `complaints` is what a judge has against that. `off`
    [rad] is how far from the solution the arm stands, `raw` whether the raw triangles block, too.
    """

    kind: str
    status: int
    message: str
    complaints: tuple[str, ...]
    extremes: Extremes
    off: float = 0.0
    raw: bool = False
    seconds: float = 0.0
    motion_seconds: float = 0.0


Watch = Callable[[int, Leg], None]


class PoseTour:
    """Asks for poses with `execute`, and has every motion judged."""

    def __init__(self, client: Client, robot_name: str, scene: str) -> None:
        self._client, self._shipped = client, shipped_robots()[robot_name]
        self._robot: Robot = self._shipped.load()
        groups = controlled_groups(self._shipped, self._robot)
        joints = groups[self._shipped.group]
        home = self._robot.to_joints(self._robot.to_q(self._shipped.home))
        self.home = {joint: float(home[joint]) for joint in joints}
        self._record = StateRecord(client.node, joints)
        self._judge = MotionJudge(self._robot, joints, ACCELERATION)
        at = Configuration(self._robot, self._robot.to_q(self._shipped.home))
        self._scene = load_scene(scene, self._robot, at) if scene else Scene(self._robot)
        self._trail: list[dict[str, float]] = [self.home]
        self.legs: list[Leg] = []
        self.states = 0     # judged

    def begin(self) -> None:
        """Wait until the arm is at home, and the node moves it."""
        eventually(lambda: len(self._record), 'joint_states', 60.0)
        self._judge.surround(self._scene, self._record.others)
        eventually(lambda: execute(self._client, self.home).status == Status.SUCCESS,
                   'a node that moves the arm', 90.0)

    def close(self) -> None:
        """Listen no more."""
        self._record.close()

    def poses(self, seed: int) -> Iterator[np.ndarray]:
        """Give poses (4, 4) of the tip that some configuration reaches untouched."""
        random = np.random.default_rng(seed)
        while True:
            q = random.uniform(self._judge.lower, self._judge.upper)
            if not self._judge.touching(q):
                joints = {**self._judge.others, **dict(zip(self._judge.joints, q.tolist(),
                                                           strict=True))}
                yield self._judge.frames.transform(joints, self._shipped.tip)

    def travel(self, seed: int, count: int, watch: Watch | None = None) -> None:
        """Go to so many poses; after some blocks in a row by way of home."""
        poses, blocks = self.poses(seed), 0
        for number in range(1, count + 1):
            leg = self.go(next(poses))
            self.legs.append(leg)
            if watch:
                watch(number, leg)
            blocks = blocks + 1 if leg.kind == 'blocked' else 0
            if blocks == BLOCKS:
                self.go_home()
                blocks = 0

    # -- one motion -----------------------------------------------------------------------

    def go(self, T: np.ndarray) -> Leg:
        """Ask for a pose, and have judged what happens."""
        since, start = len(self._record), self._stand()
        begin = time.monotonic()
        answer = self._client.call(ComputeIK, 'ros2_ik/compute_ik', ComputeIK.Request(
            targets=[stamped(T, self._robot.root_frame)], tips=[self._shipped.tip],
            timeout=Duration(sec=5), execute=True, max_joint_change=10.0), PATIENCE)
        seconds = time.monotonic() - begin
        solution = dict(zip(answer.solution.joint_state.name,
                            answer.solution.joint_state.position, strict=True))
        end, way = self._stand(), self._record.way(since)
        complaints = self._way_complaints(way)
        leg = Leg('refused', answer.status, answer.message, (), self._judge.extremes(way),
                  seconds=seconds, motion_seconds=answer.motion_seconds)
        if answer.status == Status.SUCCESS:
            off = max(abs(solution[joint] - value) for joint, value in
                      zip(self._judge.joints, end.tolist(), strict=True))
            self._trail.append(dict(zip(self._judge.joints, end.tolist(), strict=True)))
            if off > ARRIVED:
                complaints.append(f'it says arrived, and is {off:.2g} off')
            return leg._replace(kind='arrived', off=off, complaints=tuple(complaints))
        if answer.motion_seconds or np.abs(end - start).max() > 1e-9:
            complaints.append(f'it moved, and says {answer.status}: {answer.message}')
        if answer.contacts and solution:
            goal = np.array([solution[joint] for joint in self._judge.joints])
            complaints += self._block_complaints(answer, start, goal)
            raw = bool(self._judge.contacts_along(start, goal, raw=True))
            return leg._replace(kind='blocked', raw=raw, complaints=tuple(complaints))
        return leg._replace(complaints=tuple(complaints))

    def go_home(self) -> None:
        """Bring the arm home, if need be back on the way that it came."""
        for place in [self.home, *reversed(self._trail[1:])]:
            since = len(self._record)
            answers = [execute(self._client, self.home, PATIENCE)]
            if answers[0].status != Status.SUCCESS:
                answers.append(execute(self._client, place, PATIENCE))
            self._stand()
            way = self._record.way(since)
            complaints = self._way_complaints(way)
            if answers[-1].status not in (Status.SUCCESS, Status.INVALID_MOTION_PLAN):
                complaints.append(f'the way home: {answers[-1].status} {answers[-1].message}')
            self.legs.append(Leg('return', answers[-1].status, answers[-1].message,
                                 tuple(complaints), self._judge.extremes(way)))
            if answers[0].status == Status.SUCCESS:
                self._trail = [self.home]
                return

    def _stand(self) -> np.ndarray:
        """Wait for news, and until nothing moves; gives the positions."""
        heard = len(self._record)
        eventually(lambda: len(self._record) > heard + 2, 'joint_states', 60.0)
        eventually(lambda: not self._record.way(-2).velocities.any(), 'an arm at rest', 60.0)
        return self._record.way(-1).positions[-1]

    # -- what judges say ------------------------------------------------------------------

    def _way_complaints(self, way: Way) -> list[str]:
        self.states += len(way.times)
        worst = self._judge.extremes(way)
        complaints = [f'{name} {value:.5f} of what is allowed' for name, value in
                      zip(worst._fields[1:], worst[1:], strict=True) if value > 1 + ROUNDING]
        if worst.beyond > 1e-9:
            complaints.append(f'{worst.beyond:.2g} beyond a limit of position')
        for touch in self._judge.touched(way.positions):
            raw = self._judge.touching(touch.position, raw=True)
            complaints.append(f'{self._text(touch)}{"" if raw else ", not by surfaces"}')
        return complaints

    def _block_complaints(self, answer: Any, start: np.ndarray, goal: np.ndarray) -> list[str]:
        """Say what is wrong with a block: what touches, and where on the straight way."""
        named = {name: float(value) for name, value in
                 re.findall(r'(\w+) (-?[\d.]+(?:e-?\d+)?)(?=[,:])', answer.message)}
        if not set(self._judge.joints) <= named.keys():
            return [f'no place is named: {answer.message}']
        there = np.array([named[joint] for joint in self._judge.joints])
        told = {frozenset((c.contact_body_1, c.contact_body_2)) for c in answer.contacts}
        touches = self._judge.contacts_along(start, goal)
        same = [touch for touch in touches
                if np.abs(touch.position - there).max() < NAMED and touch.pairs & told]
        if not same:
            return [f'nothing of that is in the way from {start.tolist()} to {goal.tolist()}: '
                    f'{answer.message}; but {[self._text(touch) for touch in touches[:3]]}']
        early = [touch for touch in touches if touch.way < same[0].way - NAMED]
        if longest(early) > RESOLUTION:
            return [f'{self._text(early[0])} before that: {answer.message}']
        return []

    def _text(self, touch: Touch) -> str:
        pairs = ', '.join(sorted(' - '.join(sorted(pair)) for pair in touch.pairs))
        return (f'{pairs} touch, {self._judge.depth(touch):.2g} m deep, at '
                f'{np.round(touch.position, 4).tolist()}')

    # -- the sum of it --------------------------------------------------------------------

    @property
    def kinds(self) -> Counter[str]:
        """How many legs of each kind."""
        return Counter(leg.kind for leg in self.legs)

    @property
    def complaints(self) -> list[str]:
        """All that the judges have said."""
        return [text for leg in self.legs for text in leg.complaints]

    @property
    def extremes(self) -> Extremes:
        """How far the legs went."""
        worst = self.legs[0].extremes
        for leg in self.legs[1:]:
            worst = worst.worst(leg.extremes)
        return worst


class Tour(NamedTuple):
    """A tour that is over, and what the processes logged."""

    tour: PoseTour
    mock_log: str
    node_log: str


def toured(domain: int, folder: Path, robot: str, scene: str, count: int, seed: int = 0,
           watch: Watch | None = None) -> Tour:
    """Start a mock robot and a node that moves it, and go to random poses in a scene."""
    client = Client(domain)
    try:
        shipped = shipped_robots()[robot]
        with mock_robot(client, folder, robot) as mock, nodes(domain, folder) as start:
            node = start(**node_parameters(shipped, Robot.load(shipped)), scene=scene,
                         velocity_scaling=1.0, acceleration_scaling=1.0,
                         default_max_acceleration=ACCELERATION)
            tour = PoseTour(client, robot, scene)
            tour.begin()
            tour.travel(seed, count, watch)
            tour.close()
        return Tour(tour, mock.text, node.text)
    finally:
        client.close()
