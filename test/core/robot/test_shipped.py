"""The robots that come with the package."""

from pathlib import Path

import numpy as np
import pytest

from ros2_ik.core import (
    Configuration,
    Robot,
    RobotDescriptionError,
    shipped_robots,
    ShippedRobot,
    UnknownRobotError,
)

NAMES = ['baxter', 'kinova', 'panda', 'talos', 'ur5', 'xarm7']
JOINTS = {'baxter': 17, 'kinova': 6, 'panda': 8, 'talos': 32, 'ur5': 6, 'xarm7': 7}


def test_names():
    assert sorted(shipped_robots()) == NAMES
    assert all(isinstance(robot, ShippedRobot) and robot.name == name
               for name, robot in shipped_robots().items())


@pytest.mark.parametrize('name', NAMES)
def test_what_the_config_says_is_true(load, name):
    shipped, robot = shipped_robots()[name], load(name)
    assert len(robot.joint_names) - (robot.root_joint != 'fixed') == JOINTS[name]
    assert shipped.description
    assert shipped.tip in robot.frame_names
    group = robot.group(shipped.group)
    assert set(group.joint_names) & robot.moving_joints(shipped.tip)
    assert robot.root_joint == shipped.root_joint
    assert set(shipped.home) <= set(robot.joint_names)
    Configuration(robot, shipped.home).check_limits()
    for chain, (_, tip) in shipped.chains.items():
        assert robot.group(chain).tips == (tip,)


@pytest.mark.parametrize('name', NAMES)
def test_groups_and_states(load, name):
    robot = load(name)
    assert robot.groups and robot.srdf
    for group in robot.groups.values():
        assert group.joint_names and group.tips
        assert set(group.joint_names) <= set(robot.joint_names)
        assert {*group.tips, group.base} <= set(robot.frame_names)
    for states in robot.group_states.values():
        for state in states.values():
            robot.to_q(state)
    assert all(a < b and {a, b} <= set(robot.frame_names) for a, b in robot.disabled_pairs)


def test_a_robot_without_srdf_and_with_a_chain():
    shipped = ShippedRobot('mine', 'an arm', 'ur_description/urdf/ur5_robot.urdf')
    assert list(Robot.load(shipped).groups)     # a chain a leaf
    shipped = ShippedRobot('mine', 'an arm', 'ur_description/urdf/ur5_robot.urdf',
                           chains={'arm': ['base_link', 'tool0']})
    assert Robot.load(shipped).group('arm').tips == ('tool0',)
    with pytest.raises(RobotDescriptionError, match=r'nothing\.urdf'):
        Robot.load(ShippedRobot('mine', 'an arm', 'nothing.urdf'))


def test_tips_of_shipped_groups_are_ends(load):
    assert load('panda').group('arm_and_hand').tips == ('panda_leftfinger',)
    assert load('talos').group('l_arm_torso').tips == ('wrist_left_ft_tool_link',)


def test_home_is_no_singularity(load, home_of):
    """A mock robot that stands there must be able to move in every direction."""
    for name in NAMES:
        shipped, robot = shipped_robots()[name], load(name)
        J = Configuration(robot, home_of(name)).jacobian(shipped.tip)
        assert np.linalg.svd(J)[1][-1] > 0.01, name


@pytest.mark.parametrize('wrong, near', [('pandda', "'panda'"), ('UR5', 'ur5'), (None, 'xarm7')])
def test_unknown_robot(wrong, near):
    with pytest.raises(UnknownRobotError) as caught:
        Robot.load(wrong)
    assert near in str(caught.value) and '(6 robots)' in str(caught.value)


def test_root_joint_may_be_chosen(load):
    assert load('panda', 'freeflyer').nq == load('panda').nq + 7
    assert load('talos', 'planar').joint_names[0] == load('talos', 'freeflyer').joint_names[0]
    with pytest.raises(RobotDescriptionError, match='freeflyer'):
        Robot.load('panda', 'floating')


@pytest.mark.parametrize(('text', 'words'), [
    ('', "'description' and 'urdf'"), ('urdf: a.urdf', "missing 1 required .* 'description'"),
    ('{description: d, urdf: u, grop: arm}', "unknown field 'grop'; did you mean 'group'"),
    ('urdf: [', 'expected the node content')])
def test_a_mistake_in_a_file_is_told_with_its_name(tmp_path, text, words):
    """It was a traceback of each command, which did not name the file."""
    file = tmp_path / 'my_arm.yaml'
    file.write_text(text)
    with pytest.raises(RobotDescriptionError, match=f'my_arm.yaml: .*{words}'):
        ShippedRobot.read(file)


def test_a_wrong_file_concerns_its_robot_alone(tmp_path, caplog, monkeypatch):
    (tmp_path / 'arm.yaml').write_text('{description: d, urdf: u}')
    (tmp_path / 'bad.yaml').write_text('urdf: [')
    monkeypatch.setattr('ros2_ik.core.robot.shipped.config_folder', lambda: tmp_path)
    assert list(shipped_robots.__wrapped__()) == ['arm']
    assert 'bad.yaml: ' in caplog.text and 'at line 1' in caplog.text


@pytest.mark.parametrize(('values', 'words'), [
    ({'group': 'amr'}, "unknown group 'amr'; did you mean"), ({'tip': 'tol0'}, "frame 'tol0'"),
    ({'group': 'arm', 'chains': {'arm': ['base_link', 'tol0']}}, "frame 'tol0'"),
    ({'home': {'elbow_joint': 90}}, "joint 'elbow_joint'"),
    ({'home': [1]}, 'q takes 6 values, 1 given; in this order: shoulder_pan_joint, ')])
def test_what_does_not_fit_the_robot_is_told(values, words):
    values = {'chains': {'arm': ['base_link', 'tool0']}} | values
    shipped = ShippedRobot('mine', 'an arm', 'ur_description/urdf/ur5_robot.urdf', **values)
    with pytest.raises(RobotDescriptionError, match='config/mine.yaml: ') as caught:
        Robot.load(shipped)
    assert words in str(caught.value)


def test_what_is_empty_or_rounded_is_taken(tmp_path):
    file = tmp_path / 'mine.yaml'
    file.write_text("{description: d, urdf: ur_description/urdf/ur5_robot.urdf, srdf: '', "
                    "tip: '', group: , home: {elbow_joint: 3.1416}}")
    assert Robot.load(ShippedRobot.read(file)).groups


def test_missing_files_say_what_to_install(monkeypatch):
    monkeypatch.setattr('sys.path', [])
    monkeypatch.setattr('sys.prefix', '/nowhere')
    monkeypatch.setattr(Path, 'is_dir', lambda self: 'robots' not in str(self))
    for variable in ('AMENT_PREFIX_PATH', 'CMAKE_PREFIX_PATH'):
        monkeypatch.setenv(variable, '/nowhere/ros')
    with pytest.raises(RobotDescriptionError, match='pip install example-robot-data'):
        Robot.load('panda')
