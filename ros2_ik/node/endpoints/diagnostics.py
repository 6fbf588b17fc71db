"""The node's health on topics /diagnostics and ~/ready."""

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from std_msgs.msg import Bool

from ros2_ik.node.endpoints.endpoint import Endpoint, LATCHED, publisher, timer
from ros2_ik.node.servo.messages import OFF

DIAGNOSTICS_PERIOD = 1.0            # of the diagnostics messages [s]
READY_CHECK_PERIOD = 0.1      # between two checks for ~/ready [s]
Values = dict[str, object]


class Diagnostics(Endpoint):
    """
    Publishes the state of the robot, of joint_states and of the servo.

    The latched topic ~/ready is True if a robot is loaded and the creation of its collision
    geometry has ended, successfully or not.
    """

    def offer(self) -> None:
        self._publisher = publisher(self.node, DiagnosticArray, '/diagnostics')
        timer(self.node, DIAGNOSTICS_PERIOD, self._publish)
        self._last_ready: bool | None = None
        self._ready = publisher(self.node, Bool, '~/ready', LATCHED)
        timer(self.node, READY_CHECK_PERIOD, self._check_ready)

    def _publish(self) -> None:
        """Publish the current state of the robot, of joint_states and of the servo."""
        message = DiagnosticArray(header=self.header(''))
        name = self.node.get_fully_qualified_name()
        for topic, (level, text, values) in {
                'robot': self._robot(), 'joint_states': self._joint_states(),
                'servo': self._servo()}.items():
            message.status.append(DiagnosticStatus(
                level=level, name=f'{name}: {topic}', message=text, hardware_id=name,
                values=[KeyValue(key=key, value=str(value)) for key, value in values.items()]))
        self._publisher.publish(message)

    def _robot(self) -> tuple[bytes, str, Values]:
        robot, error = self.description.robot, self.description.error
        values: Values = {'refused description': error} if error else {}
        if robot is None:
            return DiagnosticStatus.ERROR, error or 'no robot yet', values
        values |= {'robot': robot.name, 'joints': len(robot.joints),
                   'groups': ', '.join(robot.groups), 'root frame': robot.root_frame}
        if error:
            return DiagnosticStatus.WARN, f'a newer description was refused: {error}', values
        return DiagnosticStatus.OK, f"robot '{robot.name}' is loaded", values

    def _joint_states(self) -> tuple[bytes, str, Values]:
        newest = self.joint_states.newest
        if newest is None:
            return DiagnosticStatus.WARN, 'none received', {}
        age = self.joint_states.age(newest)
        values: Values = {'age [s]': f'{age:.3f}',
                          'age counted from': 'header.stamp' if newest.stamp else 'receipt'}
        if wrong := self.joint_states.contradiction_texts():
            return DiagnosticStatus.ERROR, wrong[0], values
        if age > (self.parameters.joint_state_timeout or float('inf')):
            return DiagnosticStatus.STALE, f'the newest is {age:.3g} s old', values
        return DiagnosticStatus.OK, 'fresh', values

    def _servo(self) -> tuple[bytes, str, Values]:
        state = self.servo_process.state
        if state.mode == OFF:
            return DiagnosticStatus.OK, f'off: {state.ended}' if state.ended else 'off', {}
        return DiagnosticStatus.OK, f'follows {state.mode} commands: {state.message}', {}

    def _check_ready(self) -> None:
        ready = self.description.robot is not None and not self.scene.geometry.is_building
        if ready != self._last_ready:
            self._last_ready = ready
            self._ready.publish(Bool(data=ready))
