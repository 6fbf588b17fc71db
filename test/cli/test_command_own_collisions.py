"""`ros2_ik solve` and `constrained` without a scene: self-collisions, and unchecked links."""

import pytest
import trimesh
import yaml

OFF = 'collisions: not checked'
BALL = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
# two links of 0.5 m and 0.3 m with a ball at the foot and one at the end
ARM = f"""<robot name="arm">
  <link name="base">{BALL}</link> <link name="upper"/> <link name="fore"/>
  <link name="tip">{BALL}</link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/> <child link="upper"/> <axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" velocity="1" effort="1"/>
  </joint>
  <joint name="elbow" type="revolute">
    <parent link="upper"/> <child link="fore"/> <axis xyz="0 0 1"/> <origin xyz="0.5 0 0"/>
    <limit lower="-3.1" upper="3.1" velocity="1" effort="1"/>
  </joint>
  <joint name="end" type="fixed">
    <parent link="fore"/> <child link="tip"/> <origin xyz="0.35 0 0"/>
  </joint>
</robot>"""
NEAR = ('--tip', 'tip', '--xyz', 0.1, 0.14, 0)      # 3 cm inside the ball at the foot


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_text(ARM)
    return path


def test_self_collisions_are_checked_by_default(command, arm):
    run = command('solve', arm, *NEAR, '--json', '--timeout', 0.2)
    assert run.code == 1 and run.json['status'] == 'GOAL_IN_COLLISION'
    text, = run.json['not_checked']
    assert '2 links' in text and 'upper, fore' in text
    run = command('solve', arm, *NEAR, '--timeout', 0.2)
    assert run.code == 1 and text in run.out.splitlines() and OFF not in run.out.splitlines()


def test_missing_meshes_are_refused_unless_collisions_are_allowed(command, tmp_path):
    """No mesh of the robot is found until --package-dir names their folder."""
    trimesh.creation.icosphere(1, 0.1).export(tmp_path / 'ball.stl')
    urdf = tmp_path / 'robot' / 'arm.urdf'
    urdf.parent.mkdir()
    urdf.write_text(ARM.replace('<sphere radius="0.1"/>', '<mesh filename="ball.stl"/>'))
    reason = command('solve', urdf, *NEAR, '--timeout', 0.2).refused()
    for word in ('COLLISION_CHECKING_UNAVAILABLE', 'ball.stl', str(urdf.parent), '--package-dir',
                 '--allow-collisions'):
        assert word in reason
    run = command('solve', urdf, *NEAR, '--allow-collisions')
    assert run.code == 0 and OFF in run.out.splitlines()
    run = command('solve', urdf, *NEAR, '--package-dir', tmp_path, '--json')
    assert run.json['status'] == 'GOAL_IN_COLLISION'


@pytest.mark.parametrize('avoid', [True, False])
def test_constrained_reads_avoid_collisions(command, arm, tmp_path, avoid):
    pytest.importorskip('rclpy')
    goal = tmp_path / 'goal.yaml'
    goal.write_text(yaml.safe_dump({
        'tips': ['tip'], 'avoid_collisions': avoid, 'weights': [1, 1, 1, 0, 0, 0],
        'targets': [{'pose': {'position': {'x': 0.1, 'y': 0.14}}}],
        'timeout': {'sec': 0, 'nanosec': 200_000_000}}))
    run = command('constrained', goal, '--robot', arm, '--json')
    assert run.code == (1 if avoid else 0), run.err
    assert (OFF in run.json['not_checked']) is not avoid
