"""Mesh files of several parts, judged by trimesh and by the boxes they were made of."""

import tempfile

from example_data import data_folder
import numpy as np
import pytest
import trimesh

from ros2_ik.core import Robot, solve_pose
from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.scene import cache, Mesh, Scene, SceneObject, Sphere
from ros2_ik.core.scene.meshes import read_triangles

# with several parts, polygons that are not convex, or nodes in nodes among them
EXAMPLES = (
    'ur_description/meshes/ur5/collision/base.stl', 'kinova_description/meshes/arm.dae',
    'panda_description/meshes/collision/link6.stl', 'panda_description/meshes/visual/link7.dae',
    'go2_description/visuals/thigh.dae', 'baxter_description/meshes/wrist/W2.DAE',
    'icub_description/meshes/upmc/collision/icub_simple_collision_head.dae',
    'alex_description/meshes/ALX02_02_A01_BaseLink.obj')
# trimesh counts back from the last vertex of all, and reads one <vertices> of a mesh
NOT_JUDGED = ('relative.obj', 'sources.dae')
FAR = [0.5, 0, 0]


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    """Give each test an empty cache: what an older version left there judges nothing."""
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))
    cache.forget()
    yield
    cache.forget()


def boxes(apart=FAR):
    """Make two cubes with edges of 0.1 m."""
    one, other = trimesh.creation.box([0.1] * 3), trimesh.creation.box([0.1] * 3)
    return one, other.apply_translation(apart)


def text(numbers):
    return ' '.join(map(str, np.asarray(numbers).ravel().tolist()))


def obj(*separators, relative=False, end='\n'):
    """Write the boxes as an obj, each after one of the separators; indices from the end on."""
    lines, before = [], 0
    for separator, box in zip(separators, boxes(), strict=True):
        lines += [f'v {text(vertex)}' for vertex in box.vertices] + [separator]
        offset = -len(box.vertices) if relative else before + 1
        lines += [f'f {text(face + offset)}' for face in box.faces]
        before += len(box.vertices)
    return end.join(lines) + end


def source(name, vertices):
    return (f'<source id="{name}"><float_array id="{name}-array" count="{3 * len(vertices)}">'
            f'{text(vertices)}</float_array><technique_common><accessor source="#{name}-array" '
            f'count="{len(vertices)}" stride="3"><param name="X"/><param name="Y"/>'
            f'<param name="Z"/></accessor></technique_common></source><vertices id="{name}-v">'
            f'<input semantic="POSITION" source="#{name}"/></vertices>')


def primitive(name, indices, kind='triangles', counts=None):
    counts = '' if counts is None else f'<vcount>{text(counts)}</vcount>'
    return (f'<{kind} count="1"><input semantic="VERTEX" source="#{name}-v" offset="0"/>{counts}'
            f'<p>{text(indices)}</p></{kind}>')


def dae(geometries, nodes, library=''):
    made = ''.join(f'<geometry id="{name}"><mesh>{mesh}</mesh></geometry>'
                   for name, mesh in geometries.items())
    return ('<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">'
            f'<library_geometries>{made}</library_geometries>{library}<library_visual_scenes>'
            f'<visual_scene id="s">{nodes}</visual_scene></library_visual_scenes>'
            '<scene><instance_visual_scene url="#s"/></scene></COLLADA>')


def instance(name):
    return f'<instance_geometry url="#{name}"/>'


def box_dae(nodes, library=''):
    """Write the first box and nodes that place it."""
    one = boxes()[0]
    return dae({'g': source('p', one.vertices) + primitive('p', one.faces)}, nodes, library)


