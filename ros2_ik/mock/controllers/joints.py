"""The joints of the mock robot: commands, positions and velocities."""

from collections import deque
from collections.abc import Iterator, Sequence
import math

from ros2_ik.core import Array, Robot

POSITION_TOLERANCE = 1e-6   # accepted excess over a position limit, due to rounding [rad, m]
VELOCITY_TOLERANCE = 1.02   # accepted velocity / velocity limit, due to sampling
# accepted velocity / velocity limit if two streamed commands arrive within one cycle
BURST_TOLERANCE = 2.2
STEP_TOLERANCE = 1e-3       # smallest displacement in a cycle that can count as a step [rad, m]


class MockJoints:
    """
    Joints that follow their last commands; mimic joints follow their leaders.

    - `position`, `velocity`: state after the last `move`, by joint [rad, rad/s; m, m/s].
    - `commanded`: the last command of each joint.
    - `blocked`: the joints are stuck. When released, they move to their commands at their velocity
      limits.
    - `lag`: delay of the position behind the command, as of real motors [s].
    - `time_scale`: speed of the controllers' time, as set by a speed slider.
    - `behind`: delay of the controllers' time behind the clock [ns].
    """

    def __init__(self, robot: Robot, home: dict[str, float]) -> None:
        values = robot.to_joints(robot.to_q(home))
        self._joints = {joint.name: joint for joint in robot.joints if joint.is_scalar}
        self._mimics = {name: follower for name, follower in robot.mimics.items()
                        if follower.leader in self._joints}
        self.position = {name: float(values[name]) for name in self._joints}
        self.velocity = dict.fromkeys(self.position, 0.0)
        self.commanded = dict(self.position)
        self.time_scale, self.behind = 1.0, 0
        self.blocked, self.lag = False, 0.0
        self._catching_up = set[str]()        # joints still moving to their commands after a block
        self._past = deque[tuple[int, dict[str, float]]]()   # times [ns] and commands
        self._speeds: dict[str, float] = {}   # commanded velocities, by joint
        self._wrong: dict[str, str] = {}      # defects of the last cycle, by joint

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the joints that can be commanded."""
        return tuple(self._joints)

    def turning(self, names: Sequence[str]) -> list[bool]:
        """Return for each joint whether it is continuous."""
        return [self._joints[name].kind == 'continuous' for name in names]

    def command(self, names: Sequence[str], positions: Sequence[float] | Array,
                velocities: Sequence[float] | Array | None = None) -> None:
        """
        Command positions, which the joints reach at the next `move`.

        Without `velocities`, the measured velocities are displacement / cycle time.
        """
        for i, name in enumerate(names):
            self.commanded[name] = float(positions[i])
            if velocities is not None:
                self._speeds[name] = float(velocities[i])

    def move(self, seconds: float, now: int) -> list[str]:
        """
        Move the joints for a cycle of `seconds` that ends at `now` [ns].

        Returns texts on new defects of the motion, for the log.
        """
        before, wanted = self.position, self._delayed_commands(now)
        if self.blocked:
            self._catching_up.update(before)
        self.position = {name: self._reached(name, wanted[name], seconds) for name in before}
        steps = {name: position - before[name] for name, position in self.position.items()}
        # a commanded velocity counts as the measured one, unless the joint lags or was stuck
        for name, step in steps.items():
            speed = step / seconds if seconds > 0 else 0.0
            given = not self.lag and name not in self._catching_up
            self.velocity[name] = self._speeds.get(name, speed) if given else speed
        # a defect that persists is reported once
        known, self._wrong = self._wrong, dict(self._defects(steps, seconds))
        self._speeds = {}
        return [text for name, text in self._wrong.items() if name not in known]

    def _delayed_commands(self, now: int) -> dict[str, float]:
        """Return the commands of `lag` seconds ago, by joint."""
        past, then = self._past, now - round(self.lag * 1e9)
        # drop entries that are not older than `now`: the clock is paused, or was set back
        while past and past[-1][0] >= now:
            past.pop()
        past.append((now, dict(self.commanded)))
        while len(past) > 1 and past[1][0] <= then:
            past.popleft()
        # linear interpolation between the two commands around that time
        (begin, first), (end, last) = past[0], past[min(1, len(past) - 1)]
        part = max(then - begin, 0) / (end - begin) if end > begin else 1.0
        return {name: last[name] if part == 1.0 or first[name] == last[name]
                else first[name] + part * (last[name] - first[name]) for name in last}

    def _reached(self, name: str, commanded: float, seconds: float) -> float:
        """Return the position of a joint after a cycle of `seconds`."""
        position = self.position[name]
        if self.blocked:
            return position
        if name not in self._catching_up:
            return commanded
        # a joint that was stuck moves at its velocity limit until it reaches its command
        farthest = self._joints[name].velocity_limit * seconds
        if abs(commanded - position) <= farthest:
            self._catching_up.discard(name)
            return commanded
        return position + math.copysign(farthest, commanded - position)

    def _defects(self, steps: dict[str, float], seconds: float) -> Iterator[tuple[str, str]]:
        for name, joint in self._joints.items():
            position, velocity = self.position[name], self.velocity[name]
            limit = f'beyond its limit {joint.velocity_limit:.4g}/s'
            # a velocity computed from positions doubles if two commands arrive within one cycle
            tolerance = VELOCITY_TOLERANCE if name in self._speeds else BURST_TOLERANCE
            farthest = max(joint.velocity_limit * BURST_TOLERANCE * seconds, STEP_TOLERANCE)
            if not math.isfinite(position):
                yield name, f'{name} was sent to {position}'
            elif not (joint.lower - POSITION_TOLERANCE <= position
                      <= joint.upper + POSITION_TOLERANCE):
                yield name, (f'{name} is at {position:.6g}, outside its limits '
                             f'[{joint.lower:.6g}, {joint.upper:.6g}]')
            elif abs(velocity) > joint.velocity_limit * tolerance:
                yield name, f'{name} moves at {velocity:.4g}/s, {limit}'
            # a jump of the position, whatever the commanded velocity
            elif abs(steps[name]) > farthest:
                yield name, f'a step: {name} goes {steps[name]:.4g} in {seconds:.3g} s, {limit}'

    def states(self) -> dict[str, tuple[float, float]]:
        """Return position and velocity of all joints and mimic joints, by name."""
        states = {name: (self.position[name], self.velocity[name]) for name in self._joints}
        for name, (leader, multiplier, offset, _) in self._mimics.items():
            position, velocity = states[leader]
            states[name] = multiplier * position + offset, multiplier * velocity
        # in alphabetical order, as joint_state_broadcaster publishes them
        return dict(sorted(states.items()))
