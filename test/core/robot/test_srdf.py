"""Groups, states, disabled pairs, passive and virtual joints of SRDF files."""

import numpy as np
import pytest
from small_robots import joint, TWO_ARMS, urdf

from ros2_ik.core import Configuration, IKProblem, PoseTarget, Robot
from ros2_ik.core.errors import RobotDescriptionError

LEFT = tuple(f'left_{i}' for i in range(1, 7))
RIGHT = tuple(f'right_{i}' for i in range(1, 7))


def two_arms(body, root_joint='fixed'):
    """Return the two-armed robot with elements in its SRDF."""
    return Robot.from_urdf(TWO_ARMS, srdf=f'<robot name="small">{body}</robot>',
                           root_joint=root_joint)


def group(name, *members):
    """Return a <group>; members are (tag, name) or ("chain", base, tip)."""
    return f'<group name="{name}">' + ''.join(
        f'<chain base_link="{m[1]}" tip_link="{m[2]}"/>' if m[0] == 'chain'
        else f'<{m[0]} name="{m[1]}"/>' for m in members) + '</group>'


def test_chain_between_two_hands_has_the_joints_of_both_arms():
    """The torso joint is not on the chain."""
    arms = two_arms(group('arms', ('chain', 'right_hand', 'left_hand'))).group('arms')
    assert arms.joint_names == LEFT + RIGHT
    assert arms.tips == ('left_hand',)


def test_tips_of_a_group_are_its_last_links():
    """Not the tips of inner subgroups, nor links above other members."""
    robot = two_arms(group('trunk', ('chain', 'base', 'chest'))
                     + group('left', ('chain', 'chest', 'left_hand'))
                     + group('all', ('group', 'trunk'), ('group', 'left'))
                     + group('split', ('joint', 'left_4'), ('link', 'left_a')))
    assert robot.group('trunk').tips == ('chest',)
    assert robot.group('all').tips == ('left_hand',)
    assert robot.group('split').tips == ('left_d',)
    assert robot.group('split').joint_names == ('left_1', 'left_4')    # in the robot's order


@pytest.mark.parametrize('body', [
    group('a', ('group', 'a'), ('joint', 'torso')),
    group('a', ('group', 'b')) + group('b', ('group', 'c'))
    + group('c', ('group', 'a'), ('joint', 'torso')),
])
def test_cyclic_subgroups_are_ignored(body):
    robot = two_arms(body)
    assert robot.group('a').joint_names == ('torso',)


@pytest.mark.parametrize('member, name', [
    (('joint', 'ghost'), 'ghost'), (('link', 'ghost'), 'ghost'), (('group', 'ghost'), 'ghost'),
    (('chain', 'ghost', 'left_hand'), 'ghost'), (('chain', 'chest', 'ghost'), 'ghost')])
def test_unknown_group_members_are_ignored_with_a_warning(member, name):
    robot = two_arms(group('g', member, ('joint', 'torso')))
    assert robot.group('g').joint_names == ('torso',)
    assert any(f"'{name}'" in warning for warning in robot.warnings)


def test_robot_without_srdf_has_a_chain_group_per_leaf():
    robot = Robot.from_urdf(TWO_ARMS)
    assert {name: g.joint_names for name, g in robot.groups.items()} == {
        'left_hand': ('torso', *LEFT), 'right_hand': ('torso', *RIGHT)}
    assert robot.group('left_hand').tips == ('left_hand',)


def test_unknown_joints_of_group_states_are_ignored_with_a_warning():
    robot = two_arms(
        group('arm', ('chain', 'chest', 'left_hand'))
        + '<group_state name="up" group="arm"><joint name="left_1" value="0.5"/>'
          '<joint name="ghost" value="1"/></group_state>'
        + '<group_state name="lost" group="ghosts"><joint name="left_1" value="1"/></group_state>')
    assert robot.group_states == {'arm': {'up': {'left_1': 0.5}}}
    assert all(any(word in warning for warning in robot.warnings)
               for word in ("'ghost'", "'ghosts'"))


@pytest.mark.parametrize('value', ['high', 'nan', '0.5 inf'])
def test_group_state_without_finite_numbers_is_refused(value):
    with pytest.raises(RobotDescriptionError,
                       match=f"'up', joint 'left_1': '{value}' is not a list of finite numbers"):
        two_arms(group('arm', ('chain', 'chest', 'left_hand'))
                 + '<group_state name="up" group="arm"><joint name="left_1" '
                   f'value="{value}"/></group_state>')


def test_urdf_as_srdf_is_refused():
    with pytest.raises(RobotDescriptionError, match='SRDF has <link> elements, as a URDF'):
        Robot.from_urdf(TWO_ARMS, srdf=TWO_ARMS)


def test_warnings_name_the_srdf_file_and_a_different_robot_name(tmp_path):
    file = tmp_path / 'arms.srdf'
    file.write_text('<robot name="other"><passive_joint name="ghost"/></robot>')
    robot = Robot.from_urdf(TWO_ARMS, srdf=file)
    assert robot.warnings == (
        f"SRDF {file}: it describes robot 'other', the URDF '{robot.name}'",
        f"SRDF {file}: passive joint 'ghost' is not part of the robot and is left out")


