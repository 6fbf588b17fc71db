"""Obstacles around a robot, with a minimum distance from its hidden configuration."""

from collections.abc import Callable
from functools import cache, cached_property

from fcl_judge import FclJudge
import numpy as np

from constrained.geometry import frame_along, ORIGIN, some_direction, Z
from constrained.judge import Judge
from ros2_ik.core import Robot
from ros2_ik.core.collision import CollisionChecker
from ros2_ik.core.scene import Box, Scene, SceneObject, Shape, Sphere

TRIES = 200                           # maximum number of random poses of one obstacle
Place = tuple[Shape, np.ndarray]      # a shape and its pose (4, 4)


class World:
    """A robot in a scene; python-fcl measures distances, and solvers use `checker`."""

    def __init__(self, robot: Robot, scene: Scene) -> None:
        self.robot, self.scene = robot, scene

    @cached_property
    def checker(self) -> CollisionChecker:
        return CollisionChecker(self.robot, self.scene, 'hull')    # the judge has hulls, too

    def with_object(self, name: str, shape: Shape, pose: np.ndarray) -> 'World':
        return World(self.robot, self.scene.add(SceneObject(name, [shape], pose)))

    def distance(self, joints: dict[str, float], one: str, other: str) -> float:
        """Return the signed distance of two links or objects [m]."""
        return fcl_judge(self.robot).surround(self.scene).place(joints).distance(one, other)

    def clearance(self, joints: dict[str, float]) -> float:
        """Return the smallest signed distance of all pairs that may not touch [m]."""
        judge = fcl_judge(self.robot).surround(self.scene).place(joints)
        return min(judge.distance(*pair) for pair in judge.pairs)


@cache
def fcl_judge(robot: Robot) -> FclJudge:
    return FclJudge(robot)


def cluttered(at: Judge, random: np.random.Generator, apart: float) -> World | None:
    """Put a table, two boxes and two balls near the robot; None if no place is free."""
    world = World(at.robot, Scene(at.robot))
    if world.clearance(at.joints) < apart:
        return None
    for name, draw in (('table', table), ('box 1', box_near), ('box 2', box_near),
                       ('ball 1', ball_near), ('ball 2', ball_near)):
        found = placed(world, name, lambda draw=draw: draw(at, random), at, apart)
        if found is None:
            return None
        world = found
    return world


def placed(world: World, name: str, draw: Callable[[], Place], at: Judge,
           apart: float) -> World | None:
    """Draw poses until one is at least `apart` [m] from the robot; None after TRIES poses."""
    for _ in range(TRIES):
        found = world.with_object(name, *draw())
        if found.clearance(at.joints) >= apart:
            return found
    return None


def table(at: Judge, random: np.random.Generator) -> Place:
    """Make a board at a random height in front of the robot."""
    return Box((0.8, 1.2, 0.04)), upright((0.75, 0, random.uniform(-0.1, 0.6)))


def box_near(at: Judge, random: np.random.Generator) -> Place:
    return Box(random.uniform(0.05, 0.3, 3)), frame_along(random.normal(size=3),
                                                          near(at, random))


def ball_near(at: Judge, random: np.random.Generator) -> Place:
    return Sphere(random.uniform(0.03, 0.12)), upright(near(at, random))


def near(at: Judge, random: np.random.Generator) -> np.ndarray:
    """Return a point (3,) 0.1 to 0.35 m from the frame of a random moving link."""
    links = [name for name in fcl_judge(at.robot).links if at.robot.moving_joints(name)]
    direction = random.normal(size=3)
    offset = random.uniform(0.1, 0.35) * direction / np.linalg.norm(direction)
    return at.point(str(random.choice(links)), ORIGIN) + offset


def with_ball(world: World, at: Judge, random: np.random.Generator, link: str, gap: float,
              apart: float = -np.inf) -> World | None:
    """Add a ball exactly `gap` [m] from a link; all other distances are at least `apart` [m]."""
    for _ in range(TRIES):
        direction = some_direction(random)
        center = at.point(link, ORIGIN) + (gap + random.uniform(0.1, 0.4)) * direction
        # the radius that leaves exactly the gap
        radius = to_point(world, at, link, center) - gap
        if 0.03 <= radius <= 0.15:
            found = world.with_object('ball', Sphere(radius), upright(center))
            if found.clearance(at.joints) >= apart:
                return found
    return None


def to_point(world: World, at: Judge, link: str, point: np.ndarray) -> float:
    """Return the distance of a link to a point, measured to a small sphere at the point [m]."""
    probe = Sphere(1e-3)
    return probe.radius + world.with_object('probe', probe, upright(point)).distance(
        at.joints, link, 'probe')


def upright(point: np.ndarray) -> np.ndarray:
    return frame_along(Z, point)
