"""Whatever file is named: only regular ones of a bounded size are read, and nothing blocks."""

import os
import socket

import pytest

from ros2_ik.core import InvalidSceneError, load_scene, Mesh, Robot, RobotDescriptionError
from ros2_ik.core.regular_file import read_file, read_text_file

ARM = ('<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous">'
       '<parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>')


@pytest.fixture(params=['device', 'pipe', 'socket', 'folder'])
def special(request, tmp_path):
    """Return a path that is no regular file, by a link that looks like one."""
    path, kind = tmp_path / 'special', request.param
    if kind == 'device':
        path.symlink_to('/dev/zero')
    elif kind == 'pipe':
        os.mkfifo(path)
    elif kind == 'socket':
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(str(path))
    else:
        path.mkdir()
    for ending in ('urdf', 'srdf', 'yaml', 'stl', 'obj', 'dae'):
        (tmp_path / f'link.{ending}').symlink_to(path)
    return tmp_path / 'link'


def test_robots(special):
    with pytest.raises(RobotDescriptionError, match='the URDF cannot be read: .*not a regular'):
        Robot.from_urdf(special.with_suffix('.urdf'))
    with pytest.raises(RobotDescriptionError, match='the SRDF cannot be read: .*not a regular'):
        Robot.from_urdf(ARM, srdf=special.with_suffix('.srdf'))


def test_scenes(special):
    with pytest.raises(InvalidSceneError, match='the scene cannot be read: .*not a regular'):
        load_scene(special.with_suffix('.yaml'), Robot.from_urdf(ARM))


@pytest.mark.parametrize('ending', ['stl', 'obj', 'dae'])
def test_meshes(special, ending):
    path = special.with_suffix(f'.{ending}')
    with pytest.raises(InvalidSceneError, match='not a regular file'):
        Mesh.from_file(path)
    text = f'objects: [{{id: thing, shapes: [{{mesh: {{file: {path}}}}}]}}]\n'
    with pytest.raises(InvalidSceneError, match='not a regular file'):
        load_scene(text, Robot.from_urdf(ARM))


def test_a_mesh_that_names_another_file_does_not_wait_for_it(tmp_path):
    os.mkfifo(tmp_path / 'pipe')
    (tmp_path / 'part.obj').write_text(
        f'mtllib pipe\nmtllib {tmp_path}/pipe\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n'
        'usemtl a\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n')
    assert Mesh.from_file(tmp_path / 'part.obj').vertices.shape == (4, 3)


def test_regular_files_are_read_by_links_too(tmp_path):
    path = tmp_path / 'a file'
    path.write_text('äöü')
    (tmp_path / 'link').symlink_to(path)
    assert read_text_file(tmp_path / 'link') == 'äöü'
    assert read_file(path, 6) == 'äöü'.encode()


@pytest.mark.parametrize('most', [0, 5])
def test_too_large(tmp_path, most):
    path = tmp_path / 'a file'
    path.write_bytes(b'123456')
    with pytest.raises(OSError, match=f'more than {most} bytes'):
        read_file(path, most)


def test_a_robot_of_a_million_spaces_is_refused_for_its_size(tmp_path, monkeypatch):
    monkeypatch.setattr('ros2_ik.core.regular_file.read_text_file.__defaults__', (1000,))
    (tmp_path / 'big.urdf').write_text(ARM + ' ' * 1000)
    with pytest.raises(RobotDescriptionError, match='more than 1000 bytes'):
        Robot.from_urdf(tmp_path / 'big.urdf')
