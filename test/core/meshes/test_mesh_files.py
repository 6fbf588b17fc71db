"""Mesh files: parts, colours, and refusal of malformed files."""

import os
import re

import numpy as np
import pytest
import trimesh

from ros2_ik.core.errors import InvalidSceneError
from ros2_ik.core.meshes.mesh_files import read_mesh
from ros2_ik.core.scene import Mesh

OFFSET = [0.5, 0, 0]    # of the second cube [m]
COLORS = {'red': [0.8, 0.2, 0], 'blue': [0, 0, 1]}
BIND_MATERIALS = (
    '><bind_material><technique_common>'
    + ''.join(f'<instance_material symbol="{name}" target="#{name}"/>' for name in COLORS)
    + '</technique_common></bind_material></instance_geometry></node>')


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch, tmp_path):
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))


def two_cubes(apart=OFFSET):
    """Return two cubes with edges of 0.1 m."""
    one, other = trimesh.creation.box([0.1] * 3), trimesh.creation.box([0.1] * 3)
    return one, other.apply_translation(apart)


def join(numbers):
    return ' '.join(map(str, np.asarray(numbers).ravel().tolist()))


def obj(*separators):
    """Return the cubes as an OBJ file, each after a separator."""
    lines, before = [], 1
    for separator, box in zip(separators, two_cubes(), strict=True):
        lines += [f'v {join(vertex)}' for vertex in box.vertices] + [separator]
        lines += [f'f {join(face + before)}' for face in box.faces]
        before += len(box.vertices)
    return '\n'.join(lines) + '\n'


def source(name, vertices):
    return (f'<source id="{name}"><float_array id="{name}-array" count="{3 * len(vertices)}">'
            f'{join(vertices)}</float_array><technique_common><accessor source="#{name}-array" '
            f'count="{len(vertices)}" stride="3"><param name="X"/><param name="Y"/>'
            f'<param name="Z"/></accessor></technique_common></source><vertices id="{name}-v">'
            f'<input semantic="POSITION" source="#{name}"/></vertices>')


def primitive(name, indices, material='red'):
    return (f'<triangles count="1" material="{material}"><input semantic="VERTEX" '
            f'source="#{name}-v" offset="0"/><p>{join(indices)}</p></triangles>')


def dae(geometries, nodes, library=''):
    effects = ''.join(
        f'<effect id="{name}-e"><profile_COMMON><technique sid="t"><lambert><diffuse><color>'
        f'{join(rgb)} 1</color></diffuse></lambert></technique></profile_COMMON></effect>'
        for name, rgb in COLORS.items())
    materials = ''.join(f'<material id="{name}"><instance_effect url="#{name}-e"/></material>'
                        for name in COLORS)
    made = ''.join(f'<geometry id="{name}"><mesh>{mesh}</mesh></geometry>'
                   for name, mesh in geometries.items())
    return ('<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">'
            f'<library_effects>{effects}</library_effects><library_materials>{materials}'
            f'</library_materials><library_geometries>{made}</library_geometries>{library}'
            '<library_visual_scenes>'
            f'<visual_scene id="s">{nodes}</visual_scene></library_visual_scenes>'
            '<scene><instance_visual_scene url="#s"/></scene></COLLADA>')


def instance(name):
    return f'<instance_geometry url="#{name}"/>'


def cube_dae(nodes, library=''):
    """Return a COLLADA file of the first cube, with nodes that place it."""
    one = two_cubes()[0]
    return dae({'g': source('p', one.vertices) + primitive('p', one.faces)}, nodes, library)


def mesh_texts():
    one, other = two_cubes()
    both = np.vstack([one.vertices, other.vertices])
    parts = (source('p', both) + primitive('p', one.faces)
             + primitive('p', other.faces + 8, 'blue'))
    apart = {name: source(name, box.vertices) + primitive(name, box.faces)
             for name, box in (('one', one), ('other', other))}
    node, placed = f'<node>{instance("g")}</node>', '<node>{}' + instance('g') + '</node>'
    moved = '<translate>{}</translate>'
    return {
        'materials.obj': 'mtllib x.mtl\n' + obj('usemtl red', 'usemtl blue'),
        'objects.obj': obj('o one', 'o two'), 'groups.obj': obj('g one\nusemtl a', 'g b\ns off'),
        'windows.obj': obj('usemtl a', 'usemtl b').replace('\n', '\r\n'),
        'continued.obj': obj('usemtl a', 'usemtl b').replace('f 1 ', '#\nf \\\n 1/7/3 '),
        'solids.stl': ''.join(trimesh.exchange.stl.export_stl_ascii(box) + '\n'
                              for box in two_cubes()),
        'primitives.dae': dae({'g': parts}, node.replace('/></node>', BIND_MATERIALS)),
        'nodes.dae': dae(apart, ''.join(f'<node>{instance(name)}</node>' for name in apart)),
        'nested.dae': dae(apart, f'<node>{instance("one")}<node><node>{instance("other")}'
                                 '</node></node></node>'),
        'instances.dae': cube_dae(node + placed.format(moved.format('.5 0 0'))),
        'matrix.dae': cube_dae(node + placed.format(
            '<matrix>0 1 0 .5 1 0 0 0 0 0 1 0 0 0 0 1</matrix>')),   # a mirror
        'turned.dae': cube_dae(node + '<node><rotate>0 0 1 90</rotate>' + moved.format('0 -.5 0')
                               + f'<node><scale>.5 .5 1</scale><scale>2 2 1</scale>{instance("g")}'
                               '</node></node>'),
        'library.dae': cube_dae(node + f'<node>{moved.format(".2 0 0")}'
                                '<instance_node url="#n"/></node>',
                                '<library_nodes><node id="n">' + moved.format('.3 0 0')
                                + instance('g') + '</node></library_nodes>')}