def files():
    one, other = boxes()
    both = np.vstack([one.vertices, other.vertices])
    parts = source('p', both) + primitive('p', one.faces) + primitive('p', other.faces + 8)
    apart = {name: source(name, box.vertices) + primitive(name, box.faces)
             for name, box in (('one', one), ('other', other))}
    sources = ''.join(apart.values())
    here, there = f'<node>{instance("g")}</node>', '<node>{}' + instance('g') + '</node>'
    moved = '<translate>{}</translate>'
    return {
        'materials.obj': 'mtllib x.mtl\n' + obj('usemtl red', 'usemtl blue'),
        'objects.obj': obj('o one', 'o two'), 'groups.obj': obj('g one\nusemtl a', 'g b\ns off'),
        'relative.obj': obj('usemtl a', 'usemtl b', relative=True),
        'windows.obj': obj('usemtl a', 'usemtl b', end='\r\n'),
        'continued.obj': obj('usemtl a', 'usemtl b').replace('f 1 ', '#\nf \\\n 1/7/3 '),
        'solids.stl': ''.join(trimesh.exchange.stl.export_stl_ascii(box) + '\n'
                              for box in boxes()),
        'primitives.dae': dae({'g': parts}, here),
        'sources.dae': dae({'g': sources}, here),
        'nodes.dae': dae(apart, ''.join(f'<node>{instance(name)}</node>' for name in apart)),
        'nested.dae': dae(apart, f'<node>{instance("one")}<node><node>{instance("other")}'
                                 '</node></node></node>'),
        'instances.dae': box_dae(here + there.format(moved.format('.5 0 0'))),
        'matrix.dae': box_dae(here + there.format(
            '<matrix>0 1 0 .5 1 0 0 0 0 0 1 0 0 0 0 1</matrix>')),   # a mirror
        'turned.dae': box_dae(here + f'<node><rotate>0 0 1 90</rotate>{moved.format("0 -1 0")}'
                              f'<node><scale>.5 .5 1</scale>{moved.format("-1 0 0")}'
                              f'<scale>2 2 1</scale><node><rotate>0 0 1 90</rotate>'
                              f'{moved.format("-.5 -.5 0")}{instance("g")}'
                              '</node></node></node>'),
        'camera.dae': box_dae(here + there.format(moved.format('.5 0 0'))
                              + '<node><rotate>1 1 0 60</rotate></node>'),
        'library.dae': box_dae(here + f'<node>{moved.format(".2 0 0")}'
                               '<instance_node url="#n"/></node>',
                               '<library_nodes><node id="n">' + moved.format('.3 0 0')
                               + instance('g') + '</node></library_nodes>')}


FILES = files()


def written(folder, name):
    path = folder / name
    path.write_text(FILES[name], newline='')
    return path


@pytest.mark.parametrize('name', FILES)
def test_all_parts_of_a_file_are_where_it_says(name, tmp_path):
    vertices, triangles = read_triangles(written(tmp_path, name))
    solid = trimesh.Trimesh(vertices, triangles, process=False)
    far = 1.55 if name == 'turned.dae' else 0.55
    assert solid.bounds == pytest.approx(np.array([[-0.05] * 3, [far, 0.05, 0.05]]))
    assert solid.area == pytest.approx(0.12) and solid.volume == pytest.approx(0.002)
    assert solid.is_watertight and len(vertices) == 16 and len(triangles) == 24
    if name not in NOT_JUDGED:
        judge = trimesh.load(tmp_path / name, force='mesh')
        assert solid.bounds == pytest.approx(judge.bounds, abs=1e-6)   # it has 32 bits
        assert solid.area == pytest.approx(judge.area)


@pytest.mark.parametrize('name', ['materials.obj', 'primitives.dae', 'nested.dae', 'solids.stl'])
def test_a_ball_in_the_second_part_of_a_link_is_in_collision(name, tmp_path):
    robot = Robot.from_urdf(
        '<robot name="r"><link name="a"/><link name="b"><collision><geometry><mesh '
        f'filename="file://{written(tmp_path, name)}"/></geometry></collision></link>'
        '<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
        '<limit lower="-3" upper="3" velocity="1" effort="1"/></joint></robot>')
    pose = np.eye(4)
    pose[:3, 3] = FAR
    scene = Scene(robot).add(SceneObject('ball', [Sphere(0.04)], pose))
    assert not solve_pose(robot, 'b', np.eye(4), scene=scene, timeout=0.2).success


