"""`ros2_ik robots`, judged by yourdfpy, closed forms and the URDF files."""

import math

import pytest

from ros2_ik.core import Robot, shipped_robots


def poses(run):
    """Return the last table by tip: x y z [m], roll pitch yaw, quaternion x y z w."""
    assert run.code == 0, run.err
    lines = run.out.splitlines()
    header = next(i for i, line in enumerate(lines) if line.startswith('tip '))
    return {line.split()[0]: [float(text) for text in line.split()[1:]]
            for line in lines[header + 1:]}


def test_pose_of_a_urdf_file_agrees_with_the_closed_form(command, planar_arm):
    pose = poses(command('robots', planar_arm, '--joints', 'shoulder=30', 'elbow=-75', 'lift=0.1',
                         '--deg'))['slide']
    a, b = math.radians(30), math.radians(-45)
    assert pose == pytest.approx([
        0.5 * math.cos(a) + 0.3 * math.cos(b), 0.5 * math.sin(a) + 0.3 * math.sin(b), 0.1,
        0, 0, -45, 0, 0, math.sin(b / 2), math.cos(b / 2)], abs=1e-4)


@pytest.mark.parametrize('name', sorted(shipped_robots()))
def test_home_pose_of_a_shipped_robot_agrees_with_yourdfpy(command, judge, name):
    shipped = shipped_robots()[name]
    pose = poses(command('robots', name))[shipped.tip]
    T = judge(name, shipped.home, shipped.tip, Robot.load(name).root_frame)
    assert pose[:3] == pytest.approx(list(T[:3, 3]), abs=1e-4)
    x, y, z, w = pose[6:]
    assert T[:3, :3] @ [0, 0, 1] == pytest.approx(
        [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], abs=1e-3)
