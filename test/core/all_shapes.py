"""Random scenes of all kinds of shapes, and comparisons of a checker with the judge."""

from collections import Counter

from fcl_judge import FclJudge
import numpy as np
from scenes import pairs, random_pose
import trimesh

from ros2_ik.core.collision import collision_checker
from ros2_ik.core.scene import (
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    HalfSpace,
    Mesh,
    OcTree,
    Plane,
    Scene,
    SceneObject,
    Sphere,
)

TIE = 1e-5      # [m]; at smaller distances and depths, the judges may differ


def random_shape(generator):
    """Return a bounded shape of any kind."""
    a, b, c = generator.uniform(0.03, 0.25, 3)
    kind = generator.integers(8)
    if kind == 6:
        return OcTree(generator.uniform(-0.2, 0.2, (12, 3)), 0.05)
    if kind == 7:
        made = [trimesh.creation.torus(0.1 + a, 0.02 + b / 5, 12, 8),
                trimesh.creation.icosphere(1, a), trimesh.creation.annulus(0.1 + a, 0.2 + a, b),
                ][generator.integers(3)]
        return Mesh(np.array(made.vertices), np.array(made.faces))
    return [lambda: Box([a, b, c]), lambda: Sphere(a), lambda: Cylinder(a, b + c),
            lambda: Cone(a, b + c), lambda: Capsule(a / 2, b),
            lambda: ConvexHull(generator.uniform(-0.2, 0.2, (10, 3)))][kind]()


def random_flat(generator):
    """Return a half-space or a plane about 0.5 m from the root, at a random orientation."""
    normal = generator.normal(size=3)
    if generator.random() < 0.4:
        normal = np.eye(3)[generator.integers(3)]
    kind = HalfSpace if generator.random() < 0.6 else Plane
    return kind(normal, -np.linalg.norm(normal) * generator.uniform(0.2, 0.8))


def random_scene(robot, generator):
    """Return a scene of up to six bounded objects and three half-spaces or planes."""
    scene = Scene(robot)
    for i in range(generator.integers(0, 7)):
        scene = scene.add(SceneObject(f'object {i}', [random_shape(generator)],
                                      random_pose(generator)))
    for i in range(generator.integers(0, 4)):
        scene = scene.add(SceneObject(f'flat {i}', [random_flat(generator)]))
    return scene


def randomly_changed(scene, generator):
    """Return the scene after a random object was moved, added or removed."""
    names = [name for name in scene.objects if name.startswith('object')]
    change = generator.integers(3)
    if change == 0 and names:
        return scene.move(str(generator.choice(names)), random_pose(generator))
    if change == 1 and scene.objects:
        return scene.remove(str(generator.choice(list(scene.objects))))
    made = random_flat(generator) if generator.random() < 0.3 else random_shape(generator)
    return scene.add(SceneObject('flat new' if isinstance(made, (HalfSpace, Plane)) else
                                 'object new', [made], random_pose(generator)))


def differences(robot, scenes, states, generator, frames=None):
    """
    Compare checkers with the judge; return counts and texts of the differences.

    `scenes` random scenes are changed four times each, and checked at `states` configurations.
    """
    counts, wrong = Counter(), []
    judge = FclJudge(robot, frames, raw=True)
    for _ in range(scenes):
        scene = random_scene(robot, generator)
        for _ in range(5):
            checker = collision_checker(robot, scene)
            for item in scene.objects.values():
                for part in item.parts:
                    getattr(part.shape, 'convex_parts', None)
            judge.surround(scene)
            for _ in range(states):
                q = robot.random_q(generator)
                wrong += _compare(checker, judge, q, counts)
            scene = randomly_changed(scene, generator)
    return counts, wrong


def _compare(checker, judge, q, counts):
    expected = judge.touching(checker.robot.to_joints(q))
    hit, found = checker.collides(q), pairs(checker.in_collision(q))
    near = checker.distances(q, 0.05)
    counts.update(states=1, touching=bool(expected), pairs=len(expected))
    wrong = []
    if hit != checker.collides(q) or hit != bool(found):
        wrong.append(f'collides returns {hit}, in_collision {found}')
    nearest = {}
    for names, d in zip(near.names, near.distance, strict=True):
        nearest[frozenset(names)] = min(d, nearest.get(frozenset(names), np.inf))
    for pair in expected:
        if nearest.get(pair, np.inf) > TIE:
            wrong.append(f'{set(pair)} touch at a distance of {nearest.get(pair)}')
    for pair in expected ^ found:
        if _is_open(judge, pair) and pair in found:
            counts['open'] += 1
        elif abs(nearest.get(pair, np.inf)) < TIE or pair in found and _gap(judge, pair) < TIE:
            counts['ties'] += 1
        else:
            text = 'missed' if pair in expected else 'false'
            wrong.append(f'{text}: {set(pair)}, distance {nearest.get(pair)}')
    return [f'{text} at {q.tolist()}' for text in wrong]


def _gap(judge, pair):
    """Return the distance [m] of two separate bounded bodies by the judge."""
    solids = [judge.solids[name] for name in pair]
    return judge.distance(*pair) if all(hasattr(solid, 'body')
                                        for some in solids for solid in some) else np.inf


def _is_open(judge, pair):
    return any(solid.mesh is not None and not solid.mesh.is_watertight
               for name in pair for solid in judge.solids[name] if hasattr(solid, 'mesh'))
