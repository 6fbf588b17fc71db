"""
An arm among ten obstacles, in one URDF file that every library of velocity_ik.py reads.

Links have the convex hulls of their meshes; obstacles are links fixed to the root; prismatic
joints (the fingers of a gripper) are fixed.
"""

from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import coal
import numpy as np
import pinocchio as pin
import trimesh

from ros2_ik.core import Box, CollisionChecker, Robot, Scene, SceneObject, Sphere

SIZE, RADIUS = 0.1, 0.06    # edge of a box, radius of a sphere [m]
DISTANCE = 0.6              # of the obstacles from the vertical axis of the arm's base [m]


@dataclass(frozen=True)
class World:
    """
    An arm, and its collision checker among the obstacles.

    `urdf` is the file with arm and obstacles; `pairs` are the pairs of links to keep apart.
    """

    robot: Robot
    checker: CollisionChecker
    urdf: Path
    pairs: list[tuple[str, str]]

    @classmethod
    def around(cls, robot: Robot, generator: np.random.Generator, folder: Path) -> 'World':
        """Make the world of a robot; write its files to a folder."""
        text = _with_hulls(robot, folder)
        bare = Robot.from_urdf(text, srdf=robot.srdf)
        scene, tree = Scene(bare), ElementTree.fromstring(text)
        # alternating boxes and spheres on a circle around the arm, at random heights
        for i in range(10):
            T, angle = np.eye(4), 2 * np.pi * i / 10
            T[:3, 3] = [DISTANCE * np.cos(angle), DISTANCE * np.sin(angle),
                        generator.uniform(0.2, 0.9)]
            shape = Sphere(RADIUS) if i % 2 else Box([SIZE] * 3)
            scene = scene.add(SceneObject(f'obstacle_{i}', [shape], T))
            _add_link(tree, bare.root_frame, f'obstacle_{i}', shape, T[:3, 3])
        urdf = folder / 'world.urdf'
        urdf.write_text(ElementTree.tostring(tree, encoding='unicode'), encoding='utf-8')
        checker = CollisionChecker(bare, scene)
        # all pairs that the checker checks, for the other libraries
        names = checker.distances(bare.neutral, np.inf, checker.pair_count).names
        return cls(bare, checker, urdf, sorted(set(names)))

    def geometry(self, model: pin.Model) -> pin.GeometryModel:
        """Return the shapes and pairs as Pinocchio's geometry."""
        found = pin.buildGeomFromUrdf(model, str(self.urdf), pin.GeometryType.COLLISION)
        of_link: dict[str, list[int]] = {}
        for i, item in enumerate(found.geometryObjects):
            of_link.setdefault(model.frames[item.parentFrame].name, []).append(i)
            # a mesh of a hull becomes a convex shape, whose distances are faster
            if isinstance(item.geometry, coal.BVHModelBase):
                item.geometry.buildConvexRepresentation(False)
                item.geometry = item.geometry.convex
        for first, second in self.pairs:
            for a in of_link[first]:
                for b in of_link[second]:
                    found.addCollisionPair(pin.CollisionPair(a, b))
        return found

    def nearest(self, path: np.ndarray) -> float:
        """Return the smallest distance of any pair along joint values (k, nq) [m]."""
        model = pin.buildModelFromUrdf(str(self.urdf))
        geometry = self.geometry(model)
        data, found = model.createData(), geometry.createData()
        least = np.inf
        for q in path:
            pin.computeDistances(model, data, geometry, found, q)
            least = min(least, *(result.min_distance for result in found.distanceResults))
        return least


def _with_hulls(robot: Robot, folder: Path) -> str:
    """Return the URDF with hull files instead of meshes, without visuals and moving fingers."""
    tree = ElementTree.fromstring(robot.urdf)
    for joint in tree.iter('joint'):
        if joint.get('type') == 'prismatic':
            joint.set('type', 'fixed')
            for mimic in joint.findall('mimic'):
                joint.remove(mimic)
    for link in tree.iter('link'):
        for visual in link.findall('visual'):
            link.remove(visual)
        for i, mesh in enumerate(link.iter('mesh')):
            source = mesh.get('filename').removeprefix('package://')
            found = next(path for base in robot.package_dirs
                         if (path := Path(base) / source).is_file())
            file = folder / f'{link.get("name")}_{i}.stl'
            trimesh.load(found, force='mesh').convex_hull.export(file)
            mesh.set('filename', str(file))
    return ElementTree.tostring(tree, encoding='unicode')


def _add_link(tree: ElementTree.Element, root: str, name: str, shape: Box | Sphere,
              place: np.ndarray) -> None:
    link = ElementTree.SubElement(tree, 'link', name=name)
    geometry = ElementTree.SubElement(ElementTree.SubElement(link, 'collision'), 'geometry')
    if isinstance(shape, Sphere):
        ElementTree.SubElement(geometry, 'sphere', radius=str(RADIUS))
    else:
        ElementTree.SubElement(geometry, 'box', size=' '.join([str(SIZE)] * 3))
    joint = ElementTree.SubElement(tree, 'joint', name=f'{name}_joint', type='fixed')
    ElementTree.SubElement(joint, 'parent', link=root)
    ElementTree.SubElement(joint, 'child', link=name)
    ElementTree.SubElement(joint, 'origin', xyz=' '.join(map(str, place)))
