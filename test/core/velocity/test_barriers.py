"""Barriers keep minimum distances and bounds at any step size, and restore them."""

from itertools import product

from example_data import data_folder
from judge import pose
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ros2_ik.core import (
    AccelerationLimit,
    Barrier,
    Box,
    CollisionBarrier,
    CollisionChecker,
    Configuration,
    ConfigurationLimit,
    frame_task,
    FrameOrientation,
    FramePosition,
    joint_velocity_task,
    MinimumDistance,
    PairDistance,
    posture_task,
    Robot,
    Scene,
    SceneObject,
    Sphere,
    twist_task,
    VelocityLimit,
    VelocityProgram,
    VelocityStatus,
)
from ros2_ik.core.errors import InvalidConstraintError, InvalidOptionError, UnknownObjectError

SLIDER = """<robot name="slider"><link name="world"/>
<link name="ball"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
<joint name="x" type="prismatic"><parent link="world"/><child link="ball"/><axis xyz="1 0 0"/>
<limit lower="-9" upper="9" velocity="100" effort="1"/></joint></robot>"""
TIP = 'panda_hand_tcp'


@pytest.fixture(scope='module')
def slider():
    return Robot.from_urdf(SLIDER)


def checker_at(robot, x, radius=0.1):
    scene = Scene(robot).add(SceneObject('ball 2', [Sphere(radius)], pose((x, 0, 0))))
    return CollisionChecker(robot, scene)


@pytest.mark.parametrize('dt', [0.1, 0.002])
@pytest.mark.parametrize('kind', ['all', 'pair'])
def test_barriers_prevent_tunnelling_through_an_obstacle(slider, dt, kind):
    """The distance is |x - 1| - 0.2; Mink tunnels at short steps."""
    checker = checker_at(slider, 1.0)
    barrier = (CollisionBarrier(checker, 0.02) if kind == 'all' else
               Barrier(PairDistance(checker, 'ball', 'ball 2'), 0.02))
    q = np.zeros(1)
    program = VelocityProgram(slider, [posture_task([5.0], lm_damping=0)], dt, barriers=[barrier])
    for _ in range(100):
        q = program.step(q).q
        assert 1 - q[0] - 0.2 >= 0.02 - 1e-6
    assert 1 - q[0] - 0.2 == pytest.approx(0.02, abs=1e-3)


@pytest.mark.parametrize('depth', [0.0, 0.02, 0.199])
@pytest.mark.parametrize('kind', ['all', 'pair'])
def test_barriers_push_out_of_contact_and_penetration(slider, depth, kind):
    """The speed is at most 0.25 m/s; Pink pushes deeper, Mink does not move."""
    checker = checker_at(slider, 1.0)
    barrier = (CollisionBarrier(checker, 0.001) if kind == 'all' else
               Barrier(PairDistance(checker, 'ball', 'ball 2'), 0.001))
    q = np.array([0.8 + depth])
    program = VelocityProgram(slider, [posture_task([5.0])], 0.01, barriers=[barrier])
    for _ in range(int(depth / 0.25 / 0.01) + 4):
        step, is_near = program.step(q), 1 - q[0] - 0.2 < 0.001 - 1e-6
        assert -0.25 - 1e-6 <= step.v[0] and (step.v[0] < 0 or not is_near)
        q = step.q
    assert 1 - q[0] - 0.2 > 0


@pytest.mark.parametrize('dt', [0.1, 0.01])
def test_barriers_avoid_moving_obstacles(slider, dt):
    """The sphere moves at 0.5 m/s; distances cached for the same q are not reused."""
    q, x = np.zeros(1), 0.5
    program = VelocityProgram(slider, [posture_task([0.0])], dt,
                              barriers=[CollisionBarrier(checker_at(slider, x), 0.02)])
    for _ in range(int(2 / dt)):
        program.set_scene(checker_at(slider, x), {'ball 2': (-0.5, 0, 0)})
        q = program.step(q).q
        x -= 0.5 * dt
        assert x - q[0] - 0.2 >= 0.02 - 1e-5
    assert q[0] < -0.6


def test_conflicting_barriers_are_reported_as_relaxed(slider):
    """The robot rests between two spheres that are closer than both margins."""
    scene = Scene(slider)
    for name, x in (('left', -0.25), ('right', 0.25)):
        scene = scene.add(SceneObject(name, [Sphere(0.1)], pose((x, 0, 0))))
    barrier = CollisionBarrier(CollisionChecker(slider, scene), 0.1)
    q = np.array([0.02])
    program = VelocityProgram(slider, [posture_task([1.0])], 0.01, barriers=[barrier])
    for _ in range(60):
        step = program.step(q)
        q = step.q
    assert step.status is VelocityStatus.RELAXED
    assert set(step.relaxed) <= {f"collisions of 'ball' and '{one}'" for one in ('left', 'right')}
    assert "relaxed: collisions of 'ball' and '" in step.message
    assert abs(q[0]) < 0.021 and abs(step.v[0]) < 1e-3


