"""Joint values along paths, judged by matrix products and python-fcl."""

import math
from pathlib import Path
import sys

from fcl_judge import FclJudge
from judge import pose, pose_error, TreeJudge
import numpy as np
import pytest

from ros2_ik.core import (
    Box,
    Configuration,
    Constraint,
    JointPositions,
    Line,
    PoseSolver,
    Scene,
    SceneObject,
    Screw,
    solve_path,
    solve_pose,
    SolveOptions,
    Status,
)
from ros2_ik.core.errors import InvalidOptionError, InvalidTargetError, UnknownFrameError

sys.path.insert(0, str(Path(__file__).parents[3] / 'benchmarks'))

from seams import HARD, seam, seam_starts  # noqa: E402

DOWN = (np.pi, 0, 0)
LEFT, RIGHT = pose((0.45, -0.3, 0.3), DOWN), pose((0.45, 0.3, 0.3), DOWN)


def poses_of(path):
    """Return the poses (n, 4, 4) of the path at its configurations."""
    return np.array([path.tool_path.pose(s) for s in path.parameters])


def assert_follows(robot, tip, path, weights=(1,) * 6, largest_step=0.2):
    """Assert that the configurations reach the poses in order, within limits, without jumps."""
    judge = TreeJudge(robot.urdf)
    assert len(path.q) == len(path.parameters)
    assert (np.diff(path.parameters) > 0).all()
    for q, T in zip(path.q, poses_of(path), strict=True):
        joints = robot.to_joints(q)
        position, orientation = pose_error(judge.transform(joints, tip), T, weights)
        assert position <= 1e-5 and orientation <= 1e-4
        assert not judge.outside(joints)
    assert np.abs(np.diff(path.q, axis=0)).max(initial=0.0) <= largest_step


def box(name, size, *xyz):
    return SceneObject(name, (Box(size),), pose(xyz))


def test_path_is_solved_where_seeding_with_the_previous_solution_jumps(ur5):
    poses, starts = seam(HARD), seam_starts()
    assert len(poses) == 1000 and len(starts) == 4
    solver = PoseSolver(ur5, 'tool0', collisions=False, options=SolveOptions(random_state=0))
    steps = []
    for start in starts:
        q = [start]
        for T in poses:
            q.append(solver.solve(T, q[-1]).q)
        steps.append(np.abs(np.diff(q[1:], axis=0)).max())
    assert sum(step < 0.2 for step in steps) == 1 and max(steps) > 3
    for start in starts:
        path = solve_path(ur5, 'tool0', poses, start, collisions=False)
        assert path.success and path.fraction == 1.0, path.message
        assert_follows(ur5, 'tool0', path)
        given = np.searchsorted(path.parameters, path.tool_path.knots)
        assert np.allclose(poses_of(path)[given], poses, atol=1e-9)    # all given poses are kept


def test_redundant_arm_follows_a_line_without_contact(panda):
    scene = Scene(panda).add(box('table', (0.6, 1.0, 0.05), 0.55, 0.0, 0.1)).add(
        box('post', (0.1, 0.1, 0.1), 0.05, 0.0, 0.71))
    path = solve_path(panda, 'panda_hand_tcp', Line(LEFT, RIGHT), scene=scene)
    assert path.success, path.message
    assert_follows(panda, 'panda_hand_tcp', path)
    judge = FclJudge(panda, raw=True).surround(scene)
    for q in (*path.q, *(path.q[1:] + path.q[:-1]) / 2):
        assert not judge.touching(panda.to_joints(q))
    free = solve_path(panda, 'panda_hand_tcp', Line(LEFT, RIGHT), collisions=False)
    assert any(judge.touching(panda.to_joints(q)) for q in free.q)      # without checks


def test_path_through_a_wall_ends_at_contact(ur5):
    scene = Scene(ur5).add(box('wall', (0.5, 0.05, 1.0), 0.5, 0.1, 0.3))
    path = solve_path(ur5, 'tool0', Line(LEFT, RIGHT), scene=scene)
    assert path.status is Status.GOAL_IN_COLLISION and not path
    # past defect: the scene was used only if collisions is True
    numpy_bool = solve_path(ur5, 'tool0', Line(LEFT, RIGHT), scene=scene, collisions=np.True_)
    assert numpy_bool.status is Status.GOAL_IN_COLLISION
    assert 0.3 < path.fraction < 0.7 and path.reason == 'contact'
    assert "touches 'wall'" in path.message
    assert path.message.startswith(f'{path.fraction * 0.6:.4g} m of 0.6 m are reached; the path ')
    assert_follows(ur5, 'tool0', path)


def test_line_out_of_reach_ends_at_the_stretched_arm(ur5):
    path = solve_path(ur5, 'tool0', Line(LEFT, pose((0.45, 1.3, 0.3), DOWN)), collisions=False)
    assert path.status is Status.NO_IK_SOLUTION and path.reason == 'reach'
    assert_follows(ur5, 'tool0', path)
    assert 0.7 < path.parameters[-1] - 0.3 < 0.95


def test_message_names_the_joint_limit_and_suggests_freeing_an_axis(panda):
    turn = Screw(LEFT, LEFT[:3, 3], (0, 0, 1), 6.2)    # the last joint turns by 5.79 rad at most
    path = solve_path(panda, 'panda_hand_tcp', turn, collisions=False)
    assert path.reason == 'joint limit' and 'panda_joint7' in path.message
    assert 'rz free (weights 1 1 1 1 1 0)' in path.message
    assert_follows(panda, 'panda_hand_tcp', path)
    weights = (1, 1, 1, 1, 1, 0)
    free = solve_path(panda, 'panda_hand_tcp', turn, collisions=False, weights=weights)
    assert free.success
    assert_follows(panda, 'panda_hand_tcp', free, weights)


