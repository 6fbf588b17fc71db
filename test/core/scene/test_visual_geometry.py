"""What is drawn of a robot: parts, places and colours."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from ros2_ik.core import Box, Mesh, Robot, visual_geometry

LINKS = """<robot name="two"><material name="blue"><color rgba="0 0 1 1"/></material>
  <link name="base">
    <visual><origin xyz="0 0 1"/><geometry><box size="1 2 3"/></geometry>
      <material name="blue"/></visual>
    <collision><geometry><sphere radius="0.5"/></geometry></collision>
  </link>
  <link name="arm">
    <visual><geometry><mesh filename="gone.stl"/></geometry></visual>
    <collision><geometry><box size="0.1 0.2 0.3"/></geometry></collision>
  </link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="arm"/>
    <limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>"""


def test_shape_place_and_named_colour() -> None:
    body = visual_geometry(Robot.from_urdf(LINKS)).bodies[0]
    assert isinstance(body.shape, Box) and body.shape.size.tolist() == [1, 2, 3]
    assert body.in_link.translation.tolist() == [0, 0, 1]
    assert body.color == (0, 0, 1)


def test_missing_mesh_is_told_and_collision_element_drawn() -> None:
    seen = visual_geometry(Robot.from_urdf(LINKS))
    assert [(body.link, body.shape.kind) for body in seen.bodies] == [('base', 'box'),
                                                                      ('arm', 'box')]
    assert "mesh 'gone.stl' cannot be used: it cannot be found" in seen.warnings[0]
    assert seen.warnings[-1] == 'drawn by their collision elements: arm'


def test_robot_without_visual_elements() -> None:
    urdf = """<robot name="bare"><link name="base">
        <collision><geometry><sphere radius="0.5"/></geometry></collision></link></robot>"""
    seen = visual_geometry(Robot.from_urdf(urdf))
    assert [body.shape.kind for body in seen.bodies] == ['sphere']
    assert seen.warnings == ("robot 'bare' has no visual elements",
                             'drawn by their collision elements: base')


def test_parts_of_a_file_have_its_colours() -> None:
    colors = {body.color for body in visual_geometry(Robot.load('panda')).bodies}
    assert len(colors) > 3 and all(color is not None for color in colors)


INCHES = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema">
  <asset><unit meter="0.0254"/></asset>
  <library_geometries><geometry id="g"><mesh><source id="s">
  <float_array id="f" count="9">0 0 0 10 0 0 0 20 0</float_array><technique_common>
  <accessor source="#f" count="3" stride="3"><param name="X"/><param name="Y"/><param name="Z"/>
  </accessor></technique_common></source>
  <vertices id="v"><input semantic="POSITION" source="#s"/></vertices>
  <triangles count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles>
  </mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene id="a"><node><instance_geometry url="#g"/></node>
  </visual_scene></library_visual_scenes><scene><instance_visual_scene url="#a"/></scene>
  </COLLADA>"""


def test_unit_of_a_file_scales_what_is_seen(tmp_path: Path) -> None:
    """As in RViz; what collides is left as it is, as MoveIt does."""
    (tmp_path / 'inches.dae').write_text(INCHES)
    mesh = '<geometry><mesh filename="inches.dae" scale="1 2 1"/></geometry>'
    seen = visual_geometry(Robot.from_urdf(
        f'<robot name="one"><link name="base"><visual>{mesh}</visual></link></robot>',
        [tmp_path]))
    body, = seen.bodies
    assert isinstance(body.shape, Mesh)
    assert np.ptp(body.shape.vertices, axis=0) == pytest.approx([0.254, 1.016, 0])
    assert seen.warnings == ()


@pytest.mark.parametrize('name', ['talos', 'xarm7'])
def test_surfaces_are_where_pinocchio_has_them(name: str) -> None:
    trimesh = pytest.importorskip('trimesh')
    robot = Robot.load(name)
    model = pin.buildGeomFromUrdfString(robot.model, robot.urdf, pin.VISUAL,
                                        package_dirs=list(robot.package_dirs))
    seen = visual_geometry(robot)
    drawn: dict[int, list[np.ndarray]] = {}
    for body in seen.bodies:
        if isinstance(body.shape, Mesh):
            points = body.shape.vertices[body.shape.triangles].reshape(-1, 3)
            frame = robot.model.frames[robot.frame_id(body.link)]
            place = frame.placement * body.in_link
            drawn.setdefault(frame.parentJoint, []).append(
                points @ place.rotation.T + place.translation)
    for item in model.geometryObjects:
        if Path(item.meshPath).suffix.lower() != '.stl':     # boxes
            continue
        mesh = trimesh.load(item.meshPath, force='mesh')
        points = np.asarray(mesh.vertices) * np.ravel(item.meshScale)
        points = points @ item.placement.rotation.T + item.placement.translation
        ours = np.vstack(drawn[item.parentJoint])
        assert (ours.min(axis=0) <= points.min(axis=0) + 1e-6).all()
        assert (ours.max(axis=0) >= points.max(axis=0) - 1e-6).all()
    assert seen.bodies
