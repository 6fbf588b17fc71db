"""Robots of the package, of example-robot-data, and of xacro files."""

from pathlib import Path

from example_data import data_folder
from judge import TreeJudge
import numpy as np
import pytest

from ros2_ik.core import Configuration, Robot, shipped_robots, ShippedRobot
from ros2_ik.core.errors import RobotDescriptionError, UnknownNameError
from ros2_ik.core.internals import urdf_for_others
from ros2_ik.core.robot.packages import find_mesh

NAMES = ['baxter', 'kinova', 'panda', 'talos', 'ur5', 'xarm7']
JOINTS = {'baxter': 17, 'kinova': 6, 'panda': 8, 'talos': 32, 'ur5': 6, 'xarm7': 7}


@pytest.mark.parametrize('name', NAMES)
def test_shipped_robots_agree_with_their_config_files(load, name):
    shipped, robot = shipped_robots()[name], load(name)
    assert len(robot.joint_names) - (robot.root_joint != 'fixed') == JOINTS[name]
    assert shipped.description
    assert shipped.tip in robot.frame_names
    group = robot.group(shipped.group)
    assert set(group.joint_names) & robot.moving_joints(shipped.tip)
    assert robot.root_joint == shipped.root_joint
    assert set(shipped.home) <= set(robot.joint_names)
    robot.check_limits(robot.to_q(shipped.home))
    for chain, (_, tip) in shipped.chains.items():
        assert robot.group(chain).tips == (tip,)


def test_shipped_robot_without_srdf_has_the_group_of_its_chain():
    shipped = ShippedRobot('mine', 'an arm', 'ur_description/urdf/ur5_robot.urdf')
    assert list(Robot.load(shipped).groups)     # one chain per leaf
    shipped = ShippedRobot('mine', 'an arm', 'ur_description/urdf/ur5_robot.urdf',
                           chains={'arm': ['base_link', 'tool0']})
    assert Robot.load(shipped).group('arm').tips == ('tool0',)


@pytest.mark.parametrize('name, similar', [('pandda', "'panda'"), ('UR5', 'ur5'), (None, 'xarm7')])
def test_unknown_robot_is_refused_with_similar_names(name, similar):
    with pytest.raises(UnknownNameError) as caught:
        Robot.load(name)
    assert similar in str(caught.value) and '(6 robots)' in str(caught.value)


@pytest.mark.parametrize(('content', 'message'), [
    ('', 'missing fields: description, urdf'), ('urdf: a.urdf', 'missing fields: description'),
    ('{description: d, urdf: u, grop: arm}', "did you mean 'group'"),
    ('urdf: [', 'expected the node content')])
def test_malformed_config_file_is_refused_with_its_name(tmp_path, content, message):
    file = tmp_path / 'my_arm.yaml'
    file.write_text(content)
    with pytest.raises(RobotDescriptionError, match=f'my_arm.yaml: .*{message}'):
        ShippedRobot.read(file)


def test_malformed_config_file_does_not_affect_other_robots(tmp_path, caplog, monkeypatch):
    (tmp_path / 'arm.yaml').write_text('{description: d, urdf: u}')
    (tmp_path / 'bad.yaml').write_text('urdf: [')
    monkeypatch.setattr('ros2_ik.core.robot.shipped.config_folder', lambda: tmp_path)
    assert list(shipped_robots.__wrapped__()) == ['arm']
    assert 'bad.yaml: ' in caplog.text and 'at line 1' in caplog.text


@pytest.mark.parametrize(('values', 'message'), [
    ({'group': 'amr'}, "unknown group 'amr'; did you mean"), ({'tip': 'tol0'}, "frame 'tol0'"),
    ({'urdf': 'my/arm.urdf'}, "urdf is 'my/arm.urdf', which is not a file; valid: an absolute"),
    ({'srdf': 'my/arm.srdf'}, "srdf is 'my/arm.srdf'"),
    ({'group': 'arm', 'chains': {'arm': ['base_link', 'tol0']}}, "frame 'tol0'"),
    ({'home': {'elbow_joint': 90}}, "joint 'elbow_joint'"),
    ({'home': [1]}, 'q must be 6 finite numbers below 1e+150 of shoulder_pan_joint, ')])
def test_config_with_unknown_group_frame_or_file_is_refused(values, message):
    values = {'urdf': 'ur_description/urdf/ur5_robot.urdf',
              'chains': {'arm': ['base_link', 'tool0']}} | values
    shipped = ShippedRobot('mine', 'an arm', **values)
    with pytest.raises(RobotDescriptionError, match='config/mine.yaml: ') as caught:
        Robot.load(shipped)
    assert message in str(caught.value)


