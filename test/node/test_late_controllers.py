"""What is told to an arm that is late, or has yet to begin, when it must stop."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline
from std_msgs.msg import Float64MultiArray
from test_controller_commands import Arm, FASTEST, Follower, JOINT, Positions, Trajectories
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_ik.core import Status, straight_motion
from ros2_ik.node.controllers.follow_joint_trajectory import FollowJointTrajectoryController
from ros2_ik.node.controllers.motion_limits import motion_limits
from ros2_ik.node.motion.motion_execution import MotionExecution, Phase
from ros2_ik.node.motion.outcome import Outcome
from ros2_ik.node.motion.path_checks import PathChecks

OBSTACLE = 0.8   # joint 1 touches something here


class Obstacle:
    """A checker of collisions by the value of one joint, which touches within `reach` of one."""

    def __init__(self, robot, place=OBSTACLE, reach=0.02):
        self.robot, self.place, self.reach = robot, place, reach
        self.moving_joints = frozenset([JOINT])

    def collides(self, q):
        return abs(q[self.robot.joint(JOINT).index] - self.place) < self.reach

    def in_collision(self, q, at_once=False):
        return (SimpleNamespace(first='arm', second='obstacle', depth=0.01),)


class Cell:
    """A scene with nothing, into which something comes."""

    def __init__(self, arm):
        self.arm, self._checkers = arm, {}
        self.known = SimpleNamespace(scene=None)
        self.put(None)
        context = SimpleNamespace(parameters=SimpleNamespace(path_resolution=0.01))
        state = SimpleNamespace(known=lambda _: {JOINT: 0.0}, start=self._start)
        self.ways = PathChecks(state, self, context)

    def put(self, checker):
        scene = SimpleNamespace(robot=self.arm.robot)
        self._checkers[id(scene)] = checker
        self.known.scene = self._kept = scene

    def checker(self, scene):
        return self._checkers[id(scene)], ()

    def _start(self, robot, first, *_, **__):
        q = np.zeros(robot.nq)
        q[robot.joint(JOINT).index] = first[JOINT]
        return SimpleNamespace(q=q, notes=[])

    def recheck(self, execution):
        """Look until the check is finished; gives what is found."""
        found = self.ways.recheck(execution)
        while found is None and execution.check_left is not None:
            found = self.ways.recheck(execution)
        return found


def moving(arm, cell, seconds, late):
    """Begin a motion beyond the obstacle that is not there yet; the arm is late."""
    execution = arm.go(2.0)
    execution.scene = cell.known.scene
    arm.run(seconds, late)
    assert cell.recheck(execution) is None
    return execution


@pytest.mark.parametrize('kind', [Trajectories, Positions])
@pytest.mark.parametrize('late', [0.0, 0.1, 0.2, 0.3])
@pytest.mark.parametrize('before', [0.02, 0.1, 0.3])
def test_what_comes_between_the_arm_and_its_command(monkeypatch, kind, late, before):
    """The arm has yet to pass it, though its command is beyond."""
    way = Arm(monkeypatch, kind).go(2.0).motion
    reached = next(t for t in np.arange(0, 3, 0.005) if way.at(t).position[0] > OBSTACLE - before)
    arm = Arm(monkeypatch, kind)
    cell = Cell(arm)
    execution = moving(arm, cell, reached + late, late)
    cell.put(Obstacle(arm.robot, reach=0.005))
    found = cell.recheck(execution)
    assert found and found.status == Status.INVALID_MOTION_PLAN
    assert 'the scene has changed, and ahead' in found.message


def test_what_the_arm_has_passed_is_no_obstacle(monkeypatch):
    arm = Arm(monkeypatch, Trajectories)
    cell = Cell(arm)
    execution = moving(arm, cell, 1.0, 0.1)
    assert arm.measured.state([JOINT])[0][0] > OBSTACLE + 0.1
    cell.put(Obstacle(arm.robot))
    assert cell.recheck(execution) is None


def test_an_arm_in_contact_is_told_of(monkeypatch):
    arm = Arm(monkeypatch, Trajectories)
    cell = Cell(arm)
    execution = moving(arm, cell, 0.6, 0.1)
    cell.put(Obstacle(arm.robot, arm.measured.state([JOINT])[0][0]))
    assert 'is in contact where it is' in cell.recheck(execution).message


@pytest.mark.parametrize('late', [0.0, 0.1, 0.2, 0.3, 0.5])
@pytest.mark.parametrize('ahead', [0.5, 0.7, 3.0])
def test_a_late_arm_rests_before_what_came_into_its_way(monkeypatch, late, ahead):
    """Not beyond it, where the controller that begins at its command would come to rest."""
    arm = Arm(monkeypatch, Trajectories)
    cell = Cell(arm)
    execution = moving(arm, cell, 0.4 + late, late)
    at, fast = (float(values[0]) for values in arm.controller.commanded(arm.now - late)[:2])
    place = at + fast**2 / 2 / 3.0 + ahead * fast**2 / 2 / 3.0 + 0.1
    cell.put(Obstacle(arm.robot, place))
    execution.stop_for(cell.recheck(execution) or Outcome(Status.PREEMPTED, 'stopped'))
    end = arm.controller.told.points[-1]
    assert end.positions[0] < place - 0.02
    seconds = end.time_from_start.sec + end.time_from_start.nanosec * 1e-9
    braking = CubicHermiteSpline([0, seconds], [at, end.positions[0]], [fast, 0])
    assert np.abs(braking([0, seconds], 2)).max() < 3.0 * 1.01


class Late(Follower):
    """A controller that hears what it is told some seconds later."""

    def __init__(self, arm, late):
        super().__init__(arm)
        self.late, self.queue = late, []
        self.seen = self.message = getattr(arm.controller, 'told', None)

    def step(self):
        told = getattr(self.arm.controller, 'told', None)
        if told is not self.seen:
            self.seen = told
            self.queue.append((self.arm.now + self.late, told))
        self.arm.controller.told, kept = self.message, told
        if self.queue and self.queue[0][0] <= self.arm.now:
            self.arm.controller.told = self.queue.pop(0)[1]
        super().step()
        self.arm.controller.told = kept


@pytest.mark.parametrize('stop', [0.15, 0.2, 0.3, 0.4, 0.6, 0.9])
def test_joints_that_have_not_begun_are_told_to_stay(monkeypatch, stop):
    arm = Arm(monkeypatch, Trajectories)
    arm.parameters.update(max_tracking_error=0.0)
    arm.controller.told = None
    arm.hear(0.0, 0.0, arm.now)
    late = Late(arm, 1.0)
    execution = arm.go(2.0)
    late.run(stop, execution)
    execution.stop(Status.PREEMPTED, 'stopped')
    assert arm.controller.told.points[-1].positions[0] == 0
    early = late.run(1.0, execution)   # what it was told before cannot be taken back
    late.run(late.queue[-1][0] - arm.now if late.queue else 0)
    late.peak = 0.0
    outcome = early or late.run(10, execution)
    assert outcome.status == Status.PREEMPTED
    late.run(3)
    assert abs(late.position) < 1e-6 and late.peak < 3.0 * 1.05


class Future:
    """What a client gives for an answer that may come later."""

    def __init__(self):
        self.calls, self.answer = [], None

    def add_done_callback(self, call):
        self.calls.append(call)
        if self.answer is not None:
            call(self)

    def result(self):
        return self.answer

    def answered(self, answer):
        self.answer = answer
        for call in self.calls:
            call(self)


class Handle:
    """A goal that the controller has accepted, or not."""

    def __init__(self, accepted):
        self.accepted, self.cancelled, self.end = accepted, False, Future()

    def cancel_goal_async(self):
        self.cancelled = True

    def get_result_async(self):
        return self.end

    def ends(self, status):
        self.end.answered(SimpleNamespace(status=status, result=SimpleNamespace(
            SUCCESSFUL=0, error_code=0, error_string='')))


@pytest.fixture
def goals(monkeypatch):
    """Give the goals that an action gets, each with the future of its answer."""
    goals = []

    class ActionClient:
        def __init__(self, *_, **__):
            pass

        def server_is_ready(self):
            return True

        def send_goal_async(self, goal, goal_uuid):
            goals.append((goal.trajectory, Future()))
            return goals[-1][1]

    actions = SimpleNamespace(FollowJointTrajectory=SimpleNamespace(Goal=SimpleNamespace))
    messages = SimpleNamespace(JointTolerance=SimpleNamespace)
    monkeypatch.setitem(sys.modules, 'control_msgs', SimpleNamespace(action=actions, msg=messages))
    monkeypatch.setitem(sys.modules, 'control_msgs.action', actions)
    monkeypatch.setitem(sys.modules, 'control_msgs.msg', messages)
    monkeypatch.setattr('rclpy.action.ActionClient', ActionClient)
    return goals


def standing(arm, execution, seconds):
    """Let time pass with an arm that stands; gives the outcome, if it ends."""
    for _ in range(round(seconds / 0.02)):
        arm.now += 0.02
        arm.hear(0.0, 0.0, arm.now)
        if outcome := execution.supervise():
            return outcome
    return None


@pytest.mark.parametrize('stop', [0.1, 0.3, 0.7])
@pytest.mark.parametrize('accepted', [True, False])
def test_an_open_goal_is_cancelled_by_a_stop(monkeypatch, goals, stop, accepted):
    """Nothing else is sent, and the answer comes when the goal has ended."""
    arm = Arm(monkeypatch, FollowJointTrajectoryController)
    execution = arm.go(2.0)
    assert standing(arm, execution, stop) is None
    execution.stop(Status.PREEMPTED, 'stopped')
    assert standing(arm, execution, 0.5) is None, 'it may still move'
    handle = Handle(accepted)
    goals[0][1].answered(handle)
    assert handle.cancelled is accepted and len(goals) == 1
    if accepted:
        assert standing(arm, execution, 0.5) is None, 'the cancelled goal has not ended'
        handle.ends(5)
    outcome = standing(arm, execution, 3.0)
    assert outcome and outcome.status == Status.PREEMPTED, outcome
    assert outcome.message.startswith('nothing was moved') is not accepted


def test_a_goal_that_is_never_answered_is_given_up(monkeypatch, goals):
    """What the controller never answered is no reason not to rest, nor for the next motion."""
    arm = Arm(monkeypatch, FollowJointTrajectoryController)
    execution = arm.go(2.0)
    outcome = standing(arm, execution, 9.0)
    assert outcome.status == Status.CONTROL_FAILED and 'has not said whether' in outcome.message
    arm.controller.forget()
    assert not arm.controller.unanswered()
    again = arm.go(0.5)
    late = Handle(True)
    goals[0][1].answered(late)      # of the motion before
    assert late.cancelled
    late.ends(5)
    assert standing(arm, again, 0.3) is None and 'has not said' in arm.controller.unanswered()
    goals[1][1].answered(Handle(True))
    assert not arm.controller.unanswered() and not arm.controller.released


def test_goals_have_tolerances(monkeypatch, goals):
    """The controller itself notices joints that do not follow."""
    arm = Arm(monkeypatch, FollowJointTrajectoryController)
    sent = []
    monkeypatch.setattr(arm.controller, '_goal', lambda **fields: sent.append(
        SimpleNamespace(**fields)) or sent[-1])
    execution = arm.go(2.0)
    goal, = sent
    path, = goal.path_tolerance
    fastest = max(abs(point.velocities[0]) for point in goal.trajectory.points)
    assert (path.name, path.position) == (JOINT, pytest.approx(0.2 + 0.3 * fastest))
    end, = goal.goal_tolerance
    assert (end.name, end.position) == (JOINT, 1e-3) and goal.goal_time_tolerance.sec == 2
    goals[0][1].answered(Handle(True))
    assert standing(arm, execution, 0.1) is None
    execution.stop(Status.PREEMPTED, 'stopped')
    assert not hasattr(sent[-1], 'path_tolerance') and len(sent) == 2


@pytest.mark.parametrize('delay', [0.1, 0.3, 0.5, 0.8])
@pytest.mark.parametrize('again', [0.0, 0.5, 1.0])
@pytest.mark.parametrize('stop', [0.1, 0.4, 0.7])
def test_a_controller_that_is_slow_to_accept_goals(monkeypatch, goals, delay, again, stop):
    """A motion begins when it is accepted; braking, too, after a part `again` of that time."""
    arm = Arm(monkeypatch, FollowJointTrajectoryController)
    arm.stand(0.5, -1.4)
    execution, began = arm.go(2.8, -1.4), arm.now

    def state():
        return execution.motion.at(max(arm.now - began - delay, 0.0))

    def goes_on(until):
        while arm.now < until:
            arm.now += 0.02
            there = state()
            arm.hear(there.position[0], there.velocity[0], arm.now)
            assert execution.supervise() is None
    goes_on(began + delay)
    goals[0][1].answered(Handle(True))
    goes_on(began + delay + stop)
    execution.stop(Status.PREEMPTED, 'stopped')
    if len(goals) == 1:   # it ends as soon by itself
        latest = began + 2 * delay + execution.motion.duration
        assert delay >= 0.5 and execution.end < latest
        return
    goes_on(arm.now + again * delay)
    goals[1][1].answered(Handle(True))
    end, there = goals[1][0].points[-1], state()
    seconds = end.time_from_start.sec + end.time_from_start.nanosec * 1e-9
    braking = CubicHermiteSpline([0, seconds], [there.position[0], end.positions[0]],
                                 [there.velocity[0], 0.0])
    assert np.abs(braking([0, seconds], 2)).max() < 3.0 * 1.05
    assert braking(np.linspace(0, seconds, 100), 1).min() > -1e-6
    assert np.abs(braking(np.linspace(0, seconds, 100), 1)).max() < FASTEST * 1.05


@pytest.mark.parametrize(('late', 'kept'), [(0.0, True), (0.2, True), (0.6, False)])
def test_controllers_keep_step(monkeypatch, late, kept):
    """The way is free for both together, and checked with what a late arm may be off."""
    arm = Arm(monkeypatch, Trajectories)
    joints = (JOINT, 'panda_joint2')
    pair = [arm.controller, Trajectories('d', joints[1:], '', arm.controller.context)]

    def hear(values, speeds):
        stamp = SimpleNamespace(sec=int(arm.now), nanosec=round(arm.now % 1 * 1e9))   # of both
        arm._states.take(SimpleNamespace(name=list(joints), position=values, velocity=speeds,
                                         header=SimpleNamespace(stamp=stamp)))
    hear([0.0, 0.0], [0.0, 0.0])
    execution = MotionExecution(arm.robot, pair, dict.fromkeys(joints, 1.0), arm.measured,
                                arm.parameters, None)
    motion = straight_motion(arm.robot, joints, [0.0, 0.0], [1.0, 1.0],
                             motion_limits(arm.robot, joints, arm.parameters))
    execution.send(motion, 0.0)
    began = arm.now
    while arm.now < began + motion.duration + 0.5:
        arm.now += 0.02
        states = [motion.at(max(arm.now - began - after, 0.0)) for after in (0.02, 0.02 + late)]
        hear([state.position[k] for k, state in enumerate(states)],
             [state.velocity[k] for k, state in enumerate(states)])
        if (outcome := execution.supervise()) or execution.phase is Phase.BRAKING:
            break
    if kept:
        assert outcome and outcome.status == Status.SUCCESS, outcome
    else:
        assert execution.phase is Phase.BRAKING
        assert 'do not keep step' in execution._reason.message


def commanded_by_another(monkeypatch, after):
    """Return an arm that another client commands so long after it began, and what it was told."""
    arm = Arm(monkeypatch, Trajectories)
    execution = arm.go(2.0)
    arm.run(after)
    told = arm.controller.told
    theirs = JointTrajectory(joint_names=[JOINT], points=[JointTrajectoryPoint()])
    arm.controller.on_foreign_command(theirs, '/theirs')
    return arm, execution, told


def test_another_client_has_the_right_of_way(monkeypatch):
    arm, execution, sent = commanded_by_another(monkeypatch, 0.3)
    outcome = execution.supervise() or execution.supervise()
    assert outcome.status == Status.CONTROL_FAILED and arm.controller.told is sent
    assert 'another client sends commands' in outcome.message


def test_another_client_that_commands_at_once(monkeypatch):
    """Its command may have come before this node's: the arm is braked."""
    arm, execution, sent = commanded_by_another(monkeypatch, 0.04)
    assert execution.supervise() is None and execution.phase is Phase.BRAKING
    assert arm.controller.told is not sent
    assert 'which of them the joints obey' in execution._reason.message


def test_a_stream_that_gave_way_begins_again(monkeypatch):
    """What it was not told any more did not go on."""
    arm = Arm(monkeypatch, Positions)
    arm.go(2.0)
    arm.run(0.4)
    arm.servo.player._on_other(Float64MultiArray(), '/theirs')
    assert arm.controller.released and '/theirs' in arm.controller.failure
    arm.now += 1.0
    assert arm.controller.commanded_until < arm.now - 0.9


@pytest.mark.parametrize('kind', [Trajectories, Positions])
def test_a_stop_that_cannot_be_watched_says_so(monkeypatch, kind):
    arm = Arm(monkeypatch, kind)
    execution = arm.go(2.0)
    arm.run(0.5)
    execution.stop(Status.PREEMPTED, 'stopped')
    for _ in range(400):
        arm.now += 0.02
        arm.tick()
        if outcome := execution.supervise():
            break
    assert 'it is not known whether the arm stands: joint_states told' in outcome.message
