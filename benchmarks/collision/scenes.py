"""Random scenes, and random target poses of the tips in each scene."""

from collections.abc import Callable, Iterable

import numpy as np
from scipy.spatial.transform import Rotation

from ros2_ik.core import Configuration, Robot
from ros2_ik.core.scene import Box, Capsule, Cylinder, Scene, SceneObject

Targets = dict[str, np.ndarray]      # tip -> pose
FINGERS = ('panda_leftfinger', 'panda_rightfinger')
PANDA, LEFT, RIGHT = 'panda_hand_tcp', 'left_gripper', 'right_gripper'
FORWARD = Rotation.from_euler('y', np.pi / 2)     # the hand's z axis points forward
DOWN = Rotation.from_euler('x', np.pi)


def random_start(robot: Robot, tips: Iterable[str], hidden: np.ndarray,
                 generator: np.random.Generator) -> np.ndarray:
    """Return a random start; joints that do not move the tips have their values in `hidden`."""
    moving = frozenset().union(*(robot.moving_joints(tip) for tip in tips))
    return robot.to_q(robot.to_joints(robot.random_q(generator), moving), hidden)


def pose(xyz, turn: Rotation | None = None) -> np.ndarray:
    T = np.eye(4)
    T[:3, 3] = xyz
    T[:3, :3] = np.eye(3) if turn is None else turn.as_matrix()
    return T


def tilted(turn: Rotation, generator: np.random.Generator, most: float) -> Rotation:
    """Add a random rotation about the hand's z axis, and a tilt of up to `most` [rad]."""
    about = Rotation.from_euler('z', generator.uniform(-np.pi, np.pi))
    return turn * Rotation.from_rotvec(generator.uniform(-most, most, 3)) * about


def boxes(robot: Robot, **named: tuple) -> Scene:
    """Make a scene of boxes, each (size, centre)."""
    scene = Scene(robot)
    for name, (size, centre) in named.items():
        scene = scene.add(SceneObject(name, [Box(size)], pose(centre)))
    return scene


def scattered(robot: Robot, generator: np.random.Generator) -> Scene:
    """Make ten random boxes, none within 0.35 m of the robot's vertical axis."""
    scene = Scene(robot)
    while len(scene.objects) < 10:
        place = generator.uniform((-0.8, -0.8, 0), (0.8, 0.8, 1.0))
        # leave room for the robot's base
        if np.hypot(*place[:2]) < 0.35:
            continue
        T = pose(place, Rotation.random(random_state=generator.integers(2**31)))
        scene = scene.add(SceneObject(f'box {len(scene.objects)}',
                                      [Box(generator.uniform(0.05, 0.3, 3))], T))
    return scene


def shelf(robot: Robot, generator: np.random.Generator) -> Scene:
    """Make two boards with 15 cm between them, sides and a back."""
    z = generator.uniform(0.2, 0.6)
    return boxes(robot, lower=((0.35, 0.8, 0.02), (0.65, 0, z - 0.01)),
                 upper=((0.35, 0.8, 0.02), (0.65, 0, z + 0.16)),
                 left=((0.35, 0.02, 1.0), (0.65, 0.41, 0.5)),
                 right=((0.35, 0.02, 1.0), (0.65, -0.41, 0.5)),
                 back=((0.02, 0.84, 1.0), (0.84, 0, 0.5)))


def in_shelf(scene: Scene, generator: np.random.Generator) -> Targets:
    """Return a pose between the boards, with fingers that open sideways, either side up."""
    z = scene.objects['lower'].pose.translation[2] + 0.01
    side, off = generator.uniform(-0.3, 0.3), generator.uniform(-0.1, 0.1)
    about = Rotation.from_euler('z', generator.choice([0, np.pi]) + off)
    turn = Rotation.from_euler('z', side) * FORWARD * about
    return {PANDA: pose((generator.uniform(0.55, 0.7), generator.uniform(-0.25, 0.25),
                         z + generator.uniform(0.06, 0.09)), turn)}


def bin_(robot: Robot, generator: np.random.Generator) -> Scene:
    """Make an open box, 30 cm wide and 25 cm deep."""
    x, y = generator.uniform((0.4, -0.3), (0.6, 0.3))
    wall, length, deep = 0.02, 0.34, 0.25
    return boxes(robot, bottom=((length, length, wall), (x, y, 0.01)),
                 front=((wall, length, deep), (x + 0.16, y, deep / 2)),
                 rear=((wall, length, deep), (x - 0.16, y, deep / 2)),
                 left=((length, wall, deep), (x, y + 0.16, deep / 2)),
                 right=((length, wall, deep), (x, y - 0.16, deep / 2)))


def in_bin(scene: Scene, generator: np.random.Generator) -> Targets:
    """Return a pose in the bin, with a hand that points down."""
    middle = scene.objects['bottom'].pose.translation
    place = middle + generator.uniform((-0.09, -0.09, 0.05), (0.09, 0.09, 0.12))
    return {PANDA: pose(place, tilted(DOWN, generator, 0.2))}


def table(robot: Robot, generator: np.random.Generator) -> Scene:
    """Make a board on two legs in front of the arm, and a floor."""
    z = generator.uniform(0.4, 0.55)
    return boxes(robot, board=((0.6, 1.2, 0.03), (0.65, 0, z)),
                 left=((0.05, 0.05, z), (0.9, 0.55, z / 2)),
                 right=((0.05, 0.05, z), (0.9, -0.55, z / 2)),
                 floor=((2.0, 2.0, 0.02), (0, 0, -0.02)))