def test_missing_description_names_the_package_to_install(monkeypatch):
    monkeypatch.setattr('sys.path', [])
    monkeypatch.setattr('sys.prefix', '/nowhere')
    monkeypatch.setattr(Path, 'is_dir', lambda self: 'robots' not in str(self))
    monkeypatch.setenv('AMENT_PREFIX_PATH', '/nowhere/ros')
    with pytest.raises(RobotDescriptionError, match='pip install example-robot-data'):
        Robot.load('panda')


FILES = sorted(data_folder().rglob('*.urdf'))
REFUSED_FILES = {     # without links; with mimic joints whose leader is missing
    'ur3.urdf': 'no links', 'alex_psyonic_hands.urdf': "'index_q1'"}


@pytest.mark.parametrize('file', FILES, ids=lambda file: file.name)
def test_each_example_robot_agrees_with_matrix_products_or_is_refused(file):
    if file.name in REFUSED_FILES:
        with pytest.raises(RobotDescriptionError, match=REFUSED_FILES[file.name]):
            Robot.from_urdf(file)
        return
    robot = Robot.from_urdf(file)
    judge, generator = TreeJudge(robot.urdf), np.random.default_rng(0)
    for _ in range(2):
        q = robot.random_q(generator)
        assert (robot.lower <= q).all() and (q <= robot.upper).all()
        at = Configuration(robot, q)
        assert judge.outside(at.joints) == []
        for link in judge.links:
            np.testing.assert_allclose(at.transform(link), judge.transform(at.joints, link),
                                       atol=1e-12)
    assert set(robot.frame_names) >= set(judge.links)
    for group in robot.groups.values():
        assert set(group.joint_names) <= set(robot.joint_names) and group.tips


def test_more_than_50_example_robots_are_installed():
    assert len(FILES) > 50


XACRO = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:include filename="$(find my_arm)/urdf/parts.xacro"/><xacro:arg name="reach" default="0.3"/>
<link name="base"/><xacro:turn child="tip" z="$(arg reach)"/></robot>"""
PARTS = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:macro name="turn"
params="child z"><link name="${child}"><collision><geometry>
<mesh filename="package://my_arm/meshes/part.stl"/></geometry></collision></link>
<joint name="j" type="revolute"><parent link="base"/><child link="${child}"/>
<origin xyz="0 0 ${z}"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/>
</joint></xacro:macro></robot>"""


@pytest.fixture
def package(tmp_path):
    """Return a package whose folder is named differently from its package.xml."""
    folder = tmp_path / 'checkout'
    for name, content in (('package.xml', '<package><name>my_arm</name></package>'),
                          ('urdf/arm.urdf.xacro', XACRO), ('urdf/parts.xacro', PARTS),
                          ('meshes/part.stl', '')):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder


def test_xacro_file_is_expanded_with_arguments_and_neighbouring_packages(package):
    robot = Robot.from_urdf(package / 'urdf/arm.urdf.xacro', xacro_args={'reach': '0.7'})
    assert robot.joint_names == ('j',) and 'xyz="0 0 0.7"' in robot.urdf
    assert Robot.from_urdf(package / 'urdf/arm.urdf.xacro').urdf.count('0 0 0.3') == 1
    mesh = find_mesh('package://my_arm/meshes/part.stl', robot.package_dirs)
    assert mesh == package / 'meshes/part.stl'


def test_xacro_error_names_the_file_and_the_package(package):
    file = package / 'urdf/arm.urdf.xacro'
    file.write_text(XACRO.replace('$(find my_arm)', '$(find nowhere)'))
    with pytest.raises(RobotDescriptionError, match="arm.urdf.xacro: package 'nowhere' cannot"):
        Robot.from_urdf(file)


def test_mesh_in_a_package_next_to_that_of_the_urdf_is_found(package):
    beside = package.parent / 'other_meshes'
    beside.mkdir()
    (beside / 'a.stl').touch()
    assert find_mesh('package://other_meshes/a.stl', (str(package / 'urdf'),)) == beside / 'a.stl'


def test_published_description_has_absolute_paths_of_files_in_package_dirs(package):
    robot = Robot.from_urdf(package / 'urdf/arm.urdf.xacro')
    content = urdf_for_others(robot.urdf, robot.package_dirs)
    assert f'filename="file://{package}/meshes/part.stl"' in content
    panda = Robot.load('panda')
    assert urdf_for_others(panda.urdf, panda.package_dirs) == panda.urdf
