"""Objects, subframes and tools as frames of the robot, judged by Pinocchio."""

import pickle

import numpy as np
import pinocchio as pin
import pytest

from ros2_ik.core import (
    Box,
    collision_checker,
    Configuration,
    Constraint,
    FramePosition,
    GazeAngle,
    PoseTarget,
    Scene,
    SceneObject,
    solve_pose,
    Status,
)
from ros2_ik.core.errors import InvalidOptionError, InvalidSceneError, UnknownFrameError
from ros2_ik.core.internals import IKRequest, prepare, World
from ros2_ik.core.solvers.serialization import pack, unpack

HAND = 'panda_hand'
DOWN = pin.rpy.rpyToMatrix(np.pi, 0, 0)
T_HAND_PEG = pin.SE3(pin.rpy.rpyToMatrix(0.1, 0.2, 0.3), np.array([0.01, 0.0, 0.13]))
T_PEG_TIP = pin.SE3(np.eye(3), np.array([0, 0, 0.04]))
T_BIN = pin.SE3(pin.rpy.rpyToMatrix(0, 0, 0.5), np.array([0.5, 0.2, 0.1]))
T_BIN_GRASP = pin.SE3(DOWN, np.array([0, 0, 0.2]))
T_TIP_TOOL = pin.SE3(pin.rpy.rpyToMatrix(0, 0.4, 0), np.array([0.02, 0, 0.03]))


@pytest.fixture(scope='module')
def scene(panda):
    empty = Scene(panda).add(SceneObject('bin', [Box((0.1, 0.1, 0.1))], T_BIN,
                                         {'grasp': T_BIN_GRASP}))
    peg = SceneObject('peg', [Box((0.02, 0.02, 0.08))], T_HAND_PEG, {'tip': T_PEG_TIP})
    return empty.attach(peg, HAND, ['panda_leftfinger', 'panda_rightfinger'])


@pytest.fixture(scope='module')
def hand_pose(panda):
    """Return the pose of the hand at joint values by Pinocchio's model of the URDF."""
    model = pin.buildModelFromXML(panda.urdf)
    data = model.createData()

    def placement(q):
        pin.framesForwardKinematics(model, data, np.array([
            panda.to_joints(q, include_mimic=True)[name] for name in model.names[1:]]))
        return data.oMf[model.getFrameId(HAND)].copy()
    return placement


def pose_difference(first, second):
    return np.abs(pin.log6(first.actInv(second)).vector).max()


def test_frames_of_objects_move_with_their_link(panda, scene, hand_pose):
    q = panda.random_q(np.random.default_rng(1))
    robot = scene.framed_robot().with_frames({'tool': ('peg/tip', T_TIP_TOOL)})
    at = Configuration(robot, q)
    peg = hand_pose(q) * T_HAND_PEG
    for frame, expected in {'peg': peg, 'peg/tip': peg * T_PEG_TIP, 'bin': T_BIN,
                            'bin/grasp': T_BIN * T_BIN_GRASP,
                            'tool': peg * T_PEG_TIP * T_TIP_TOOL}.items():
        assert pose_difference(at.placement(frame), expected) < 1e-9, frame
    assert robot.moving_joints('peg/tip') == panda.moving_joints(HAND)
    assert not robot.moving_joints('bin/grasp')
    assert robot.without_added_frames is panda and robot.key == panda.key
    assert collision_checker(robot, scene) is collision_checker(panda, scene)
    copy = pickle.loads(pickle.dumps(robot))
    assert pose_difference(Configuration(copy, q).placement('tool'), at.placement('tool')) < 1e-12


def test_subframe_of_an_attached_object_reaches_a_subframe(panda, scene, hand_pose):
    T = pin.SE3(np.eye(3), np.array([0.03, 0.0, 0.0]))
    solution = solve_pose(panda, 'peg/tip', T, relative_to='bin/grasp', scene=scene,
                          random_state=0)
    assert solution.success, solution.explain()
    tip = hand_pose(solution.q) * T_HAND_PEG * T_PEG_TIP
    assert pose_difference(tip, T_BIN * T_BIN_GRASP * T) < 1e-4


def test_robot_with_frames_of_an_earlier_scene_is_refused(panda, scene):
    robot, moved = scene.framed_robot(), scene.move('bin', T_BIN * T_BIN_GRASP)
    with pytest.raises(InvalidSceneError, match='of the robot differs from that of the scene'):
        solve_pose(robot, HAND, T_BIN, relative_to='bin', scene=moved)


def test_targets_constraints_and_tools_accept_frames_of_objects(panda, scene, hand_pose):
    """Also in a pickled copy of the search, as workers receive it."""
    expected = pin.SE3(DOWN, np.array([0.45, -0.1, 0.4]))
    request = IKRequest(
        [PoseTarget('tool', expected, weights=[1, 1, 1, 0, 0, 0])],
        constraints=[
            Constraint(GazeAngle('peg/tip', [0, 0, 0], [0, 0, 1], [0, 0, 0], 'bin'), upper=0.3),
            Constraint(FramePosition('bin', [0, 0, 0], 'peg'), -2.0, 2.0)],
        frames={'tool': ('peg/tip', T_TIP_TOOL)})
    world = World(panda, None, collision_checker(panda, scene))
    search = prepare(request, world)
    for each in (search, unpack(pack(search, panda), panda)):
        each.run()
        solution = each.solution()
        assert solution.success, solution.explain()
        tip = hand_pose(solution.q) * T_HAND_PEG * T_PEG_TIP
        tool = tip * T_TIP_TOOL
        assert np.abs(tool.translation - expected.translation).max() < 2e-5
        ray = T_BIN.translation - tip.translation
        cosine = tip.rotation[:, 2] @ ray / np.linalg.norm(ray)
        assert np.arccos(cosine) < 0.3 + 1e-5


def test_attached_object_in_collision_at_each_solution_is_reported(panda, scene):
    """The target puts the peg into the middle of the bin."""
    solution = solve_pose(panda, 'peg', pin.SE3(DOWN, np.zeros(3)), relative_to='bin', scene=scene)
    assert solution.status is Status.GOAL_IN_COLLISION
    assert {'peg', 'bin'} in [{contact.first, contact.second} for contact in solution.contacts]


def test_unknown_frames_and_malformed_poses_are_refused(load, panda, scene):
    with pytest.raises(UnknownFrameError, match="'peg/tp'; did you mean 'peg/tip'"):
        solve_pose(panda, 'peg/tp', T_BIN, scene=scene)
    with pytest.raises(UnknownFrameError, match='panda_hnd'):
        panda.with_frames({'tool': ('panda_hnd', T_BIN)})
    for name in (HAND, 3):
        with pytest.raises(InvalidOptionError, match=f'{name!r} cannot name a frame'):
            panda.with_frames({name: (HAND, T_BIN)})
    with pytest.raises(InvalidSceneError, match="to robot 'panda', not to the given robot 'ur5'"):
        scene.framed_robot(['bin'], load('ur5'))
    for at in (([HAND], T_BIN), (HAND, np.eye(4)), (HAND, pin.SE3(2 * np.eye(3), np.zeros(3))),
               (HAND, pin.SE3(np.eye(3), np.full(3, np.nan)))):
        with pytest.raises(InvalidOptionError, match="frame 'tool' takes a pair of a frame"):
            panda.with_frames({'tool': at})
