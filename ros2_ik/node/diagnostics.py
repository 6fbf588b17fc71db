"""The node's state of health, on /diagnostics."""

from collections.abc import Iterator
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from ros2_ik.node.node_context import NodeContext
from ros2_ik.node.servo.messages import OFF, State

Values = dict[str, Any]


def diagnostics(context: NodeContext, servo: State | None, name: str) -> DiagnosticArray:
    """Make the message; `servo` is what that has said last, `name` is the node's."""
    message = DiagnosticArray()
    message.header.stamp = context.clock.now().to_msg()
    for topic, (level, text, values) in {
            'robot': _robot(context), 'joint_states': _joint_states(context),
            'requests': _requests(context), 'workers': _workers(context),
            'motions': _motions(context), 'servo': _servo(servo)}.items():
        message.status.append(DiagnosticStatus(
            level=level, name=f'{name}: {topic}', message=text, hardware_id=name,
            values=[KeyValue(key=key, value=str(value)) for key, value in values.items()]))
    return message


def _robot(context: NodeContext) -> tuple[bytes, str, Values]:
    robot, refused = context.description.robot, context.description.refused
    values: Values = {'refused description': refused} if refused else {}
    if robot is None:
        return DiagnosticStatus.ERROR, refused or 'no robot yet', values
    values |= {'robot': robot.name, 'joints': len(robot.joints),
               'groups': ', '.join(robot.groups), 'root frame': robot.root_frame}
    if refused:
        return DiagnosticStatus.WARN, f'a newer description was refused: {refused}', values
    return DiagnosticStatus.OK, f"robot '{robot.name}' is loaded", values


def _joint_states(context: NodeContext) -> tuple[bytes, str, Values]:
    newest = context.joint_states.newest
    if newest is None:
        return DiagnosticStatus.WARN, 'none received', {}
    age = newest.age(context.clock.now().nanoseconds)
    values = {'age [s]': f'{age:.3f}',
              'age counted from': 'header.stamp' if newest.stamp else 'receipt'}
    if wrong := context.joint_states.contradictions():
        values |= {'contradictory joints': ', '.join(wrong)}
        return DiagnosticStatus.ERROR, context.joint_states.contradiction(wrong[0]), values
    if age > (context.parameters.joint_state_timeout or float('inf')):
        return DiagnosticStatus.STALE, f'the newest is {age:.3g} s old', values
    return DiagnosticStatus.OK, 'fresh', values


def _requests(context: NodeContext) -> tuple[bytes, str, Values]:
    statistics = context.statistics
    values: Values = {f'requests {service}': n for service, n in statistics.requests.items()}
    values |= {f'failures {status}': n for status, n in statistics.failures.items()}
    values |= {'open goals': statistics.open_goals, 'refused as busy': statistics.busy}
    values |= dict(_times(statistics.percentiles(50, 90, 99)))
    defects = statistics.failures['FAILURE']
    text = (f'requests: {statistics.requests.total()}, without success: '
            f'{statistics.failures.total()}')
    return (DiagnosticStatus.WARN if defects else DiagnosticStatus.OK), text, values


def _motions(context: NodeContext) -> tuple[bytes, str, Values]:
    motions = context.execution.motions()
    values: Values = {}
    for number, motion in enumerate(motions, 1):
        suffix = f' of motion {number}' if len(motions) > 1 else ''
        values |= {f'{key}{suffix}': value for key, value in motion.items()}
    text = f'{len(motions)} under way' if motions else 'nothing is moved'
    return DiagnosticStatus.OK, text, values


def _servo(state: State | None) -> tuple[bytes, str, Values]:
    if state is None or state.mode == OFF:
        why = f'off: {state.ended}' if state and state.ended else 'off'
        return DiagnosticStatus.OK, why, {}
    ticks = state.ticks
    values: Values = {'steps': ticks.taken, 'missed steps': ticks.missed} | {
        f'late {name} [ms]': f'{1e3 * seconds:.3f}' for name, seconds in (
            ('p50', ticks.p50), ('p99', ticks.p99), ('max', ticks.most))}
    return DiagnosticStatus.OK, f'follows {state.mode} commands: {state.message}', values


def _times(percentiles: list[float]) -> Iterator[tuple[str, str]]:
    for percent, seconds in zip((50, 90, 99), percentiles, strict=bool(percentiles)):
        yield f'solve time p{percent} [ms]', f'{seconds * 1e3:.3f}'


def _workers(context: NodeContext) -> tuple[bytes, str, Values]:
    pool = context.pool
    values: Values = {'workers': pool.size, 'busy': pool.busy, 'open searches': pool.open_jobs,
                      'replaced': pool.replaced}
    level = DiagnosticStatus.WARN if pool.replaced else DiagnosticStatus.OK
    return level, f'{pool.busy} of {pool.size} busy', values
