"""`ros2_ik solve` and `constrained` without a scene: self-collisions, and unchecked links."""

import pytest
import trimesh
import yaml

OFF = 'collisions: not checked'
BALL = '<collision><geometry><sphere radius="0.12"/></geometry></collision>'
NEAR = ('--tip', 'slide', '--xyz', 0.12, 0.17, 0.02)     # 3 cm inside the ball at the foot


@pytest.fixture
def arm(planar_arm):
    """Return the URDF file of an arm with a ball at the foot and one at the end."""
    text = planar_arm.read_text()
    for link in ('base', 'slide'):
        text = text.replace(f'<link name="{link}">', f'<link name="{link}">{BALL}')
    planar_arm.write_text(text)
    return planar_arm


def test_solve_without_the_meshes_is_refused_unless_collisions_are_allowed(command, arm, tmp_path):
    """No mesh of the robot is found until --package-dir names their folder."""
    trimesh.creation.icosphere(1, 0.12).export(tmp_path / 'ball.stl')
    urdf = tmp_path / 'robot' / 'arm.urdf'
    urdf.parent.mkdir()
    urdf.write_text(arm.read_text().replace('<sphere radius="0.12"/>',
                                            '<mesh filename="ball.stl"/>'))
    reason = command('solve', urdf, *NEAR, '--timeout', 0.2).refused()
    for word in ('COLLISION_CHECKING_UNAVAILABLE', 'ball.stl', str(urdf.parent), '--package-dir',
                 '--allow-collisions'):
        assert word in reason
    run = command('solve', urdf, *NEAR, '--allow-collisions')
    assert run.code == 0 and OFF in run.out.splitlines()
    found = 'solve', urdf, *NEAR, '--package-dir', tmp_path, '--timeout', 0.2
    run = command(*found, '--json')
    assert run.code == 1 and run.json['status'] == 'GOAL_IN_COLLISION'
    text, = run.json['not_checked']
    assert '2 links' in text and 'upper, fore' in text
    run = command(*found)
    assert run.code == 1 and text in run.out.splitlines() and OFF not in run.out.splitlines()


@pytest.mark.parametrize('avoid', [True, False])
def test_constrained_reads_avoid_collisions(command, arm, tmp_path, avoid):
    pytest.importorskip('rclpy')
    goal = tmp_path / 'goal.yaml'
    goal.write_text(yaml.safe_dump({
        'tips': ['slide'], 'avoid_collisions': avoid, 'weights': [1, 1, 1, 0, 0, 0],
        'targets': [{'pose': {'position': {'x': 0.12, 'y': 0.17, 'z': 0.02}}}],
        'timeout': {'sec': 0, 'nanosec': 200_000_000}}))
    run = command('constrained', goal, '--robot', arm, '--json')
    assert run.code == (1 if avoid else 0), run.err
    assert (OFF in run.json['not_checked']) is not avoid
