"""The joints of the mock robot: what they are commanded, where they stand, how fast they move."""

from collections import deque
from collections.abc import Iterator, Sequence
import math

from ros2_ik.core import Array, Robot

SLACK = 1e-6       # rad or m beyond a limit that rounding may cause
HASTE = 1.02       # of the velocity limit that sampling may cause,
LUMP = 2.2         # and, of a stream of positions, two that come within one cycle
JOLT = 1e-3        # a step that is smaller is none, however short the cycle [rad, m]


class MockJoints:
    """
    Joints that stand where they were commanded last; mimic joints follow their leaders.

    position, velocity: as measured after the last `move`, by joint; [rad], [rad/s] or [m], [m/s].
    commanded: the last command of each joint. following: False is a robot whose motors are off.
    blocked: True is one that something holds; free again, its joints catch up with their commands
    as fast as they can. lag: so long after a command they are there [s], as motors are.
    time_scale: how many seconds of its controllers one second is, as with a speed slider;
    behind [ns]: so far their time is behind by now.
    """

    def __init__(self, robot: Robot, home: dict[str, float]) -> None:
        values = robot.to_joints(robot.to_q(home))
        self._joints = {joint.name: joint for joint in robot.joints if joint.is_scalar}
        self._mimics = {name: follower for name, follower in robot.mimics.items()
                        if follower.leader in self._joints}
        self.position = {name: float(values[name]) for name in self._joints}
        self.velocity = dict.fromkeys(self.position, 0.0)
        self.commanded = dict(self.position)
        self.following, self.time_scale, self.behind = True, 1.0, 0
        self.blocked, self.lag = False, 0.0
        self._catching_up = set[str]()        # joints that were blocked
        self._past = deque[tuple[int, dict[str, float]]]()   # commands and their times [ns]
        self._speeds: dict[str, float] = {}   # of joints whose command says how fast they go
        self._steps: dict[str, float] = {}    # how far each joint got in the last cycle
        self._seconds = 0.0                   # of that cycle
        self._wrong: dict[str, str] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The joints that can be commanded."""
        return tuple(self._joints)

    def turning(self, names: Sequence[str]) -> list[bool]:
        """Return which joints are continuous."""
        return [self._joints[name].kind == 'continuous' for name in names]

    def command(self, names: Sequence[str], positions: Sequence[float] | Array,
                velocities: Sequence[float] | Array | None = None) -> None:
        """
        Command joints; they are there at the next `move`.

        Without velocities the measured ones come from how far the joints got in the cycle.
        """
        for i, name in enumerate(names):
            self.commanded[name] = float(positions[i])
            if velocities is not None:
                self._speeds[name] = float(velocities[i])

    def impossible(self, joints: Sequence[str], apart: Sequence[float] | Array, seconds: float,
                   slack: float = HASTE) -> list[str]:
        """
        Return which joints cannot go so far (n,) in so many seconds.

        `slack`: of the velocity limit.
        """
        return [f'{name} is to go {far:.4g} in {seconds:.3g} s, beyond its limit '
                f'{self._joints[name].velocity_limit:.4g}/s'
                for name, far in zip(joints, map(float, apart), strict=True)
                if abs(far) > max(self._joints[name].velocity_limit * slack * seconds, JOLT)]

    def hold(self) -> None:
        """Forget the commands: stay where measured."""
        self.commanded = dict(self.position)

    def move(self, seconds: float, now: int) -> list[str]:
        """
        Go where commanded, in a cycle of so many seconds that ends `now` [ns].

        Gives what has just become wrong with the motion, for the log.
        """
        before, wanted = self.position, self._wanted(now)
        if self.blocked:
            self._catching_up.update(before)
        self.position = {name: self._reached(name, wanted[name], seconds) for name in before}
        for name, position in self.position.items():
            moved = self._steps[name] = position - before[name]
            speed = moved / seconds if seconds > 0 else 0.0
            told = self.following and not self.lag and name not in self._catching_up
            self.velocity[name] = self._speeds.get(name, speed) if told else speed
        self._seconds = seconds
        known, self._wrong = self._wrong, dict(self._defects())
        self._speeds = {}
        return [text for name, text in self._wrong.items() if name not in known]

    def _wanted(self, now: int) -> dict[str, float]:
        """Return where the motors bring the joints."""
        past, then = self._past, now - round(self.lag * 1e9)
        while past and past[-1][0] >= now:      # the clock stands, or was set back
            past.pop()
        past.append((now, dict(self.commanded)))
        while len(past) > 1 and past[1][0] <= then:
            past.popleft()
        (begin, first), (end, last) = past[0], past[min(1, len(past) - 1)]
        part = max(then - begin, 0) / (end - begin) if end > begin else 1.0
        return {name: last[name] if part == 1.0 or first[name] == last[name]
                else first[name] + part * (last[name] - first[name]) for name in last}

    def _reached(self, name: str, commanded: float, seconds: float) -> float:
        """Return where a joint gets to in a cycle of so many seconds."""
        position = self.position[name]
        if self.blocked or not self.following:
            return position
        if name not in self._catching_up:
            return commanded
        farthest = self._joints[name].velocity_limit * seconds
        if abs(commanded - position) <= farthest:
            self._catching_up.discard(name)
            return commanded
        return position + math.copysign(farthest, commanded - position)

    def _defects(self) -> Iterator[tuple[str, str]]:
        for name, joint in self._joints.items():
            position, velocity = self.position[name], self.velocity[name]
            if not math.isfinite(position):
                yield name, f'{name} was sent to {position}'
            elif not joint.lower - SLACK <= position <= joint.upper + SLACK:
                yield name, (f'{name} is at {position:.6g}, outside its limits '
                             f'[{joint.lower:.6g}, {joint.upper:.6g}]')
            elif abs(velocity) > joint.velocity_limit * (HASTE if name in self._speeds else LUMP):
                yield name, (f'{name} moves at {velocity:.4g}/s, beyond its limit '
                             f'{joint.velocity_limit:.4g}/s')
            else:   # whatever velocity the command tells
                for text in self.impossible([name], [self._steps[name]], self._seconds, LUMP):
                    yield name, f'a step: {text}'

    def states(self) -> dict[str, tuple[float, float]]:
        """Return position and velocity of all joints, mimic joints too, in alphabetical order."""
        states = {name: (self.position[name], self.velocity[name]) for name in self._joints}
        for name, (leader, multiplier, offset, _) in self._mimics.items():
            position, velocity = states[leader]
            states[name] = multiplier * position + offset, multiplier * velocity
        return dict(sorted(states.items()))   # as joint_state_broadcaster does