MESH_TEXTS = mesh_texts()


def write_file(folder, name):
    path = folder / name
    path.write_text(MESH_TEXTS[name], newline='')
    return path


@pytest.mark.parametrize('name', MESH_TEXTS)
def test_parts_of_a_mesh_file_are_at_their_poses(name, tmp_path):
    vertices, triangles = read_mesh(write_file(tmp_path, name))[:2]
    solid = trimesh.Trimesh(vertices, triangles, process=False)
    assert solid.bounds == pytest.approx(np.array([[-0.05] * 3, [0.55, 0.05, 0.05]]))
    assert solid.area == pytest.approx(0.12) and solid.volume == pytest.approx(0.002)
    assert solid.is_watertight and len(vertices) == 16 and len(triangles) == 24


def test_materials_of_a_dae_file_color_its_parts(tmp_path):
    mesh = read_mesh(write_file(tmp_path, 'primitives.dae'))
    corners, colors = mesh.vertices[mesh.triangles], mesh.colors.round(2)
    found = {tuple(color): corners[(colors == color).all(axis=1)].mean(axis=(0, 1))[0]
             for color in colors.tolist()}
    assert found == pytest.approx({(0.8, 0.2, 0.0): 0.0, (0.0, 0.0, 1.0): 0.5})


@pytest.mark.parametrize('name', ['materials.obj', 'solids.stl', 'nodes.dae'])
def test_mesh_files_without_material_definitions_have_no_color(name, tmp_path):
    assert (read_mesh(write_file(tmp_path, name)).colors == -1).all()


SQUARE = 'v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n'
NODE = f'<node>{instance("g")}</node>'
MALFORMED = {
    'relative.obj': (SQUARE + 'f 1 2 -1\n', "'-1'"), 'zero.obj': (SQUARE + 'f 0 1 2\n', "'0'"),
    'after.obj': (SQUARE + 'f 1 2 9\n', 'out of bounds'),
    'nan.obj': (SQUARE + 'v nan 0 0\nf 1 2 5\n', 'not finite'),
    'nan.stl': (MESH_TEXTS['solids.stl'].replace('vertex 0.05', 'vertex nan', 1), "'nan'"),
    'nan.dae': (cube_dae(NODE).replace('0.05', 'NaN', 1), "'NaN'"),
    'points.obj': (SQUARE + 'l 1 2\n', 'no triangles'), 'empty.obj': ('', 'no triangles'),
    'cut.dae': (cube_dae(NODE)[:-100], 'XML'),
    'cut.stl': (MESH_TEXTS['solids.stl'][:500], 'no triangles'),
    'nothing.dae': (cube_dae('<node><instance_geometry url="#h"/></node>'), '#h'),
    'elsewhere.dae': (cube_dae('<node><instance_geometry url="o.dae#g"/></node>'), 'o.dae#g'),
    'skin.dae': (cube_dae(NODE + '<node><instance_controller url="#c"/></node>'), 'controller'),
    'entity.dae': ('<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname">]>'
                   + cube_dae(NODE + '<node>&b;</node>'), 'Entity|entity'),
    'index.dae': (cube_dae(NODE).replace('<p>', '<p>0 1 99 '), '99'),
    'material.dae': (MESH_TEXTS['primitives.dae'].replace('#red-e', '#gone'), 'gone'),
    'other.dae': ('<robot/>', '')}


@pytest.mark.parametrize('name', MALFORMED)
def test_malformed_mesh_files_are_refused(name, tmp_path):
    content, message = MALFORMED[name]
    (tmp_path / name).write_text(content)
    with pytest.raises(InvalidSceneError, match='cannot be read: ') as caught:
        Mesh.from_file(tmp_path / name)
    assert re.search(message, str(caught.value)) and name in str(caught.value)


@pytest.mark.parametrize(('name', 'content', 'message'), [
    ('none.stl', None, 'No such file'), ('folder.stl', None, 'Is a directory'),
    ('ring.ply', b'ply', 'stl, .obj, .dae'),
    ('short.stl', b'\0' * 80 + b'\xff\xff\xff\x00', 'cannot be read'),
    ('far.obj', b'v 0 0 1e9\nv 1 0 0\nv 0 1 0\nf 1 2 3\n', 'up to 1e')])
def test_unreadable_mesh_files_are_refused(name, content, message, tmp_path):
    (tmp_path / 'folder.stl').mkdir()
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidSceneError, match=message) as caught:
        Mesh.from_file(tmp_path / name)
    assert name in str(caught.value)


def test_material_file_that_is_a_pipe_does_not_block(tmp_path):
    os.mkfifo(tmp_path / 'pipe')
    (tmp_path / 'part.obj').write_text(
        f'mtllib pipe\nmtllib {tmp_path}/pipe\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n'
        'usemtl a\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n')
    assert Mesh.from_file(tmp_path / 'part.obj').vertices.shape == (4, 3)