@pytest.mark.parametrize('dt, acceleration, kind', [
    (0.01, 2.0, 'twist'), (0.004, 10.0, 'constraint'), (0.01, 2.0, 'constraint')])
def test_tool_stops_at_a_wall_within_the_acceleration_limit(load, dt, acceleration, kind):
    panda = load('panda')
    q = panda.to_q({'panda_joint2': -0.6, 'panda_joint4': -2.4, 'panda_joint6': 1.8})
    start = Configuration(panda, q).transform(TIP)[:3, 3]
    wall = SceneObject('wall', [Box((0.1, 2, 2))], pose(start + [0.45, 0, 0]))
    checker = CollisionChecker(panda, Scene(panda).add(wall))
    twist = twist_task(TIP, [1.0, 0, 0, 0, 0, 0], scaled=kind == 'twist')
    program = VelocityProgram(
        panda, [twist] if kind == 'twist' else [posture_task(q, weight=1e-3)], dt,
        constraints=[twist] if kind == 'constraint' else [],
        limits=[ConfigurationLimit(), VelocityLimit(), AccelerationLimit(acceleration)],
        barriers=[CollisionBarrier(checker, 0.01)])
    before, fastest = np.zeros(panda.nv), 0.0
    for _ in range(int(3 / dt)):
        step = program.step(q)
        assert (np.abs(step.v - before) <= acceleration * dt * (1 + 1e-6)).all()
        assert not {name for name in step.relaxed if not name.startswith(TIP)}
        x = Configuration(panda, step.q).transform(TIP)[0, 3]
        fastest = max(fastest, (x - Configuration(panda, q).transform(TIP)[0, 3]) / dt)
        q, before = step.q, step.v
    assert fastest > 0.3
    assert checker.distances(q, 1.0, 1).distance[0] == pytest.approx(0.01, abs=1e-3)


@pytest.mark.parametrize('margin', [0.02, 0.2])
def test_links_closer_than_the_margin_by_design_are_reported_as_relaxed(margin):
    """Links of a UR10 are 16 to 20 mm apart; with a margin of 20 mm the arm stays slow."""
    robot = Robot.from_urdf(data_folder() / 'ur_description/urdf/ur10_robot.urdf')
    q = robot.to_q({'shoulder_lift_joint': -1.2, 'elbow_joint': 1.5, 'wrist_1_joint': -1.8,
                    'wrist_2_joint': -1.57})
    target = Configuration(robot, q).transform('ee_link')
    program = VelocityProgram(
        robot, [frame_task('ee_link', target)], 0.01,
        limits=[ConfigurationLimit(), VelocityLimit(0.5), AccelerationLimit(5.0)],
        barriers=[CollisionBarrier(CollisionChecker(robot, Scene(robot)), margin)])
    before = np.zeros(robot.nv)
    for _ in range(200):
        step = program.step(q)
        assert (np.abs(step.v - before) <= 0.05 * (1 + 1e-6)).all()
        assert step.status is VelocityStatus.RELAXED
        assert "collisions of 'wrist_2_link' and 'ee_link'" in step.relaxed
        assert 'acceleration limits' not in step.relaxed
        q, before = step.q, step.v
    if margin == 0.02:
        assert np.abs(before).max() < 0.03


FLOATING = """<robot name="floating">
<link name="box"><collision><geometry><box size="0.2 0.2 0.1"/></geometry></collision></link>
<link name="grip"/><joint name="mount" type="fixed"><parent link="box"/><child link="grip"/>
<origin xyz="0.15 0.05 0"/></joint></robot>"""


@pytest.mark.parametrize('dt, kind', [(0.002, 'all'), (0.01, 'pair'), (0.01, 'nearest')])
def test_box_pulled_down_at_one_side_stops_flat_above_a_table(dt, kind):
    """The lowest corner uses at most a tenth of the margin."""
    robot = Robot.from_urdf(FLOATING, root_joint='freeflyer')
    table = SceneObject('table', [Box((1, 1, 0.1))], pose((0, 0, -0.05)))
    checker = CollisionChecker(robot, Scene(robot).add(table))
    barrier = {'all': CollisionBarrier(checker, 0.05),
               'pair': Barrier(PairDistance(checker, 'box', 'table'), 0.05),
               'nearest': Barrier(MinimumDistance(checker, rows=3), 0.05)}[kind]
    q = robot.neutral.copy()
    q[2] = 0.2
    program = VelocityProgram(robot, [
        frame_task('grip', pose((0.15, 0.05, -0.1)), orientation_weight=0, gain_per_second=5),
        posture_task(q, weight=1e-5)], dt, barriers=[barrier])
    corners = np.array(list(product((-0.1, 0.1), (-0.1, 0.1), (-0.05, 0.05))))
    for _ in range(int(4 / dt)):
        q = program.step(q).q
        lowest = (Rotation.from_quat(q[3:]).apply(corners) + q[:3])[:, 2].min()
        assert lowest >= 0.045 - 1e-6
    assert lowest < 0.052


