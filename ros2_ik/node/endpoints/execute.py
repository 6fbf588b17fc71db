"""Services ~/execute, which moves the robot to joint values, and ~/stop."""

import time

from std_srvs.srv import Trigger

from ros2_ik.core import Robot, Status
from ros2_ik.messages.answers import contact_messages
from ros2_ik.messages.request_error import invalid
from ros2_ik.messages.robot_states import joint_values, Values
from ros2_ik.node.endpoints.endpoint import Endpoint, set_status
from ros2_ik.node.motion.motion_execution import MotionRequest
from ros2_ik.srv import Execute as Service


class Execute(Endpoint):
    """Services that move the robot to joint values and stop all motions."""

    def offer(self) -> None:
        self.serve(Service, '~/execute', self.answer)
        self.serve(Trigger, '~/stop', self.stop)

    async def answer(self, request: Service.Request, response: Service.Response) -> None:
        """Answer ~/execute at the end of the motion."""
        # read before the first await, so that a later stop prevents the motion
        stop_count = self.motions.stop_count
        began = time.monotonic()
        robot, goal = await self.when_ready(lambda: self._read(request))
        outcome = await self.motions.run(MotionRequest(
            robot, goal, request.group, request.avoid_collisions, None, stop_count,
            'service execute', request.velocity_scaling,
            max_joint_change=_bound(request.max_joint_change, robot)))
        set_status(response, outcome.status, outcome.message)
        response.contacts = contact_messages(outcome.contacts, outcome.scene,
                                             self.header(robot.root_frame))
        response.seconds = time.monotonic() - began
        response.motion_seconds = float(outcome.motion_seconds)

    def _read(self, request: Service.Request) -> tuple[Robot, Values]:
        if request.goal.attached_collision_objects:
            raise invalid('goal.attached_collision_objects: attach objects by '
                          '~/apply_planning_scene first')
        robot = self.description.current()
        values, names = joint_values(request.goal, robot, 'goal'), request.goal.joint_state.name
        if names and not values:
            leaders = ', '.join(sorted({robot.mimics[name].leader for name in names}))
            raise invalid(f'goal: {", ".join(names)} only mimic other joints; valid: {leaders}')
        return robot, values

    async def stop(self, request: Trigger.Request, response: Trigger.Response) -> None:
        """
        Brake all motions, and answer without waiting until the robot is at rest.

        Fails if another client moves the arm, or possibly does; succeeds if nothing was moving.
        """
        motions = self.motions
        reason = motions.foreign_motion_reason()
        count = motions.stop(Status.PREEMPTED, 'by service stop')
        response.success = not reason
        response.message = {0: 'nothing was moving', 1: '1 motion is being stopped'}.get(
            count, f'{count} motions are being stopped')
        # `count` can include a motion of this node that waits for the other client's motion to end
        if reason:
            response.message = (f'{response.message}; but {reason}' if count
                                else f'no motion was stopped: {reason}')
        if motions.servo:
            response.message += '; the servo is switched off'


def _bound(most: float, robot: Robot) -> dict[str, float]:
    if not most >= 0:
        raise invalid(f'max_joint_change is {most:g}; valid: above 0, or 0 (not bounded)')
    return dict.fromkeys(robot.joint_names, most) if most else {}
