"""Collision geometry of robots, judged by Pinocchio's URDF reader."""

import os
import pickle
import re

from example_data import data_folder
from judge import pose
import numpy as np
import pinocchio as pin
import pytest
from scenes import shaped_robot
from scipy.spatial import cKDTree
import trimesh

from ros2_ik.core.collision import collision_checker, CollisionChecker, self_collision_check
from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.internals import visual_geometry
from ros2_ik.core.robot import Configuration, Robot, shipped_robots
from ros2_ik.core.scene import Box, Capsule, Cylinder, Mesh, Scene, SceneObject, Sphere
from ros2_ik.core.scene.robot_geometry import robot_geometry
from ros2_ik.core.solvers.serialization import pack, unpack

ROBOTS = ('panda', 'ur5', 'xarm7', 'kinova', 'baxter', 'talos')


@pytest.fixture(scope='module', autouse=True)
def empty_cache(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    patch.setenv('XDG_CACHE_HOME', str(tmp_path_factory.mktemp('cache')))
    yield
    patch.undo()


def robot_with(collision, other='', package_dirs=()):
    """Return a robot of two links; the first has a collision element."""
    return Robot.from_urdf(
        f'<robot name="r"><link name="base">{collision}</link><link name="tip">{other}</link>'
        '<joint name="j" type="continuous"><parent link="base"/><child link="tip"/>'
        '<origin xyz="0 0 1"/></joint></robot>', package_dirs)


def collision(shape, origin='', name=''):
    return f'<collision{name}>{origin}<geometry>{shape}</geometry></collision>'


@pytest.fixture
def packages(tmp_path):
    """Return a folder with package "parts": meshes/ring.stl and a malformed mesh."""
    folder = tmp_path / 'parts' / 'meshes'
    folder.mkdir(parents=True)
    trimesh.creation.torus(0.3, 0.1).export(folder / 'ring.stl')
    (folder / 'broken.stl').write_text('solid nothing')
    return tmp_path


def distance_outside(hull, points):
    """Return the distance [m] of points (n, 3) outside a hull."""
    normals, offsets = hull.half_spaces
    return (points @ normals.T - offsets).max(axis=1)


@pytest.mark.parametrize('name', ROBOTS)
def test_collision_geometry_is_at_the_poses_of_pinocchio(name, load):
    robot = load(name)
    geometry = robot_geometry(robot)
    model = pin.buildModelFromXML(robot.urdf, mimic=True)
    judge = pin.buildGeomFromUrdfString(model, robot.urdf, pin.COLLISION,
                                        package_dirs=list(robot.package_dirs))
    assert len(geometry.bodies) == len(judge.geometryObjects) and not geometry.warnings
    at = Configuration(robot, shipped_robots()[name].home)
    data, judge_data = model.createData(), judge.createData()
    q = pin.neutral(model)
    for joint, value in at.joints.items():
        j = model.joints[model.getJointId(joint)]
        q[j.idx_q:j.idx_q + j.nq] = [value] if j.nq == 1 else [np.cos(value), np.sin(value)]
    pin.updateGeometryPlacements(model, data, judge, judge_data, q)
    expected = {g.name: (judge_data.oMg[i], model.frames[g.parentFrame].name, g)
                for i, g in enumerate(judge.geometryObjects)}
    for body in geometry.bodies:
        pose, link, reference = expected[body.name]
        assert body.link == link
        assert np.abs((at.placement(link) * body.in_link).homogeneous
                      - pose.homogeneous).max() < 1e-12
        if isinstance(body.shape, Mesh):
            scaled = np.array(reference.geometry.vertices()).reshape(-1, 3)
            rounding = 5e-7 * np.ptp(scaled, axis=0).max()    # 32-bit vertices
            assert distance_outside(body.shape.hull, body.shape.vertices).max() < 1e-9
            assert distance_outside(body.shape.hull, scaled).max() < rounding
            for points, others in ((body.shape.vertices, scaled), (scaled, body.shape.vertices)):
                assert cKDTree(points).query(others)[0].max() < rounding
        elif isinstance(body.shape, Box):
            assert body.shape.size == pytest.approx(2 * reference.geometry.halfSide)
        else:
            assert body.shape.radius == reference.geometry.radius


def test_all_collision_elements_are_read(packages):
    origin = '<origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/>'
    ring = '<mesh filename="package://parts/meshes/ring.stl" scale="1 2 -1"/>'
    robot = robot_with(
        collision('<box size="1 2 3"/>', origin) + collision('<sphere radius="0.5"/>')
        + collision('<cylinder radius="0.1" length="0.7"/>', name=' name="pole"'),
        collision('<capsule radius="0.1" length="0.7"/>', name=' name="pole"') + collision(ring),
        [packages])
    geometry = robot_geometry(robot)
    box, sphere, cylinder, capsule, mesh = (body.shape for body in geometry.bodies)
    assert (box, sphere) == (Box([1, 2, 3]), Sphere(0.5))
    assert (cylinder, capsule) == (Cylinder(0.1, 0.7), Capsule(0.1, 0.7))
    assert mesh.vertices.max(axis=0) == pytest.approx([0.4, 0.8, 0.1], abs=1e-6)
    assert [body.name for body in geometry.bodies] == ['base_0', 'base_1', 'pole', 'pole', 'tip_1']
    assert geometry.links == ('base', 'tip')
    assert geometry.bodies[0].in_link.translation.tolist() == [1, 2, 3]
    assert geometry.bodies[0].in_link.act(np.array([1.0, 0, 0])) == pytest.approx([1, 3, 3])


@pytest.mark.parametrize(('uri', 'dirs'), [
    ('package://parts/meshes/ring.stl', '{0}/parts'), ('model://parts/meshes/ring.stl', '{0}'),
    ('file://{0}/parts/meshes/ring.stl', ''), ('{0}/parts/meshes/ring.stl', '')])
def test_mesh_uris_of_all_schemes_are_found(uri, dirs, packages):
    robot = robot_with(collision(f'<mesh filename="{uri.format(packages)}"/>'), '',
                       [dirs.format(packages)] if dirs else [])
    assert len(robot_geometry(robot).bodies) == 1


def test_relative_mesh_path_is_relative_to_the_urdf_first(packages):
    """As in Drake: a file of the same name in another folder may belong to another robot."""
    folder = packages / 'parts'
    for file, radius in ((folder / 'link.stl', 0.1), (packages / 'link.stl', 0.2)):
        trimesh.creation.icosphere(2, radius).export(file)
    path = folder / 'robot.urdf'
    path.write_text(robot_with(collision('<mesh filename="link.stl"/>')).urdf)
    for robot in (Robot.from_urdf(path, [packages]), Robot.from_urdf(str(path))):
        shape = robot_geometry(robot).bodies[0].shape
        assert np.abs(shape.vertices).max() == pytest.approx(0.1)
    text = Robot.from_urdf(path.read_text(), [packages])
    assert np.abs(robot_geometry(text).bodies[0].shape.vertices).max() == pytest.approx(0.2)


@pytest.mark.parametrize('file', ['none.stl', 'broken.stl', 'ring.ply'])
def test_unusable_meshes_are_refused_or_skipped_with_a_warning(file, packages):
    mesh = collision(f'<mesh filename="package://parts/meshes/{file}"/>')
    robot = robot_with(mesh, collision('<sphere radius="1"/>'), [packages, '/elsewhere'])
    with pytest.raises(InvalidSceneError, match=f"'base'.*{file}") as caught:
        robot_geometry(robot)
    if file != 'broken.stl':
        assert f'/elsewhere/parts/meshes/{file}' in str(caught.value)
    rest = robot_geometry(robot, missing='skip')
    assert [body.link for body in rest.bodies] == ['tip'] and rest.incomplete_links == ('base',)
    assert file in rest.warnings[0] and "link 'base'" in rest.warnings[0]


def test_robot_without_geometry_is_reported(small):
    geometry = robot_geometry(small('scara'))
    assert geometry.bodies == () and 'no collision elements' in geometry.warnings[0]


@pytest.mark.parametrize(('shape', 'message'), [
    ('', 'nothing'), ('<box size="1 2"/>', 'box size'), ('<box size="1 -1 1"/>', 'size of a box'),
    ('<box size="1 nan 1"/>', 'box size'), ('<cylinder radius="1"/>', 'cylinder length'),
    ('<torus/>', '<torus>; valid'),
    ('<box size="1 1 1"/><sphere radius="1"/>', '<box>, <sphere>'),
    ('<mesh/>', "the mesh '' cannot be found"),
    ('<mesh filename="package://example-robot-data/robots/ur_description/meshes/ur5/collision/'
     'base.stl" scale="1 0 1"/>', 'scale'),
    ('<mesh filename="http://a.b/c.stl"/>', 'package:// or model://')])
def test_malformed_collision_elements_are_refused(shape, message):
    robot = robot_with(collision(shape), '', [data_folder().parents[1]])
    with pytest.raises(InvalidSceneError, match="link 'base'") as caught:
        robot_geometry(robot)
    assert message in str(caught.value)


COLLADA = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset>{}</asset><library_geometries><geometry id="g"><mesh><source id="p"><float_array id="f"
count="9">0 0 0 1 0 0 0 1 0</float_array><technique_common><accessor source="#f" count="3"
stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/>
</accessor></technique_common></source><vertices id="v"><input semantic="POSITION" source="#p"/>
</vertices><triangles count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p>
</triangles></mesh></geometry></library_geometries><library_visual_scenes><visual_scene id="s">
<node><instance_geometry url="#g"/></node></visual_scene></library_visual_scenes><scene>
<instance_visual_scene url="#s"/></scene></COLLADA>"""


@pytest.mark.parametrize(('unit', 'warnings'), [
    ('<unit name="meter" meter="1"/>', 0), ('<unit meter="0.0254"/>', 1)])
def test_collada_unit_scales_visuals_only(unit, warnings, tmp_path):
    """As in RViz and MoveIt."""
    (tmp_path / 'a.dae').write_text(COLLADA.format(unit))
    robot = shaped_robot('one_joint', shapes={'tip': f'<mesh filename="file://{tmp_path}/a.dae"/>'})
    geometry = robot_geometry(robot)
    assert np.ptp(geometry.bodies[0].shape.vertices, axis=0).tolist() == [1, 1, 0]
    assert len(geometry.warnings) == warnings and all('0.0254 m' in t for t in geometry.warnings)
    visuals, = visual_geometry(Robot.from_urdf(
        '<robot name="one"><link name="base"><visual><geometry><mesh filename="a.dae" '
        'scale="1 2 1"/></geometry></visual></link></robot>', [tmp_path])).bodies
    size = 0.0254 if warnings else 1.0
    assert np.ptp(visuals.shape.vertices, axis=0) == pytest.approx([size, 2 * size, 0])


def test_collada_units_above_a_metre_are_refused(tmp_path):
    (tmp_path / 'a.dae').write_text(COLLADA.format('<unit meter="1000"/>'))
    with pytest.raises(InvalidSceneError, match='its unit is 1000 m; valid: up to 1 m'):
        robot_geometry(shaped_robot('one_joint',
                                    shapes={'tip': f'<mesh filename="file://{tmp_path}/a.dae"/>'}))


def test_robots_with_meshes_in_different_folders_have_different_checkers(tmp_path):
    text = shaped_robot('one_joint', shapes={'tip': '<mesh filename="package://arm/a.stl"/>'}).urdf
    found, scene = [], None
    for size in (0.1, 0.2):
        folder = tmp_path / str(size)
        (folder / 'arm').mkdir(parents=True)
        trimesh.creation.box([size] * 3).export(folder / 'arm' / 'a.stl')
        robot = Robot.from_urdf(text, package_dirs=[folder])
        scene = scene or Scene(robot)
        shape = collision_checker(robot, scene).geometry.bodies[0].shape
        found.append(np.ptp(shape.vertices, axis=0).max())
    assert found == pytest.approx([0.1, 0.2])


def write_cube(path, edge):
    """Replace the file by a cube, with the old timestamp as `rsync --times` does."""
    before = path.stat() if path.exists() else None
    trimesh.creation.box([edge] * 3).export(path)
    if before:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert path.stat().st_size == before.st_size


REACHING_URDF = """<robot name="r"><link name="base"><collision><origin xyz="0 0 1.2"/><geometry>
<sphere radius="0.01"/></geometry></collision></link><link name="arm"/>
<link name="tip"><collision><geometry>
<mesh filename="file://{}/a.stl"/></geometry></collision></link>
<joint name="i" type="continuous"><parent link="base"/><child link="arm"/></joint>
<joint name="j" type="continuous"><parent link="arm"/><child link="tip"/>
<origin xyz="0 0 0.8"/></joint></robot>"""
SRDF = '<robot name="r"><disable_collisions link1="base" link2="arm"/></robot>'   # no guesses
RELOADS = {
    'same text': lambda robot: Robot.from_urdf(robot.urdf, srdf=robot.srdf),
    'pickled': lambda robot: pickle.loads(pickle.dumps(robot)),
}


@pytest.mark.parametrize('reload', RELOADS.values(), ids=RELOADS)
@pytest.mark.parametrize('meshes', ['exact', 'hull'])
def test_changed_mesh_file_is_read_by_a_new_robot(reload, meshes, tmp_path):
    """A cube of 2 m reaches the base and a post, one of 0.2 m does not."""
    write_cube(tmp_path / 'a.stl', 0.2)
    robot = Robot.from_urdf(REACHING_URDF.format(tmp_path), srdf=SRDF)
    scene = Scene(robot).add(SceneObject('post', [Box([0.2] * 3)], pose((0.7, 0, 0.8))))

    def collides(robot):
        worker = pickle.loads(pickle.dumps(robot))
        sent = unpack(pack(collision_checker(robot, scene, meshes), robot), worker)
        checkers = [CollisionChecker(robot, scene, meshes).for_pair('tip', 'post'),
                    collision_checker(robot, scene, meshes).for_pair('tip', 'post'),
                    sent.for_pair('tip', 'post'), self_collision_check(robot, meshes).checker]
        return [checker.collides(robot.neutral) for checker in checkers]
    assert collides(robot) == [False] * 4
    write_cube(tmp_path / 'a.stl', 2.0)
    assert collides(reload(robot)) == [True] * 4
    write_cube(tmp_path / 'a.stl', 0.2)
    assert collides(reload(robot)) == [False] * 4


URDF_WITH_VISUALS = """<robot name="two"><material name="blue"><color rgba="0 0 1 1"/></material>
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


def test_visual_element_has_shape_pose_and_named_colour():
    body = visual_geometry(Robot.from_urdf(URDF_WITH_VISUALS)).bodies[0]
    assert isinstance(body.shape, Box) and body.shape.size.tolist() == [1, 2, 3]
    assert body.in_link.translation.tolist() == [0, 0, 1] and body.color == (0, 0, 1)


@pytest.mark.parametrize(('pattern', 'warnings'), [('', 1), ('<visual><geometry><mesh.*', 0)])
def test_missing_visuals_are_replaced_by_collision_elements(pattern, warnings):
    visuals = visual_geometry(Robot.from_urdf(re.sub(pattern, '', URDF_WITH_VISUALS)))
    assert [(body.link, body.shape.kind) for body in visuals.bodies] == [('base', 'box'),
                                                                         ('arm', 'box')]
    assert len(visuals.warnings) == warnings
    assert all("the mesh 'gone.stl' cannot be found" in text for text in visuals.warnings)


def test_visual_parts_have_the_colours_of_the_file():
    text = (data_folder() / 'panda_description/meshes/visual/link6.dae').read_text()
    expected = {tuple(round(255 * float(part)) for part in color.split()[:3])
                for color in re.findall(r'<diffuse>\s*<color[^>]*>([^<]*)', text)}
    assert len(expected) == 6 and expected == {
        tuple(round(255 * part) for part in body.color)
        for body in visual_geometry(Robot.load('panda')).bodies if body.link == 'panda_link6'}
