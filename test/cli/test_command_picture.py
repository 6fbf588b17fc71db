"""`ros2_ik picture`, judged by the pixels of the files it writes."""

import numpy as np
import pytest

pytest.importorskip('trimesh')
Image = pytest.importorskip('PIL.Image')

COMPILATION_NOTICE = 'ros2_ik: compiling inner loops once; the result is cached on disk\n'
SMALL_SIZE = ('--size', 240, 180)
TARGET_IN_TABLE = ('--xyz', 0.6, 0.0, 0.185, '--rpy', 180, 0, 0, '--deg', '--scene', 'table')


@pytest.fixture
def draw(command, tmp_path):
    """Return a function that runs the command; it returns the output and the pixels."""
    def run(*arguments, size=SMALL_SIZE, warning=''):
        path = tmp_path / 'picture.png'
        ended = command('picture', *arguments, *size, '-o', path)
        # the first picture on a machine compiles the rendering loop
        warnings = ended.err.replace(COMPILATION_NOTICE, '')
        assert warning in warnings and bool(warning) == bool(warnings)
        assert ended.out.splitlines()[-1] == f'wrote {path}: {size[1]} x {size[2]} pixels'
        with Image.open(path) as picture:
            assert picture.format == 'PNG' and picture.size == size[1:]
            return ended, np.array(picture.convert('RGB')).astype(int)
    return run


def foreground(pixels):
    """Return a mask of the pixels that are not background."""
    return (pixels < 250).any(axis=2)


def count_red(pixels):
    """Return the number of pixels with the red of contacts."""
    return int(((pixels[:, :, 0] > 120) & (pixels[:, :, 1:].max(axis=2) < 60)).sum())


def test_robot_is_drawn_at_its_joint_values(draw):
    """Seen from azimuth -90 deg the arm reaches right; rotated by 2.89 rad, left."""
    stretched = ('panda', '--from', -90, 0, '--joints', 'panda_joint2=1.2', 'panda_joint4=-0.3')
    for side, arguments in ((1, stretched), (-1, (*stretched, 'panda_joint1=2.89'))):
        run, pixels = draw(*arguments)
        assert run.code == 0 and 0.05 < foreground(pixels).mean() < 0.6 and count_red(pixels) == 0
        rows, columns = np.nonzero(foreground(pixels))
        base = columns[rows >= rows.max() - 3].mean()
        reach = {1: columns.max() - base, -1: base - columns.min()}
        assert reach[side] > 2 * reach[-side]


def test_contacts_are_drawn_as_red_points_and_named(draw):
    run, pixels = draw('panda', *TARGET_IN_TABLE, '--timeout', 0.3)
    assert run.code == 1 and 'GOAL_IN_COLLISION' in run.out
    assert 'panda_leftfinger - table: 24.0 mm' in run.out
    image = pixels[60:]    # below the text
    assert count_red(image) >= 4
    r, g, b = np.moveaxis(image, 2, 0)    # the robot is orange, like the viewer's ghost
    assert ((r > g + 40) & (g > b + 40)).sum() > 500
    run, pixels = draw('panda', '--xyz', 0.6, 0.0, 0.4, '--scene', 'table')
    assert run.code == 0 and 'mm' not in run.out
    r, g, b = np.moveaxis(pixels, 2, 0)
    assert ((r > g + 20) & (g > b + 15)).sum() > 3000    # the table is brown


def test_solutions_are_drawn_side_by_side(draw):
    run, pixels = draw('panda', '--xyz', 0.45, 0.1, 0.3, '--rpy', 180, 0, 0, '--deg',
                       '--solutions', 2, '--random-state', 3, '--timeout', 0.3,
                       size=('--size', 400, 200))
    assert run.code == 0
    changes = [float(line.split('change ')[1].split()[0]) for line in run.out.splitlines()[:2]]
    assert abs(changes[0] - changes[1]) > 30 and ' deg (panda_joint' in run.out
    one, other = (foreground(pixels[:, half])[50:] for half in (slice(200), slice(200, 400)))
    assert one.sum() > 2000 and other.sum() > 2000
    assert (one != other).mean() > 0.03
    # the frame of the target, whose z is blue, is in the same place in both
    target_pixels = [np.argwhere(pixels[:, half, 2] > pixels[:, half, :2].max(axis=2) + 60)
                     for half in (slice(200), slice(200, 400))]
    assert min(map(len, target_pixels)) > 20
    assert np.abs(np.subtract(*(each.mean(axis=0) for each in target_pixels))).max() < 3


def test_best_attempt_is_drawn_red(draw):
    run, pixels = draw('panda', '--xyz', 2, 0, 0.5, '--timeout', 0.1)
    assert run.code == 1
    assert ((pixels[:, :, 0] > 90) & (pixels[:, :, 1:].max(axis=2) < 60)).sum() > 500


def test_robot_without_visual_elements_shows_its_target(draw, planar_arm):
    run, pixels = draw(planar_arm, '--xyz', 0.5, 0.3, 0.1, warning='no visual elements')
    assert run.code == 0 and 20 < foreground(pixels[40:]).sum() < 3000


def test_missing_mesh_is_named(command, tmp_path):
    urdf = tmp_path / 'robot.urdf'
    urdf.write_text("""<robot name="one"><link name="base"><visual><geometry>
        <mesh filename="package://gone/base.stl"/></geometry></visual></link></robot>""")
    run = command('picture', urdf, *SMALL_SIZE, '-o', tmp_path / 'x.png')
    assert run.code == 0
    assert "the mesh 'package://gone/base.stl' cannot be found" in run.err


@pytest.mark.parametrize(('arguments', 'reason'), [
    (['panda', '-o', 'x.jpg'], "'x.jpg': only PNG files are written"),
    (['panda', '-o', 'no_folder/x.png'], "the folder 'no_folder' does not exist"),
    (['panda'], 'required: -o/--output'),
    (['panda', '-o', 'x.png', '--size', 10, 100], "'10' is not a whole number from 100 to 8000"),
    (['panda', '-o', 'x.png', '--xyz', 1, 0, 0, '--tip', 'x'], 'INVALID_LINK_NAME: --tip: '),
    (['panda', '-o', 'x.png', '--from', 0, 'nan'], "'nan' is not a number from -360 to 360")])
def test_malformed_command_lines_are_refused(command, tmp_path, monkeypatch, arguments, reason):
    monkeypatch.chdir(tmp_path)
    assert reason in command('picture', *arguments).refusal()
    assert not [*tmp_path.iterdir()]