def test_each_barrier_keeps_its_own_margin_and_invalid_ones_are_refused(slider):
    """Margins hold after a change of the scene as well."""
    scene = checker_at(slider, 1.0).scene.add(SceneObject('left', [Sphere(0.1)], pose((-1, 0, 0))))
    checker = CollisionChecker(slider, scene)
    barriers = [CollisionBarrier(checker, 0.02),
                Barrier(PairDistance(checker, 'ball', 'left'), 0.3, name='from the left')]
    program = VelocityProgram(slider, [posture_task([5.0])], 0.01, barriers=barriers)

    def final_position(goal):
        program.set_target('posture', [goal])
        q = np.zeros(1)
        program.reset()
        for _ in range(200):
            q = program.step(q).q
        return q[0]

    assert final_position(5.0) == pytest.approx(0.78, abs=1e-3)
    assert final_position(-5.0) == pytest.approx(-0.5, abs=1e-3)
    nearer = CollisionChecker(slider, scene.add(SceneObject('left', [Sphere(0.1)],
                                                            pose((-0.8, 0, 0)))))
    program.set_scene(nearer)
    assert final_position(-5.0) == pytest.approx(-0.3, abs=1e-3)
    with pytest.raises(UnknownObjectError, match="'lfet'"):
        program.move_objects({'left': np.eye(4)}, {'lfet': [0.1, 0.0, 0.0]})
    with pytest.raises(InvalidOptionError, match='of the same robot'):
        program.set_scene(CollisionChecker(Robot.load('ur5')))
    assert final_position(-5.0) == pytest.approx(-0.3, abs=1e-3)    # nothing has changed
    with pytest.raises(InvalidOptionError, match='no CollisionBarrier'):
        VelocityProgram(slider, [], 0.01).set_scene(checker)
    with pytest.raises(InvalidOptionError, match="2 barriers have the name 'collisions'"):
        VelocityProgram(slider, [], 0.01, barriers=[CollisionBarrier(checker)] * 2)
    with pytest.raises(InvalidConstraintError, match='to another robot'):
        VelocityProgram(Robot.from_urdf(FLOATING, root_joint='freeflyer'), [], 0.01,
                        barriers=barriers[:1])


def test_unavoidable_violation_of_a_bound_is_reported():
    """A rotation vector jumps at pi: no shorter step avoids the violation."""
    robot = Robot.from_urdf("""<robot name="hinge"><link name="a"/><link name="b"/>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<limit velocity="2" effort="1"/></joint></robot>""")
    turned = FrameOrientation('b', None)
    program = VelocityProgram(robot, [joint_velocity_task(2.0)], 0.01, barriers=[
        Barrier(turned, [-1, -1, -1], [1, 1, 3.2], name='bound')])
    q, crossed, outside = np.zeros(1), 0, False
    for _ in range(400):
        step = program.step(q)
        q, before = step.q, outside
        outside = np.mod(q[0] + np.pi, 2 * np.pi) - np.pi < -1.001
        if outside and not before:
            crossed += 1
            assert step.relaxed['bound'] > 1
    assert crossed


def test_robot_stays_in_a_gap_between_objects_moving_at_the_same_speed(slider):
    """Past defect: steps were shortened for the previous pose of the object ahead."""
    balls = [SceneObject(str(x), [Sphere(0.1)], pose((x, 0, 0))) for x in (-0.206, 0.206)]
    checker = CollisionChecker(slider, Scene(slider).add(balls[0]).add(balls[1]))
    program = VelocityProgram(slider, [posture_task([0.0], weight=1e-6)], 0.01,
                              barriers=[CollisionBarrier(checker, 0.005)])
    q = np.zeros(1)
    for x in np.arange(50) * 0.01:
        program.move_objects({one.id: pose((x + float(one.id), 0, 0)) for one in balls},
                             {one.id: [1, 0, 0] for one in balls})
        q = program.step(q).q
        assert abs(q[0] - x - 0.01) < 1.1e-3