def under_table(scene: Scene, generator: np.random.Generator) -> Targets:
    """Return a pose below the board."""
    z = scene.objects['board'].pose.translation[2]
    turn = Rotation.from_euler('y', generator.uniform(np.pi / 2, 2.4))
    place = (generator.uniform(0.45, 0.65), generator.uniform(-0.3, 0.3),
             generator.uniform(0.12, z - 0.12))
    return {PANDA: pose(place, tilted(turn, generator, 0.1))}


def tool_beside_table(robot: Robot, generator: np.random.Generator) -> Scene:
    """Put a stick of 25 cm into the hand, and a table beside the arm."""
    scene = boxes(robot, table=((0.8, 0.6, 0.3), (0.5, generator.uniform(0.35, 0.45), 0.15)))
    stick = SceneObject('stick', [(Capsule(0.015, 0.25), pose((0, 0, 0.08)))])
    return scene.attach(stick, PANDA, ('panda_hand', *FINGERS))


def beside_table(scene: Scene, generator: np.random.Generator) -> Targets:
    """Return a pose beside the table's edge, with a hand that points down."""
    edge = scene.objects['table'].pose.translation[1] - 0.3
    place = (generator.uniform(0.3, 0.6), edge - generator.uniform(0.03, 0.06),
             generator.uniform(0.25, 0.4))
    return {PANDA: pose(place, tilted(DOWN, generator, 0.1))}


def clutter(robot: Robot, generator: np.random.Generator) -> Scene:
    """Make a table full of boxes and cylinders in front of the arm, and a board above it."""
    scene = boxes(robot, table=((0.8, 1.4, 0.04), (0.65, 0, -0.02)),
                  board=((0.35, 1.4, 0.02), (0.75, 0, generator.uniform(0.6, 0.7))))
    while len(scene.objects) < 42:
        x, y = generator.uniform((0.3, -0.65), (1.0, 0.65))
        wide, high = generator.uniform((0.03, 0.05), (0.1, 0.4))
        shape = (Box((wide, wide, high)) if generator.random() < 0.5
                 else Cylinder(wide / 2, high))
        turn = Rotation.from_euler('z', generator.uniform(-np.pi, np.pi))
        scene = scene.add(SceneObject(f'thing {len(scene.objects)}', [shape],
                                      pose((x, y, high / 2), turn)))
    return scene


def in_clutter(scene: Scene, generator: np.random.Generator) -> Targets:
    """Return a pose between the objects, with a hand that points down or away from the arm."""
    x, y = generator.uniform((0.5, -0.45), (0.75, 0.45))
    turn = Rotation.from_euler('zy', [np.arctan2(y, x), generator.uniform(np.pi / 2, np.pi)])
    return {PANDA: pose((x, y, generator.uniform(0.08, 0.3)), tilted(turn, generator, 0.1))}


def cage(robot: Robot, generator: np.random.Generator) -> Scene:
    """Make a narrow cage of vertical bars around the arm, with a roof of bars."""
    scene, wide, high = Scene(robot), generator.uniform(0.28, 0.32), generator.uniform(0.6, 0.7)
    # vertical bars on the four sides of a square
    for k, (x, y) in enumerate(side * np.array(at) for at in [
            *((wide, y) for y in np.linspace(-wide, wide, 5)),
            *((x, wide) for x in np.linspace(-wide, wide, 5))] for side in (1, -1)):
        scene = scene.add(SceneObject(f'bar {k}', [Cylinder(0.01, high)], pose((x, y, high / 2))))
    across = Rotation.from_euler('x', np.pi / 2)
    for k, x in enumerate(np.linspace(-wide, wide, 5)):
        scene = scene.add(SceneObject(f'roof {k}', [Cylinder(0.01, 2 * wide)],
                                      pose((x, 0, high), across)))
    return scene


def through_cage(scene: Scene, generator: np.random.Generator) -> Targets:
    """Return a pose outside the cage, with the hand pointing outward between two bars."""
    wide = scene.objects['bar 0'].pose.translation[0]
    place = (wide + generator.uniform(0.0, 0.1), wide * generator.choice([-0.25, 0.25]),
             generator.uniform(0.2, 0.6))
    # one of the four sides
    side = Rotation.from_euler('z', generator.integers(4) * np.pi / 2)
    turn = side * tilted(FORWARD, generator, 0.1)
    return {PANDA: pose(side.apply(place), turn)}


def anywhere(tip: str) -> Callable[[Scene, np.random.Generator], Targets]:
    """Return a function that draws the pose of a random configuration."""
    def targets(scene: Scene, generator: np.random.Generator) -> Targets:
        robot = scene.robot
        return {tip: Configuration(robot, robot.random_q(generator)).transform(tip)}
    return targets


def both_hands(scene: Scene, generator: np.random.Generator) -> Targets:
    """Return poses of both hands of a random configuration, 10 to 25 cm apart."""
    robot = scene.robot
    while True:
        at = Configuration(robot, robot.random_q(generator))
        found = {tip: at.transform(tip) for tip in (LEFT, RIGHT)}
        if 0.1 < np.linalg.norm(found[LEFT][:3, 3] - found[RIGHT][:3, 3]) < 0.25:
            return found


# name -> (robot, function that makes a scene, function that draws targets in the scene)
KINDS = {
    'scattered_panda': ('panda', scattered, anywhere(PANDA)),
    'scattered_ur5': ('ur5', scattered, anywhere('tool0')),
    'scattered_baxter': ('baxter', scattered, anywhere(LEFT)),
    'shelf': ('panda', shelf, in_shelf),
    'bin': ('panda', bin_, in_bin),
    'under_table': ('panda', table, under_table),
    'tool_beside_table': ('panda', tool_beside_table, beside_table),
    'clutter': ('panda', clutter, in_clutter),
    'cage': ('panda', cage, through_cage),
    'two_arms': ('baxter', lambda robot, generator: Scene(robot), both_hands),
}
