"""Robots of one's own: xacro files, packages by their declared name, other formats."""

import pytest

from ros2_ik.core import Robot, RobotDescriptionError, urdf_for_others
from ros2_ik.core.meshes.mesh_paths import find_mesh

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
    """Give a package whose folder has another name than its package.xml says."""
    folder = tmp_path / 'checkout'
    for name, text in (('package.xml', '<package><name>my_arm</name></package>'),
                       ('urdf/arm.urdf.xacro', XACRO), ('urdf/parts.xacro', PARTS),
                       ('meshes/part.stl', '')):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_xacro_file_is_expanded_with_arguments_and_packages_around_it(package):
    robot = Robot.from_urdf(package / 'urdf/arm.urdf.xacro', xacro_args={'reach': '0.7'})
    assert robot.joint_names == ('j',) and 'xyz="0 0 0.7"' in robot.urdf
    assert Robot.from_urdf(package / 'urdf/arm.urdf.xacro').urdf.count('0 0 0.3') == 1
    mesh = find_mesh('package://my_arm/meshes/part.stl', robot.package_dirs)
    assert mesh == package / 'meshes/part.stl'


def test_xacro_error_names_the_file_and_the_package(package):
    file = package / 'urdf/arm.urdf.xacro'
    file.write_text(XACRO.replace('$(find my_arm)', '$(find nowhere)'))
    with pytest.raises(RobotDescriptionError, match="arm.urdf.xacro: package 'nowhere' is not"):
        Robot.from_urdf(file)


def test_a_binary_file_is_refused_as_no_text(tmp_path):
    (tmp_path / 'arm.stl').write_bytes(bytes(range(128, 256)))
    with pytest.raises(RobotDescriptionError, match='arm.stl is no text; valid: URDF or xacro'):
        Robot.from_urdf(tmp_path / 'arm.stl')


def test_package_beside_that_of_the_urdf_is_found(package):
    beside = package.parent / 'other_meshes'
    beside.mkdir()
    (beside / 'a.stl').touch()
    assert find_mesh('package://other_meshes/a.stl', (str(package / 'urdf'),)) == beside / 'a.stl'


def test_published_description_names_files_that_only_package_dirs_lead_to(package):
    robot = Robot.from_urdf(package / 'urdf/arm.urdf.xacro')
    assert f'filename="file://{package}/meshes/part.stl"' in urdf_for_others(robot)
    panda = Robot.load('panda')
    assert urdf_for_others(panda) == panda.urdf


@pytest.mark.parametrize(('text', 'words'), [
    ('<sdf version="1.7"><model name="x"/></sdf>', 'sdf'),
    ('<mujoco model="x"/>', 'mujoco')])
def test_other_formats_are_named(text, words):
    with pytest.raises(RobotDescriptionError, match=f'<{words}>, not <robot>'):
        Robot.from_urdf(text)