@pytest.mark.parametrize('path', EXAMPLES)
def test_files_of_real_robots_are_as_trimesh_reads_them(path):
    path = data_folder() / path
    vertices, triangles = read_triangles(path)
    ours = trimesh.Trimesh(vertices, triangles, process=False)
    judge = trimesh.load(path, force='mesh')
    size = judge.extents.max()
    assert ours.bounds == pytest.approx(judge.bounds, abs=1e-6 * size)
    assert ours.area == pytest.approx(judge.area, rel=1e-4)
    middle = judge.bounds.mean(axis=0)    # open ones have a volume from there
    assert ours.apply_translation(-middle).volume == pytest.approx(
        judge.apply_translation(-middle).volume, rel=1e-4, abs=1e-7 * size ** 3)


# -- polygons -------------------------------------------------------------------------------

ELL = np.array([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2.0]])         # area 3
COMB = np.array([[0, 0], [5, 0], [5, 3], [4, 3], [4, 1], [3, 1], [3, 3], [2, 3], [2, 1],
                 [1, 1], [1, 3], [0, 3.0]])                                # area 11
DART = np.array([[0, 0], [2, -1], [0.5, 0], [2, 1.0]])                     # area 0.5
FRAME = np.array([[0, 0], [3, 0], [3, 3], [0, 3], [0, 0], [1, 1], [1, 2], [2, 2], [2, 1],
                  [1, 1.0]])                                               # area 8, with a slit
HEXAGON = np.array([[np.cos(a), np.sin(a)] for a in np.arange(6) * np.pi / 3])


def in_space(flat):
    turn = trimesh.transformations.random_rotation_matrix(np.array([0.2, 0.5, 0.9]))
    return trimesh.transform_points(np.column_stack([flat, np.full(len(flat), 0.3)]), turn)


def polygon_file(folder, kind, points, turned):
    corners = np.arange(len(points))[::-1 if turned else 1]
    if kind == 'obj':
        content = '\n'.join(f'v {text(point)}' for point in points) + f'\nf {text(corners + 1)}\n'
    else:
        polygon = primitive('p', corners, kind, [len(points)] if kind == 'polylist' else None)
        content = dae({'g': source('p', points) + polygon}, f'<node>{instance("g")}</node>')
    path = folder / f'polygon.{"obj" if kind == "obj" else "dae"}'
    path.write_text(content)
    return path


@pytest.mark.parametrize('turned', [False, True])
@pytest.mark.parametrize('kind', ['obj', 'polylist', 'polygons'])
@pytest.mark.parametrize(('flat', 'area'), [
    (ELL, 3), (np.roll(ELL, 3, axis=0), 3), (COMB, 11), (DART, 0.5),
    (np.roll(DART, 1, axis=0), 0.5), (FRAME, 8), (HEXAGON, 1.5 * 3 ** 0.5)])
def test_polygons_keep_their_area_and_side(flat, area, kind, turned, tmp_path):
    points = in_space(flat)
    vertices, triangles = read_triangles(polygon_file(tmp_path, kind, points, turned))
    found = trimesh.Trimesh(vertices, triangles, process=False)
    assert found.area == pytest.approx(area) and len(triangles) == len(flat) - 2
    normal = np.cross(points[1:-1] - points[0], points[2:] - points[0]).sum(axis=0)
    assert (found.face_normals @ normal * (-1 if turned else 1) > 0).all()


@pytest.mark.parametrize(('kind', 'count'), [('tristrips', 3), ('trifans', 3)])
def test_strips_and_fans(kind, count, tmp_path):
    flat = np.array([[0, 0], [1, 0], [0, 1], [1, 1], [0, 2.0]])
    if kind == 'trifans':
        flat = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [-1, 1.0]])
    path = polygon_file(tmp_path, kind, in_space(flat), False)
    vertices, triangles = read_triangles(path)
    found = trimesh.Trimesh(vertices, triangles, process=False)
    assert len(triangles) == count and found.area == pytest.approx(1.5)
    assert np.ptp(found.face_normals, axis=0) == pytest.approx(0, abs=1e-9)


