"""Scene files: content, positions of errors, and shipped files."""

import coal
from example_data import data_folder
import numpy as np
import pinocchio as pin
import pytest
from small_robots import TWO_ARMS

from ros2_ik.core import Configuration, Robot
from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.scene import AllowedCollisions, load_scene, shipped_scenes
from ros2_ik.core.scene.shapes import Box, Cylinder, Mesh, shape_kinds

SRDF = '<robot name="small"><disable_collisions link1="left_a" link2="left_b"/></robot>'
ROBOT = Robot.from_urdf(TWO_ARMS, srdf=SRDF)
AT = Configuration(ROBOT, {'torso': 0.3, 'left_2': -0.5})
TETRAHEDRON = """
v 0 0 0
v 100 0 0
v 0 200 0
v 0 0 300
f 1 3 2
f 1 2 4
f 1 4 3
f 2 3 4
"""
ALL_FIELDS = """
description: Every field of a scene file
frames:
  camera: {xyz: [1, 0, 1], rpy: [0, 3.14159265358979, 0]}
objects:
  - id: table
    pose: {xyz: [0.5, 0, 0.4], quat_xyzw: [0, 0, 2, 0]}
    color: [1, 0.5, 0, 1]
    shapes:
      - box: {size: [1, 1, 0.05]}
      - cylinder: {radius: 5e-2, length: 0.4}
        pose: {xyz: [0, 0, -0.2]}
    subframes:
      top: {xyz: [0, 0, 0.025]}
  - id: cup
    frame: table/top
    pose: {xyz: [0.1, 0, 0.05]}
    shapes: [{sphere: {radius: 0.05}}]
  - id: tool
    frame: left_hand
    shapes: [{sphere: {radius: 0.02}}]
attached:
  - id: pen
    touch_links: [left_e]
    link: right_hand
    pose: {xyz: [0, 0, 0.1]}
    shapes: [{capsule: {radius: 0.01, length: 0.1}}]
allowed: [[cup, table], tool]
checked: [[left_a, left_b], pen]
padding: {left_hand: 0.01}
"""


def close(first, second):
    return np.allclose(first.homogeneous, second.homogeneous, rtol=0, atol=1e-12)


def test_scene_file_with_each_field_is_read():
    scene = load_scene(ALL_FIELDS, ROBOT, AT)
    table = pin.SE3(np.diag([-1.0, -1.0, 1.0]), np.array([0.5, 0, 0.4]))
    down = pin.SE3(np.eye(3), np.array([0, 0, -0.2]))
    assert [part.shape for part in scene.objects['table'].parts] == [Box([1, 1, 0.05]),
                                                                    Cylinder(0.05, 0.4)]
    assert close(scene.objects['table'].pose, table)
    assert scene.objects['table'].parts[1].pose == down
    assert scene.objects['table'].color == (1, 0.5, 0, 1)
    assert close(scene.objects['cup'].pose, table * pin.SE3(np.eye(3), np.array([.1, 0, .075])))
    assert close(scene.frame_pose('camera'), pin.SE3(np.diag([-1.0, 1, -1]), np.array([1., 0, 1])))
    assert close(scene.objects['tool'].pose, AT.placement('left_hand'))
    assert scene.attached['pen'].touch_links == {'right_hand', 'left_e'}
    assert scene.attached['pen'].object.pose.translation.tolist() == [0, 0, 0.1]
    assert scene.allowed == AllowedCollisions(
        {('cup', 'table'): True, ('left_a', 'left_b'): False}, {'tool': True, 'pen': False})
    assert scene.padding == {'left_hand': 0.01}


def test_mesh_paths_are_relative_to_the_scene_file(tmp_path):
    (tmp_path / 'meshes').mkdir()
    (tmp_path / 'meshes' / 'part.obj').write_text(TETRAHEDRON)
    path = tmp_path / 'scene.yaml'
    path.write_text('objects: [{id: a, shapes: [{mesh: {file: meshes/part.obj, scale: 1e-3, '
                    'detail: hull}}]}]')
    shape = load_scene(path, ROBOT).objects['a'].parts[0].shape
    assert isinstance(shape, Mesh) and shape.detail == 'hull'
    assert np.allclose(shape.vertices.max(axis=0), [0.1, 0.2, 0.3], rtol=0, atol=1e-9)


def test_each_shape_kind_is_read_from_a_scene_file():
    contents = {
        'box': '{size: [1, 2, 3]}', 'sphere': '{radius: 1}', 'plane': '{normal: [0, 0, 1]}',
        'cylinder': '{radius: 1, length: 2}', 'cone': '{radius: 1, length: 2}',
        'capsule': '{radius: 1, length: 2}',
        'half_space': '{normal: [0, 0, 1], offset: -0.1}',
        'mesh': '{vertices: [[0, 0, 0], [1, 0, 0], [0, 1, 0]], triangles: [[0, 1, 2]]}',
        'convex_hull': '{points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}',
        'octree': '{points: [[0, 0, 0]], resolution: 0.1}'}
    for kind in shape_kinds():
        scene = load_scene(f'objects: [{{id: a, shapes: [{{{kind}: {contents[kind]}}}]}}]', ROBOT)
        assert scene.objects['a'].parts[0].shape.kind == kind


