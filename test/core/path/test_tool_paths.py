"""Paths of a tool, judged by closed forms and SciPy's rotations."""

from judge import pose
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ros2_ik.core import Arc, Line, Screw, Spline, Waypoints
from ros2_ik.core.errors import InvalidTargetError

START = pose((0.4, 0.1, 0.3), (0.1, -0.2, 0.3))
END = pose((0.1, 0.5, 0.2), (0.6, 0.2, -0.4))


def test_line_is_straight_and_turns_about_one_axis():
    line = Line(START, END)
    assert line.length == pytest.approx(np.linalg.norm(END[:3, 3] - START[:3, 3]))
    assert np.allclose(line.pose(0), START) and np.allclose(line.pose(line.length), END)
    third = line.pose(line.length / 3)
    assert np.allclose(third[:3, 3], (2 * START[:3, 3] + END[:3, 3]) / 3)
    whole, part = (Rotation.from_matrix(START[:3, :3].T @ T[:3, :3]).as_rotvec()
                   for T in (END, third))
    assert np.allclose(part, whole / 3)


def test_arc_follows_the_circle_through_three_points():
    start, end = pose((1.0, 0.0, 0.2)), pose((0.0, -1.0, 0.2))
    arc = Arc(start, (0.0, 1.0, 0.2), end)      # along three quarters of the circle
    assert arc.length == pytest.approx(1.5 * np.pi)
    assert np.allclose(arc.pose(0)[:3, 3], (1, 0, 0.2))
    assert np.allclose(arc.pose(arc.length / 3)[:3, 3], (0, 1, 0.2))
    assert np.allclose(arc.pose(2 * arc.length / 3)[:3, 3], (-1, 0, 0.2))
    assert np.allclose(arc.pose(arc.length)[:3, 3], (0, -1, 0.2))


def test_screw_rotates_about_and_translates_along_its_axis():
    screw = Screw(pose((0.3, 0, 0)), (0.2, 0, 0), (0, 0, 2), 4 * np.pi, travel=0.1)
    assert screw.length == pytest.approx(max(np.hypot(0.1 * 4 * np.pi, 0.1), 0.8 * np.pi))
    quarter = screw.pose(screw.length / 8)      # a quarter turn: screw.length is two turns
    assert np.allclose(quarter[:3, 3], (0.2, 0.1, 0.1 / 8))
    assert np.allclose(quarter[:3, :3], Rotation.from_rotvec((0, 0, np.pi / 2)).as_matrix())


def test_spline_passes_through_its_poses_and_is_smooth():
    poses = [START, pose((0.3, 0.4, 0.4), (0.3, 0.1, 0.1)), END]
    spline = Spline(poses)
    for s, T in zip(spline.knots, poses, strict=True):
        assert np.allclose(spline.pose(s), T, atol=1e-9)
    fine = np.array([spline.pose(s)[:3, 3] for s in np.linspace(0, spline.length, 500)])
    speeds = np.diff(fine, axis=0) * 499 / spline.length
    assert np.linalg.norm(speeds, axis=1) == pytest.approx(np.ones(499), abs=0.01)
    assert np.linalg.norm(np.diff(speeds, axis=0), axis=1).max() < 0.05     # no corner


def test_waypoints_path_passes_through_its_poses_and_stops_at_sharp_corners():
    poses = [pose(xyz) for xyz in ((0, 0, 0), (0.3, 0, 0), (0.6, 0.08, 0), (0.6, 0.4, 0))]
    path = Waypoints(poses)
    for s, T in zip(path.knots, poses, strict=True):
        assert np.allclose(path.pose(s), T)
    assert path.stops.tolist() == [path.knots[2]]       # the first corner turns by 0.26 rad


@pytest.mark.parametrize(('make', 'words'), [
    (lambda: Line(START, START), 'length zero'),
    (lambda: Line(pose(), pose(rotvec=(np.pi, 0, 0))), 'half a turn'),
    (lambda: Line(np.eye(3), END), 'start must be a 4x4 array'),
    (lambda: Arc(START, (START[:3, 3] + END[:3, 3]) / 2, END), 'on a line'),
    (lambda: Arc(START, (0, 0), END), 'through must be 3 finite numbers'),
    (lambda: Screw(START, (0, 0, 0), (0, 0, 0), 1.0), 'axis has length zero'),
    (lambda: Screw(START, (0, 0, 0), (0, 0, 1), np.nan), 'angle must be a finite number'),
    (lambda: Screw(START, (0, 0, 0), (0, 0, 1), 0.0), 'length zero'),
    (lambda: Waypoints([START]), 'at least two poses, not 1 poses'),
    (lambda: Waypoints([START, END, END]), 'segment 2 of the path has length zero'),
    (lambda: Spline('poses'), 'two poses, not .poses.')])
def test_malformed_tool_paths_are_refused(make, words):
    with pytest.raises(InvalidTargetError, match=words):
        make()
