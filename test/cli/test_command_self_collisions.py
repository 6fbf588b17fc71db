"""`ros2_ik solve` and `constrained` without a scene: self-collisions, and unchecked links."""

import pytest
import trimesh
import yaml

NOT_CHECKED = 'collisions: not checked'
BALL = '<collision><geometry><sphere radius="0.12"/></geometry></collision>'
COLLIDING_TARGET = ('--tip', 'slide', '--xyz', 0.12, 0.17, 0.02)    # the spheres overlap by 3 cm


@pytest.fixture
def arm(planar_arm):
    """Return the URDF file of an arm with a sphere on its base and one on its last link."""
    text = planar_arm.read_text()
    for link in ('base', 'slide'):
        text = text.replace(f'<link name="{link}">', f'<link name="{link}">{BALL}')
    planar_arm.write_text(text)
    return planar_arm


def test_solve_without_the_meshes_is_refused_unless_collisions_are_allowed(command, arm, tmp_path):
    """No mesh of the robot is found until --package-dir names the folder of the meshes."""
    trimesh.creation.icosphere(1, 0.12).export(tmp_path / 'ball.stl')
    urdf = tmp_path / 'robot' / 'arm.urdf'
    urdf.parent.mkdir()
    urdf.write_text(arm.read_text().replace('<sphere radius="0.12"/>',
                                            '<mesh filename="ball.stl"/>'))
    reason = command('solve', urdf, *COLLIDING_TARGET, '--timeout', 0.2).refusal()
    for word in ('COLLISION_CHECKING_UNAVAILABLE', 'ball.stl', str(urdf.parent), '--package-dir',
                 '--allow-collisions'):
        assert word in reason
    run = command('solve', urdf, *COLLIDING_TARGET, '--allow-collisions')
    assert run.code == 0 and NOT_CHECKED in run.out.splitlines()
    with_meshes = 'solve', urdf, *COLLIDING_TARGET, '--package-dir', tmp_path, '--timeout', 0.2
    run = command(*with_meshes, '--json')
    assert run.code == 1 and run.json['status'] == 'GOAL_IN_COLLISION'
    unchecked, = run.json['not_checked']
    assert '2 links' in unchecked and 'upper, fore' in unchecked
    run = command(*with_meshes)
    lines = run.out.splitlines()
    assert run.code == 1 and unchecked in lines and NOT_CHECKED not in lines


@pytest.mark.parametrize('avoid', [True, False])
def test_constrained_reads_avoid_collisions(command, arm, tmp_path, avoid):
    goal = tmp_path / 'goal.yaml'
    goal.write_text(yaml.safe_dump({
        'avoid_collisions': avoid, 'timeout': {'nanosec': 200_000_000},
        'targets': [{'tip': 'slide', 'xyz': [0.12, 0.17, 0.02]}]}))
    run = command('constrained', goal, '--robot', arm, '--json')
    assert run.code == (1 if avoid else 0), run.err
    assert (NOT_CHECKED in run.json['not_checked']) is not avoid