def test_line_through_a_wrist_singularity_breaks_there(ur5):
    middle = Configuration(ur5, [-4.4758, 3.1278, 1.0602, -0.8876, 0, 2.0569])
    ends = np.array(2 * [middle.transform('tool0')])
    ends[:, :3, 3] += np.outer((-0.1, 0.1), (-0.9363, -0.3001, 0.1822))
    seed = [-4.4758, 3.1278, 1.0602, -0.8876, -4.5645, 2.0569]
    path = solve_path(ur5, 'tool0', Line(*ends), seed, starts=1, collisions=False)
    assert path.reason == 'singularity' and 0.5 < path.fraction < 1
    assert np.linalg.cond(Configuration(ur5, path.q[-1]).jacobian('tool0')) > 100


def test_path_with_hold_start_keeps_its_start_or_fails(ur5):
    line = Line(LEFT, RIGHT)
    free = solve_path(ur5, 'tool0', line, collisions=False)
    held = solve_path(ur5, 'tool0', line, free.q[0], hold_start=True, collisions=False)
    assert held.success and np.array_equal(held.q[0], free.q[0])
    away = solve_path(ur5, 'tool0', line, hold_start=True, collisions=False)
    assert away.status is Status.INVALID_ROBOT_STATE and away.fraction == 0.0
    assert away.reason == 'start' and 'another start' in away.message
    assert len(away.q) == 0


def test_configurations_are_added_until_max_deviation_holds(ur5):
    coarse = solve_path(ur5, 'tool0', [LEFT, RIGHT], spacing=0.1, max_deviation=1e-4,
                        collisions=False)
    assert_follows(ur5, 'tool0', coarse)
    assert len(coarse.q) > 10
    judge = TreeJudge(ur5.urdf)
    for q in (coarse.q[1:] + coarse.q[:-1]) / 2:
        assert math.dist(judge.transform(ur5.to_joints(q), 'tool0')[[0, 2], 3], (0.45, 0.3)) < 1e-4


def test_constraint_holds_at_each_configuration_of_a_path(panda):
    bounds = Constraint(JointPositions(['panda_joint1']), lower=0.1, upper=0.2)
    path = solve_path(panda, 'panda_hand_tcp', Line(pose((0.45, 0, 0.3), DOWN),
                                                    pose((0.45, 0.1, 0.3), DOWN)),
                      constraints=[bounds], collisions=False)
    assert path.success, path.message
    assert_follows(panda, 'panda_hand_tcp', path)
    values = path.q[:, panda.joint('panda_joint1').index]
    assert values.min() >= 0.1 - 1e-5 and values.max() <= 0.2 + 1e-5


def test_timeout_and_cancellation_of_a_path_are_reported(ur5):
    late = solve_path(ur5, 'tool0', Line(LEFT, RIGHT), timeout=1e-3, collisions=False)
    assert late.status is Status.TIMED_OUT and late.fraction < 1
    stopped = solve_path(ur5, 'tool0', Line(LEFT, RIGHT), cancel=lambda: True, collisions=False)
    assert stopped.status is Status.PREEMPTED and stopped.reason == 'time'


@pytest.mark.parametrize(('options', 'error', 'words'), [
    ({'spacing': 0.2}, InvalidOptionError, 'spacing must be a number from 1e-06 to 0.1, not 0.2'),
    ({'max_joint_step': -1}, InvalidOptionError, 'max_joint_step'),
    ({'starts': 0}, InvalidOptionError, 'starts must be a whole number >= 1'),
    ({'hold_start': 1}, InvalidOptionError, 'hold_start must be True or False'),
    ({'cancel': 3}, InvalidOptionError, 'cancel must be an event or a callable, not 3'),
    ({'path': Line(LEFT, pose((0.45, 2e3, 0.3), DOWN))}, InvalidOptionError,
     'at most 1000 m are searched'),
    ({'spacin': 1}, InvalidOptionError, "unknown option 'spacin'; did you mean 'spacing'"),
    ({'tip': 'tool1'}, UnknownFrameError, "unknown frame 'tool1'; did you mean 'tool0'"),
    ({'path': 3}, InvalidTargetError, 'a path is a Line, Arc, Screw, .*, not 3'),
    ({'weights': (1, 1)}, InvalidTargetError, 'six numbers')])
def test_malformed_paths_are_refused(ur5, options, error, words):
    arguments = {'tip': 'tool0', 'path': Line(LEFT, RIGHT), **options}
    with pytest.raises(error, match=words):
        solve_path(ur5, **arguments)


def test_path_of_a_robot_with_a_floating_base_is_refused(load):
    with pytest.raises(InvalidOptionError, match='is floating; only joints of one value'):
        solve_path(load('panda', 'freeflyer'), 'panda_hand_tcp', Line(LEFT, RIGHT))


def test_path_of_a_robot_without_collision_elements_reports_unchecked_contacts(small):
    robot = small('two_arms')
    start = Configuration(robot, robot.neutral).transform('left_hand')
    path = solve_path(robot, 'left_hand', Line(start, start @ pose((1e-3, 0, 0))),
                      seed=robot.neutral)
    assert path.not_checked == solve_pose(robot, 'left_hand', start).not_checked
    assert 'no collision elements' in path.not_checked[0]
