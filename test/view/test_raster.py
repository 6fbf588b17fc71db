"""Pictures of surfaces, compared with projections in closed form."""

import numpy as np
import pinocchio as pin
import pytest

from ros2_ik.core import Sphere

pytest.importorskip('PIL')
from ros2_ik.view.picture import camera_on, render  # noqa: E402
from ros2_ik.view.surfaces import shape_surface  # noqa: E402

RED, BLUE = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
BACK = np.array([1.0, 0, 0])    # looked at along -x: to the right is +y


def at(x=0.0, y=0.0, z=0.0):
    return pin.SE3(np.eye(3), np.array([x, y, z]))


def ball(color, x=0.0, radius=0.2):
    return shape_surface(Sphere(radius), color), at(x)


@pytest.fixture
def camera():
    """Return a camera that sees a cube of 1 m around the origin, and little more."""
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    return camera_on(corners, BACK, 1.0)


def middle(picture):
    return picture[picture.shape[0] // 2, picture.shape[1] // 2]


def test_sphere_covers_the_area_of_its_projection(camera):
    picture = render([ball(RED)], camera, 100, 100)
    covered = 1 - picture[:, :, 1].mean()    # red has no green, the ground all of it
    assert covered == pytest.approx(np.pi * 0.2 ** 2 / 1.05 ** 2, rel=0.02)
    assert np.abs(np.argwhere(picture[:, :, 1] < 0.5).mean(axis=0) - 49.5).max() < 0.1


def test_nearer_surface_hides_except_one_in_front(camera):
    far = ball(BLUE, 0.0, 0.1)
    r, _, b = middle(render([far, ball(RED, 0.3)], camera, 40, 40))
    assert r > 0.5 and b == 0
    r, _, b = middle(render([ball(RED, 0.3)], camera, 40, 40, in_front=[far]))
    assert r == 0 and b > 0.5


@pytest.mark.parametrize('back', [(1, 0, 0), (-1, 2, 0.5), (0.1, 0.1, -1)])
def test_camera_shows_all_points_in_a_view_without_gaps(back):
    points = np.random.default_rng(0).uniform(-1, 1, (50, 3)) * (0.2, 1, 3) + (5, 0, 1)
    camera = camera_on(points, np.array(back, dtype=float), 1.5)
    assert np.allclose(camera.R @ camera.R.T, np.eye(3)) and np.linalg.det(camera.R) > 0
    assert np.allclose(camera.R[2], -np.array(back) / np.linalg.norm(back))
    seen = (points @ camera.R.T)[:, :2] - camera.middle
    places = np.abs(seen) / (1.5 * camera.height / 2, camera.height / 2)
    assert 0.9 < places.max() < 1
