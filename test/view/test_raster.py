"""Pixels of surfaces against what geometry says of them."""

import numpy as np
import pinocchio as pin
import pytest

from ros2_ik.core import Box, HalfSpace, Sphere

pytest.importorskip('trimesh')
from ros2_ik.view.raster import camera_on, render, TANGENT  # noqa: E402
from ros2_ik.view.surface import shape_surface  # noqa: E402

RED, GREEN, BLUE = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
BACK = np.array([1.0, 0, 0])    # looked at along -x: to the right is +y


def at(x=0.0, y=0.0, z=0.0):
    return pin.SE3(np.eye(3), np.array([x, y, z]))


def ball(color, x=0.0, radius=0.2, opacity=1.0):
    return shape_surface(Sphere(radius), color, opacity), at(x)


@pytest.fixture
def camera():
    """Return one that sees a cube of 1 m round the origin, and little more."""
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    return camera_on(corners, BACK, 1.0)


def middle(picture):
    return picture[picture.shape[0] // 2, picture.shape[1] // 2]


def test_a_ball_covers_the_disc_that_is_seen_of_it(camera):
    picture = render([ball(RED)], camera, 100, 100)
    covered = 1 - picture[:, :, 1].mean()    # red has no green, the ground all of it
    sine = 0.2 / camera.position[0]
    slope = sine / np.sqrt(1 - sine ** 2)
    assert covered == pytest.approx(np.pi * (slope / (2 * TANGENT)) ** 2, rel=0.02)
    assert np.abs(np.argwhere(picture[:, :, 1] < 0.5).mean(axis=0) - 49.5).max() < 0.1


def test_the_nearer_one_hides_the_other_in_any_order(camera):
    near, far = ball(RED, 0.3), ball(GREEN, -0.3)
    for bodies in ([near, far], [far, near]):
        r, g, _ = middle(render(bodies, camera, 40, 40))
        assert r > 0.5 and g == 0


def test_what_is_behind_glass_is_seen_and_what_is_before_it_hides_it(camera):
    glass = ball(BLUE, 0.0, 0.1, opacity=0.5)
    r, _, b = middle(render([ball(RED, -0.3), glass], camera, 40, 40))
    assert 0.2 < r < 0.6 and 0.2 < b < 0.6
    r, _, b = middle(render([ball(RED, 0.3), glass], camera, 40, 40))
    assert r > 0.5 and b == 0


def test_what_is_in_front_is_seen_through_everything(camera):
    r, g, _ = middle(render([ball(RED, 0.0, 0.3)], camera, 40, 40,
                            in_front=[ball(GREEN, 0.0, 0.05)]))
    assert g > 0.5 and r == 0


def test_a_floor_that_reaches_behind_the_camera_is_drawn_up_to_its_horizon(camera):
    floor = shape_surface(HalfSpace([0, 0, 1], -0.3), GREEN), at()
    picture = render([floor], camera, 60, 60)
    assert (picture[-1, :, 0] < 0.01).all()     # all of the lowest row
    assert (picture[:28] == 1).all()            # nothing above the middle


def test_sides_of_a_box_differ_in_brightness():
    box = shape_surface(Box([1, 1, 1]), RED)
    picture = render([(box, at())], camera_on(box.vertices, np.array([1.0, -1.0, 1.0]), 1.0),
                     60, 60)
    seen = picture[picture[:, :, 1] == 0][:, 0].round(2)
    values, counts = np.unique(seen, return_counts=True)
    assert (counts > 100).sum() == 3 and np.ptp(values[counts > 100]) > 0.1


@pytest.mark.parametrize('back', [(1, 0, 0), (-1, 2, 0.5), (0.1, 0.1, -1)])
def test_a_camera_has_all_points_in_view_and_comes_near(back):
    points = np.random.default_rng(0).uniform(-1, 1, (50, 3)) * (0.2, 1, 3) + (5, 0, 1)
    seen = camera_on(points, np.array(back, dtype=float), 1.5).seen(points)
    places = np.abs(seen[:, :2] / seen[:, 2:] / (1.5 * TANGENT, TANGENT))
    assert (seen[:, 2] > 0).all() and 0.9 < places.max() < 1
