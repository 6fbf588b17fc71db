"""`ros2_ik picture`, judged by the pixels of its files."""

import numpy as np
import pytest

pytest.importorskip('trimesh')
Image = pytest.importorskip('PIL.Image')

COMPILING = 'ros2_ik: compiling inner loops once; the result is cached on disk\n'
SMALL = ('--size', 240, 180)
IN_TABLE = ('--xyz', 0.6, 0.0, 0.185, '--rpy', 180, 0, 0, '--deg', '--scene', 'table')


@pytest.fixture
def draw(command, tmp_path):
    """Return a function that runs the command and returns its output and the pixels."""
    def run(*words, size=SMALL, told=''):
        path = tmp_path / 'picture.png'
        done = command('picture', *words, *size, '-o', path)
        # the first picture on a computer compiles its loop
        said = done.err.replace(COMPILING, '')
        assert told in said and bool(told) == bool(said)
        assert done.out.splitlines()[-1] == f'wrote {path}: {size[1]} x {size[2]} pixels'
        with Image.open(path) as picture:
            assert picture.format == 'PNG' and picture.size == size[1:]
            return done, np.array(picture.convert('RGB')).astype(int)
    return run


def drawn(pixels):
    """Return a mask of the pixels that are not background."""
    return (pixels < 250).any(axis=2)


def red(pixels):
    """Count the pixels in the red of contacts."""
    return int(((pixels[:, :, 0] > 120) & (pixels[:, :, 1:].max(axis=2) < 60)).sum())


def test_robot_is_drawn_at_its_joint_values(draw):
    """Seen from the right, the arm reaches to the right; turned round, to the left."""
    stretched = ('panda', '--from', -90, 0, '--joints', 'panda_joint2=1.2', 'panda_joint4=-0.3')
    for side, words in ((1, stretched), (-1, (*stretched, 'panda_joint1=2.89'))):
        run, pixels = draw(*words)
        assert run.code == 0 and 0.05 < drawn(pixels).mean() < 0.6 and red(pixels) == 0
        rows, columns = np.nonzero(drawn(pixels))
        base = columns[rows >= rows.max() - 3].mean()
        reach = {1: columns.max() - base, -1: base - columns.min()}
        assert reach[side] > 2 * reach[-side]


def test_contacts_are_drawn_as_red_points_and_named(draw):
    run, pixels = draw('panda', *IN_TABLE, '--timeout', 0.3)
    assert run.code == 1 and 'GOAL_IN_COLLISION' in run.out
    assert 'panda_leftfinger - table: 24.0 mm' in run.out
    below = pixels[60:]    # the words
    assert red(below) >= 4
    r, g, b = np.moveaxis(below, 2, 0)    # the robot is orange, as the viewer's ghost would be
    assert ((r > g + 40) & (g > b + 40)).sum() > 500
    run, pixels = draw('panda', '--xyz', 0.6, 0.0, 0.4, '--scene', 'table')
    assert run.code == 0 and 'mm' not in run.out
    r, g, b = np.moveaxis(pixels, 2, 0)
    assert ((r > g + 20) & (g > b + 15)).sum() > 3000    # the table is brown


def test_contacts_of_the_start_are_named(draw, tmp_path):
    scene = tmp_path / 'post.yaml'
    scene.write_text('objects: [{id: post, pose: {xyz: [0.1, 0, 0.6]}, '
                     'shapes: [{box: {size: [0.1, 0.1, 0.1]}}]}]')
    run, pixels = draw('panda', '--scene', scene)
    assert run.code == 0 and ' - post: ' in run.out and red(pixels[40:]) > 10


def test_solutions_are_drawn_side_by_side(draw):
    run, pixels = draw('panda', '--xyz', 0.45, 0.1, 0.3, '--rpy', 180, 0, 0, '--deg',
                       '--solutions', 2, '--random-state', 3, '--timeout', 0.3,
                       size=('--size', 400, 200))
    assert run.code == 0
    changes = [float(line.split('change ')[1].split()[0]) for line in run.out.splitlines()[:2]]
    assert abs(changes[0] - changes[1]) > 30 and ' deg (panda_joint' in run.out
    one, other = (drawn(pixels[:, half])[50:] for half in (slice(200), slice(200, 400)))
    assert one.sum() > 2000 and other.sum() > 2000
    assert (one != other).mean() > 0.03
    # the frame of the target, whose z is blue, is in the same place in both
    places = [np.argwhere(pixels[:, half, 2] > pixels[:, half, :2].max(axis=2) + 60)
              for half in (slice(200), slice(200, 400))]
    assert min(map(len, places)) > 20
    assert np.abs(np.subtract(*(place.mean(axis=0) for place in places))).max() < 3


def test_best_attempt_is_drawn_red(draw):
    run, pixels = draw('panda', '--xyz', 2, 0, 0.5, '--timeout', 0.1)
    assert run.code == 1
    assert ((pixels[:, :, 0] > 90) & (pixels[:, :, 1:].max(axis=2) < 60)).sum() > 500


def test_robot_without_visual_elements_shows_its_target(draw, planar_arm):
    run, pixels = draw(planar_arm, '--xyz', 0.5, 0.3, 0.1, told='no visual elements')
    assert run.code == 0 and 20 < drawn(pixels[40:]).sum() < 3000


def test_missing_mesh_is_named(command, tmp_path):
    urdf = tmp_path / 'robot.urdf'
    urdf.write_text("""<robot name="one"><link name="base"><visual><geometry>
        <mesh filename="package://gone/base.stl"/></geometry></visual></link></robot>""")
    run = command('picture', urdf, *SMALL, '-o', tmp_path / 'x.png')
    assert run.code == 0
    assert "the mesh 'package://gone/base.stl' cannot be found" in run.err


@pytest.mark.parametrize(('words', 'reason'), [
    (['panda', '-o', 'x.jpg'], "'x.jpg': only PNG files are written"),
    (['panda', '-o', 'no_folder/x.png'], "'no_folder/x.png': only PNG files"),
    (['panda'], 'required: -o/--output'),
    (['panda', '-o', 'x.png', '--size', 10, 100], "'10' is not a whole number from 100 to 8000"),
    (['panda', '-o', 'x.png', '--xyz', 1, 0, 0, '--tip', 'x'], 'INVALID_LINK_NAME: --tip: '),
    (['panda', '-o', 'x.png', '--from', 0, 'nan'], "'nan' is not a number from -360 to 360"),
])
def test_malformed_command_lines_are_refused(command, tmp_path, monkeypatch, words, reason):
    monkeypatch.chdir(tmp_path)
    assert reason in command('picture', *words).refused()
    assert not [*tmp_path.iterdir()]