def test_group_state_of_a_floating_base_has_its_pose():
    robot = two_arms(
        '<virtual_joint name="base_joint" type="floating" parent_frame="odom" child_link="base"/>'
        + group('all', ('joint', 'base_joint'), ('joint', 'torso'))
        + '<group_state name="home" group="all"><joint name="base_joint" '
          'value="1 2 3 0 0 0 1"/><joint name="torso" value="0.1"/></group_state>', 'freeflyer')
    state = robot.group_states['all']['home']
    assert list(state['base_joint']) == [1, 2, 3, 0, 0, 0, 1]
    assert list(robot.to_q(state)[:8]) == [1, 2, 3, 0, 0, 0, 1, 0.1]
    assert robot.group('all').joint_names == ('base_joint', 'torso')


def test_default_disabled_links_can_be_enabled_by_pair():
    robot = two_arms('<disable_default_collisions link="base"/>'
                     '<enable_collisions link1="left_hand" link2="base"/>')
    others = set(robot.frame_names[:14]) - {'base', 'left_hand'}
    assert robot.disabled_pairs == {tuple(sorted(('base', other))) for other in others}


def test_passive_joints_are_excluded_from_groups_and_problems():
    robot = two_arms(group('arm', ('chain', 'chest', 'left_hand'))
                     + '<passive_joint name="left_3"/><passive_joint name="ghost"/>')
    assert robot.passive_joints == {'left_3'}
    assert 'left_3' not in robot.group('arm').joint_names
    assert 'left_3' in robot.joint_names
    target = PoseTarget('left_hand', [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    for name in ('arm', None):
        assert 'left_3' not in IKProblem(robot, [target], name).joint_names


VIRTUAL = ('<virtual_joint name="world_joint" type="floating" parent_frame="odom" '
           'child_link="base"/>')


def test_virtual_joint_names_the_base_joint_and_the_root_frame():
    robot = two_arms(VIRTUAL, 'freeflyer')
    assert robot.joint_names[0] == 'world_joint'
    assert robot.root_frame == 'odom'
    assert robot.joints[0].kind == 'floating'
    robot = two_arms(VIRTUAL, 'planar')
    assert (robot.joint_names[0], robot.joints[0].kind) == ('world_joint', 'planar')
    assert two_arms(VIRTUAL).joint_names == Robot.from_urdf(TWO_ARMS).joint_names


def test_base_joint_with_a_used_name_is_renamed():
    text = urdf(joint('root_joint', 'revolute', 'base', 'arm', axis=(0, 0, 1)))
    robot = Robot.from_urdf(text, root_joint='planar')
    assert robot.joint_names == ('root_joint_of_base', 'root_joint')


def test_parent_frame_of_a_fixed_virtual_joint_is_a_frame_at_the_root(load):
    """MoveIt's configuration of the Panda has such a joint, with frame `world`."""
    virtual = ('<virtual_joint name="fix" type="{}" parent_frame="world" '
               'child_link="panda_link0"/>')
    urdf = load('panda').urdf
    robot = Robot.from_urdf(urdf, srdf=f'<robot name="panda">{virtual.format("fixed")}</robot>')
    at = Configuration(robot, robot.random_q(np.random.default_rng(1)))
    np.testing.assert_array_equal(at.transform('world'), np.eye(4))
    np.testing.assert_array_equal(at.transform('panda_hand', 'world'), at.transform('panda_hand'))
    other = Robot.from_urdf(urdf, srdf=f'<robot name="panda">{virtual.format("planar")}</robot>')
    assert 'world' not in other.frame_names


@pytest.mark.parametrize('hand', ['<link name="panda_leftfinger"/>',
                                  '<joint name="panda_finger_joint1"/>'])
def test_tip_of_a_group_of_chain_and_hand_is_that_of_the_chain(load, hand):
    robot = Robot.from_urdf(load('panda').urdf, srdf=f"""<robot name="panda">
        <group name="arm"><chain base_link="panda_link0" tip_link="panda_link8"/></group>
        <group name="hand">{hand}</group>
        <group name="both"><group name="arm"/><group name="hand"/></group></robot>""")
    assert robot.group('both').tips == ('panda_link8',)


def test_parent_link_of_an_end_effector_is_the_tip_of_a_group_of_joints(load):
    joints = ''.join(f'<joint name="panda_joint{k}"/>' for k in range(1, 8))
    robot = Robot.from_urdf(load('panda').urdf, srdf=f"""<robot name="panda">
        <group name="arm">{joints}</group><group name="hand"><link name="panda_hand"/></group>
        <end_effector name="hand" parent_link="panda_link8" group="hand" parent_group="arm"/>
        </robot>""")
    assert robot.group('arm').tips == ('panda_link8',)