# -- what is refused ------------------------------------------------------------------------

SQUARE = 'v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n'
LOOP = ('<library_nodes><node id="n">' + instance('g') + '<instance_node url="#n"/></node>'
        '</library_nodes>')
HERE = f'<node>{instance("g")}</node>'
BAD = {
    'before.obj': (SQUARE + 'f -5 -2 -1\n', 'vertex -5'),
    'zero.obj': (SQUARE + 'f 0 1 2\n', 'vertex 0'),
    'after.obj': (SQUARE + 'f 1 2 5\n', 'there are 4'),
    'crossed.obj': ('v 0 0 0\nv 4 0 0\nv 4 3 0\nv 1 -1 0\nv 0 3 0\nf 1 2 3 4 5\n', 'crosses'),
    'surface.obj': (SQUARE + 'f 1 2 3\nsurf 0 1 0 1 1 2 3\n', 'surf'),
    'nan.obj': (SQUARE + 'v nan 0 0\nv 2 2 2\nf 1 2 3\nf 1 2 5 6\n', 'not finite'),
    'points.obj': (SQUARE + 'l 1 2\n', 'no triangles'),
    'word.obj': (SQUARE + 'f one two three\n', 'invalid literal'),
    'cut.stl': (FILES['solids.stl'].replace('endloop', '', 1), '24 facets 23 are'),
    'loop.dae': (box_dae('<node><instance_node url="#n"/></node>', LOOP), '200 deep'),
    'nothing.dae': (box_dae('<node><instance_geometry url="#h"/></node>'),
                    "0 <geometry> that '#h'"),
    'elsewhere.dae': (box_dae('<node><instance_geometry url="o.dae#g"/></node>'), 'o.dae#g'),
    'skew.dae': (box_dae('<node><skew>1 2 3 4 5 6 7</skew>' + HERE + '</node>'), 'skew'),
    'short.dae': (box_dae(f'<node><scale>1 1</scale>{instance("g")}</node>'), '<scale> has 2'),
    'axis.dae': (box_dae('<node><rotate>0 0 2 90</rotate>' + HERE + '</node>'),
                 'an axis of length 2'),
    'skin.dae': (box_dae('<node><instance_controller url="#c"/></node>'), 'instance_controller'),
    'entity.dae': ('<!DOCTYPE a [<!ENTITY b "c">]>' + box_dae(HERE), 'DOCTYPE'),
    'accessor.dae': (box_dae(HERE).replace('stride="3"', 'stride="4"'), 'does not fit'),
    'index.dae': (box_dae(HERE).replace('<p>', '<p>0 1 99 '), 'vertex 99; there are 8'),
    'other.dae': ('<robot/>', 'valid: <COLLADA>')}


@pytest.mark.parametrize('name', BAD)
def test_what_is_not_sure_is_refused_in_words(name, tmp_path):
    content, words = BAD[name]
    (tmp_path / name).write_text(content)
    with pytest.raises(InvalidSceneError, match='cannot be read: ') as caught:
        Mesh.from_file(tmp_path / name)
    assert words in str(caught.value) and name in str(caught.value)


def test_no_place_for_other_files_is_needed(tmp_path, monkeypatch):
    """As with a full /tmp, and a cache that cannot be written."""
    path = written(tmp_path, 'materials.obj')
    monkeypatch.setenv('XDG_CACHE_HOME', '/dev/null')
    for variable in ('TMPDIR', 'TEMP', 'TMP'):
        monkeypatch.setenv(variable, '/dev/null/none')
    monkeypatch.setattr(tempfile, 'tempdir', '/dev/null/none')
    assert len(read_triangles(path)[1]) == 24