def scene_of(shape='{sphere: {radius: 1}}', **keys):
    """Return a scene file with one object."""
    fields = ''.join(f', {key}: {value}' for key, value in keys.items())
    return f'objects: [{{id: a, shapes: [{shape}]{fields}}}]'


@pytest.mark.parametrize(('text', 'message'), [
    ('- a\n- b', 'the scene: must have the keys description, .*objects'),
    ('object: []', "the scene: unknown key 'object'; did you mean 'objects'"),
    ('objects: []\nobjects: []', "'objects' appears twice"),
    ('objects: [{id: 5, shapes: []}]', r'objects\[0\]: the id of an object is 5'),
    (scene_of(colour='[1, 1, 1, 1]'), r"objects\[0\]: unknown key 'colour'; did you mean 'color'"),
    (scene_of(frame='left_hand'), r"objects\[0\]: frame 'left_hand' moves"),
    (scene_of(pose='{xyz: [0, 0]}'), r'objects\[0\]: pose: xyz must be 3 finite numbers'),
    (scene_of(pose='{quat_xyzw: [0, 0, 0, 0]}'), r'objects\[0\]: pose: quat_xyzw has length zero'),
    (scene_of(pose='{rpy: [0, 0, 0], quat_xyzw: [0, 0, 0, 1]}'),
     r'objects\[0\]: pose: has rpy and'),
    (scene_of('{}'), r'objects\[0\]: shapes\[0\]: must have one shape, not 0; valid: box,'),
    (scene_of('{box: {}}'), r"objects\[0\]: shapes\[0\]: box: 'size' is missing"),
    (scene_of('{sphere: {radius: 1, diameter: 2}}'),
     "sphere: unknown key 'diameter'; valid: radius"),
    (scene_of('{mesh: {file: nowhere.stl}}'), r'shapes\[0\]: mesh: .*nowhere.stl'),
    (scene_of('{mesh: {file: [1]}}'), 'the file of a mesh must be a non-empty text'),
    ('objects: [{id: a, shapes: [{sphere: {radius: 1}}]}, {id: a, shapes: []}]',
     r"objects\[1\]: object 'a' already exists"),
    ('attached: [{id: a}]', r"attached\[0\]: 'link' is missing"),
    ('attached: [{id: a, link: base, touch_links: chest, shapes: [{sphere: {radius: 1}}]}]',
     r'attached\[0\]: touch_links: must be a list'),
    (scene_of() + '\nattached: [{id: a, link: base}]', r"attached\[0\]: 'shapes' is missing"),
    (scene_of() + '\nattached: [{id: a, link: base, shapes: [{sphere: {radius: 1}}]}]',
     r"attached\[0\]: object 'a' already exists"),
    ('allowed: [[base, chst]]', r"allowed\[0\]: unknown name 'chst'; did you mean 'chest'"),
    ('allowed: [[base, chest, left_a]]', r'allowed\[0\]: must be one or two names'),
    ('padding: {bse: 1}', "padding.bse: unknown link 'bse'; did you mean 'base'"),
])
def test_malformed_scene_file_is_refused_with_the_position(text, message):
    with pytest.raises(InvalidSceneError, match=message):
        load_scene(text, ROBOT)


def test_yaml_tags_in_a_scene_file_are_refused():
    with pytest.raises(InvalidSceneError, match='not valid YAML'):
        load_scene('objects: !!python/object/apply:os.getcwd []', ROBOT)


# -- shipped scenes -----------------------------------------------------------------------

def test_shipped_scenes_are_loaded_by_name_and_others_refused():
    assert set(shipped_scenes()) == {'bin', 'floor', 'shelf', 'table'}
    scene = load_scene('table', ROBOT)
    assert scene == load_scene(shipped_scenes()['table'], ROBOT)
    assert len(scene.objects['table'].parts) == 5
    with pytest.raises(InvalidSceneError, match='shipped: bin, floor, shelf, table'):
        load_scene('tabel', ROBOT)
    with pytest.raises(InvalidSceneError, match='a scene must be a file, a name or YAML'):
        load_scene(None, ROBOT)


@pytest.mark.parametrize('name', ['bin', 'shelf', 'table'])
@pytest.mark.parametrize('arm', ['panda', 'ur5'])
def test_arm_at_home_is_2_cm_clear_of_shipped_scenes(name, arm, load, home_of):
    """Pinocchio reads the meshes and computes the distances."""
    robot = load(arm)
    scene = load_scene(name, robot)
    model = pin.buildGeomFromUrdfString(robot.model, robot.urdf, pin.COLLISION,
                                        package_dirs=[str(data_folder().parents[1])])
    bodies = range(model.ngeoms)
    for index, part in enumerate(scene.objects[name].parts):
        place = scene.objects[name].pose * part.pose
        box = model.addGeometryObject(pin.GeometryObject(f'part{index}', 0, place,
                                                         coal.Box(*part.shape.size)))
        for body in bodies:
            model.addCollisionPair(pin.CollisionPair(body, box))
    at, found = Configuration(robot, home_of(arm)), model.createData()
    pin.computeDistances(robot.model, robot.model.createData(), model, found, at.q)
    assert len(found.distanceResults) > 30
    assert min(result.min_distance for result in found.distanceResults) > 0.02
