"""The joints of the mock robot: commands, positions and velocities."""

from collections.abc import Iterator, Sequence
import math

from ros2_ik.core import Array, Robot

POSITION_TOLERANCE = 1e-6   # accepted excess over a position limit, due to rounding [rad, m]
VELOCITY_TOLERANCE = 1.02   # accepted ratio of commanded velocity to its limit, due to sampling
# accepted displacement / (velocity limit * cycle time): a cycle may get two commands
BURST_TOLERANCE = 2.2
STEP_TOLERANCE = 1e-3       # displacement per cycle that is never reported as too large [rad, m]


class MockJoints:
    """
    Joints that follow their last commands; mimic joints follow their leaders.

    - `names`: the joints that can be commanded.
    - `position`, `velocity`: state after the last `move`, by joint [rad, rad/s; m, m/s].
    - `commanded`: the last command of each joint.
    - `blocked`: True if the joints are stuck. Once released, they move to their commands at their
      velocity limits.
    - `time_scale`: rate of the controllers' time relative to the clock, as set by a speed slider.
    - `time_lag`: delay of the controllers' time behind the clock [ns].
    """

    def __init__(self, robot: Robot, home: dict[str, float]) -> None:
        values = robot.to_joints(robot.to_q(home))
        self._joints = {joint.name: joint for joint in robot.joints if joint.is_scalar}
        self.names = tuple(self._joints)
        self._mimics = {name: follower for name, follower in robot.mimics.items()
                        if follower.leader in self._joints}
        self.position = {name: float(values[name]) for name in self._joints}
        self.velocity = dict.fromkeys(self.position, 0.0)
        self.commanded = dict(self.position)
        self.time_scale, self.time_lag = 1.0, 0
        self.blocked = False
        self._catching_up = set[str]()        # stuck joints, until they reach their commands
        self._speeds: dict[str, float] = {}   # commanded velocities, by joint
        self._last_defects: dict[str, str] = {}      # defects of the last cycle, by joint

    def is_continuous(self, names: Sequence[str]) -> list[bool]:
        """Return for each joint whether it is continuous."""
        return [self._joints[name].kind == 'continuous' for name in names]

    def command(self, names: Sequence[str], positions: Sequence[float] | Array,
                velocities: Sequence[float] | Array | None = None) -> None:
        """
        Command positions, which joints reach in the next `move`, unless stuck or catching up.

        Without `velocities`, the measured velocities are displacement / cycle time.
        """
        for i, name in enumerate(names):
            self.commanded[name] = float(positions[i])
            if velocities is not None:
                self._speeds[name] = float(velocities[i])

    def move(self, seconds: float) -> list[str]:
        """
        Move the joints for a cycle of `seconds`.

        Returns descriptions of new defects of the motion, for the log.
        """
        before = self.position
        if self.blocked:
            self._catching_up.update(before)
        self.position = {name: self._next_position(name, seconds) for name in before}
        steps = {name: position - before[name] for name, position in self.position.items()}
        # a commanded velocity becomes the measured one, unless the joint is stuck or catching up
        self._speeds = {name: speed for name, speed in self._speeds.items()
                        if name not in self._catching_up}
        self.velocity = {name: step / seconds for name, step in steps.items()} | self._speeds
        # a defect that persists is reported once
        known, self._last_defects = self._last_defects, dict(self._defects(steps, seconds))
        self._speeds = {}
        return [text for name, text in self._last_defects.items() if name not in known]

    def _next_position(self, name: str, seconds: float) -> float:
        """Return the position of a joint after a cycle of `seconds`."""
        position, commanded = self.position[name], self.commanded[name]
        if self.blocked:
            return position
        if name not in self._catching_up:
            return commanded
        # a joint that was stuck moves at its velocity limit until it reaches its command
        max_step = self._joints[name].velocity_limit * seconds
        if abs(commanded - position) <= max_step:
            self._catching_up.discard(name)
            return commanded
        return position + math.copysign(max_step, commanded - position)

    def _defects(self, steps: dict[str, float], seconds: float) -> Iterator[tuple[str, str]]:
        for name, joint in self._joints.items():
            position, velocity, limit = (self.position[name], self.velocity[name],
                                         joint.velocity_limit)
            if not math.isfinite(position):
                yield name, f'{name} was sent to {position}'
            elif not (joint.lower - POSITION_TOLERANCE <= position
                      <= joint.upper + POSITION_TOLERANCE):
                yield name, (f'{name} is at {position:.6g}, outside its limits '
                             f'[{joint.lower:.6g}, {joint.upper:.6g}]')
            # check the displacement as well: the commanded velocity may contradict it
            elif (abs(self._speeds.get(name, 0.0)) > limit * VELOCITY_TOLERANCE
                  or abs(steps[name]) > max(limit * BURST_TOLERANCE * seconds, STEP_TOLERANCE)):
                yield name, (f'{name} moves at {velocity:.4g}/s, by {steps[name]:.4g} in '
                             f'{seconds:.3g} s, beyond its limit {limit:.4g}/s')

    def states(self) -> dict[str, tuple[float, float]]:
        """Return position and velocity of all joints and mimic joints, by name."""
        states = {name: (self.position[name], self.velocity[name]) for name in self._joints}
        for name, (leader, multiplier, offset) in self._mimics.items():
            position, velocity = states[leader]
            states[name] = multiplier * position + offset, multiplier * velocity
        # alphabetical, as some drivers publish them: clients must not rely on the URDF's order
        return dict(sorted(states.items()))