@pytest.mark.parametrize('kind', ['all', 'pair'])
def test_move_objects_equals_a_new_scene_with_moved_objects(slider, kind):
    checker = checker_at(slider, 2.0)
    barrier = (CollisionBarrier(checker, 0.02) if kind == 'all' else
               Barrier(PairDistance(checker, 'ball', 'ball 2'), 0.02))
    moved, replaced = (VelocityProgram(slider, [posture_task([5.0], lm_damping=0)], 0.01,
                                       barriers=[barrier]) for _ in range(2))
    q, x = np.zeros(1), 2.0
    for _ in range(100):
        x -= 0.01
        moved.move_objects({'ball 2': np.asfortranarray(pose((x, 0, 0)))}, {'ball 2': [-1, 0, 0]})
        replaced.set_scene(checker_at(slider, x), {'ball 2': [-1, 0, 0]})
        step = moved.step(q)
        np.testing.assert_allclose(step.q, replaced.step(q).q, rtol=0, atol=1e-12)
        q = step.q
        assert x - 0.01 - q[0] - 0.2 >= 0.02 - 1e-6    # the ball at the end of the step
    assert checker.scene.objects['ball 2'].pose.translation[0] == 2.0
    distances = checker.distances(np.zeros(1), 5.0)    # the given checker is unchanged
    assert distances.distance[0] == pytest.approx(1.8)


def test_failed_move_objects_changes_nothing(slider):
    checker = checker_at(slider, 1.0)
    program = VelocityProgram(slider, [posture_task([5.0], lm_damping=0)], 0.1,
                              barriers=[CollisionBarrier(checker, 0.02)])
    far = pose((9, 0, 0))
    with pytest.raises(UnknownObjectError, match="'cup'.*ball 2"):
        program.move_objects({'ball 2': far, 'cup': far})
    with pytest.raises(InvalidOptionError, match="velocity of 'ball 2'"):
        program.move_objects({'ball 2': far}, {'ball 2': [1, 2]})
    q = np.zeros(1)
    for _ in range(20):
        q = program.step(q).q
    assert q[0] == pytest.approx(0.78, abs=1e-3)


def test_driven_joint_near_an_object_does_not_stop_the_others(load):
    """Past defect: the left arm stopped in one step when the right gripper came near a box."""
    robot = load('baxter')
    q = robot.to_q({'left_s1': -.55, 'left_e1': .75, 'left_w1': 1.26, 'right_s1': -.55,
                    'right_e1': .75, 'right_w1': 1.26})
    scene = Scene(robot).add(SceneObject('box', [Box([.3, .3, .1])], pose((.646, -.841, -.007))))
    left, right = robot.group('left_arm').joint_names, robot.joint('right_s1').velocity_index
    program = VelocityProgram(
        robot, [joint_velocity_task(np.full(7, 0.2), names=left)], 0.004, driven=['right_s1'],
        locked=[name for name in robot.joint_names if name not in (*left, 'right_s1')],
        barriers=[CollisionBarrier(CollisionChecker(robot, scene), 0.01)])
    velocity = np.zeros(robot.nv)
    velocity[right] = 0.04
    for _ in range(150):
        program.reset(velocity)
        step = program.step(q)
        q, velocity = step.q, step.v
        assert velocity[right] == pytest.approx(0.04)
        assert velocity[robot.joint('left_w0').velocity_index] == pytest.approx(0.2, abs=1e-3)
    assert 'collisions' in step.relaxed


def test_reported_scale_includes_shortened_steps(load):
    """The path of a scaled task curves across a barrier, so that the step is halved."""
    panda, rng = load('panda'), np.random.default_rng(0)
    names = [f'panda_joint{number}' for number in range(1, 8)]
    columns = [panda.joint(name).velocity_index for name in names]
    shortened = 0
    for _ in range(100):
        q, wanted = panda.random_q(rng), rng.uniform(-4, 4, len(names))
        height = Configuration(panda, q).transform(TIP)[2, 3]
        step = VelocityProgram(
            panda, [joint_velocity_task(wanted, names=names, scaled=True)], 0.2, limits=[],
            barriers=[Barrier(FramePosition(TIP), lower=[-np.inf, -np.inf, height - 0.02])]
        ).step(q)
        part = step.v[columns] @ wanted / (wanted @ wanted)
        if np.allclose(step.v[columns], part * wanted, atol=1e-6):     # else it is deflected
            assert step.scale == pytest.approx(part, abs=1e-4)
            shortened += part < 0.6
    assert shortened > 10


@pytest.mark.parametrize('bounds', [(), ([0.01, 0.02],), (0.01, 0.3), (-np.inf, 0.3)])
def test_barrier_of_distances_without_exactly_one_lower_bound_is_refused(slider, bounds):
    distances = MinimumDistance(checker_at(slider, 1.0), 0.2, rows=2)
    with pytest.raises(InvalidConstraintError, match="'two' (of distances must|has no finite)"):
        VelocityProgram(slider, [], 0.01, barriers=[Barrier(distances, *bounds, name='two')])
