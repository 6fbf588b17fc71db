"""
Collisions by python-fcl, independent of the checker.

Frames come from judge.py, meshes and their volumes from trimesh, hulls from scipy; the pairs of
links are read from the texts of URDF and SRDF. Meshes that are not watertight are surfaces.
"""

from functools import lru_cache
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

from example_data import data_folder
import fcl
from judge import FileJudge, pose
import numpy as np
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation
import trimesh

FIXED = 'fixed'


def hull(points):
    """Return the convex hull of points as fcl's type, faces outward."""
    found = ConvexHull(points)
    index = np.full(len(points), -1)
    index[found.vertices] = np.arange(len(found.vertices))
    vertices = np.asarray(points)[found.vertices]
    faces = index[found.simplices]
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    inward = np.einsum('ij,ij->i', np.cross(b - a, c - a), found.equations[:, :3]) < 0
    faces[inward] = faces[inward][:, [0, 2, 1]]
    rows = np.hstack([np.full((len(faces), 1), 3), faces]).ravel()
    return fcl.Convex(vertices, len(faces), rows)


def fcl_shape(shape):
    """Return fcl's geometry of a shape, from its dimensions, and a bounding radius."""
    kind = shape.kind
    if kind == 'box':
        return fcl.Box(*shape.size), np.linalg.norm(shape.size) / 2
    if kind == 'sphere':
        return fcl.Sphere(shape.radius), shape.radius
    if kind in ('cylinder', 'cone', 'capsule'):
        made = {'cylinder': fcl.Cylinder, 'cone': fcl.Cone, 'capsule': fcl.Capsule}[kind]
        return made(shape.radius, shape.length), shape.radius + shape.length / 2
    points = shape.points if kind == 'convex_hull' else shape.vertices
    return hull(points), np.linalg.norm(points, axis=1).max()


def support(shape, n):
    """Return the support of a bounded shape along a unit vector in its frame."""
    kind, across = shape.kind, np.hypot(n[0], n[1])
    if kind == 'box':
        return np.abs(n) @ shape.size / 2
    if kind == 'sphere':
        return shape.radius
    if kind == 'capsule':
        return shape.radius + abs(n[2]) * shape.length / 2
    if kind == 'cylinder':
        return shape.radius * across + abs(n[2]) * shape.length / 2
    if kind == 'cone':
        half = n[2] * shape.length / 2
        return max(half, shape.radius * across - half)
    points = shape.points if kind == 'convex_hull' else shape.vertices
    return (points @ n).max()


class Flat:
    """A half-space or a plane in closed form: python-fcl's own types crash."""

    radius = np.inf

    def __init__(self, shape, place):
        self.shape, self.place, self.T = shape, place, place
        self.centre = np.zeros(3)

    def move_to(self, T):
        """Move to the pose of its link or object."""
        self.T = T @ self.place

    def touches(self, solid):
        """Return whether a bounded solid is in contact."""
        n = self.T[:3, :3] @ self.shape.normal
        offset = self.shape.offset + n @ self.T[:3, 3]
        lowest, highest = solid.extent(n)
        return lowest <= offset and (self.shape.kind == 'half_space' or highest >= offset)


class Solid:
    """Geometry of a link or object: `place` is its pose there, `support` its support function."""

    def __init__(self, geometry, radius, place, support=None):
        self.geometry, self.radius, self.place, self.support = geometry, radius, place, support
        self.body = fcl.CollisionObject(geometry, fcl.Transform())
        self.centre, self.T, self.mesh = np.zeros(3), place, None
        self.samples = np.zeros((1, 3))    # a point of each connected part

    def use_triangles(self, vertices, faces):
        """Replace the geometry by triangles of a mesh, for fcl a surface without volume."""
        self.geometry = fcl.BVHModel()
        self.geometry.beginModel(len(vertices), len(faces))
        self.geometry.addSubModel(np.asarray(vertices), np.asarray(faces))
        self.geometry.endModel()
        self.body = fcl.CollisionObject(self.geometry, fcl.Transform())
        self.mesh = trimesh.Trimesh(vertices, faces)
        self.samples = np.array([part.vertices[0] for part in
                                 self.mesh.split(only_watertight=False)])

    def extent(self, n):
        """Return the interval of the projection on a unit vector n of the root frame."""
        local, middle = self.T[:3, :3].T @ n, self.centre @ n
        return middle - self.support(-local), middle + self.support(local)

    def move_to(self, T):
        """Move to the pose of its link or object."""
        T = T @ self.place
        self.centre, self.T = T[:3, 3], T
        self.body.setTransform(fcl.Transform(T[:3, :3], T[:3, 3]))


class Tree:
    """Rigid groups of links, and the pairs that an SRDF disables."""

    def __init__(self, urdf, srdf=None):
        self.root = ElementTree.fromstring(urdf)
        self._above = {joint.find('child').get('link'): joint for joint in
                       self.root.findall('joint')}
        disabled = [] if srdf is None else ElementTree.fromstring(srdf).findall(
            'disable_collisions')
        self.disabled = {frozenset((e.get('link1'), e.get('link2'))) for e in disabled}

    def carrier(self, link):
        """Return the topmost link that is rigidly connected to a link."""
        while link in self._above and self._above[link].get('type') == FIXED:
            link = self._above[link].find('parent').get('link')
        return link

    @property
    def base(self):
        """Return the root link."""
        return next(link.get('name') for link in self.root.findall('link')
                    if link.get('name') not in self._above)


cached_frames = lru_cache(maxsize=8)(FileJudge)     # by the URDF


class FclJudge:
    """
    Collisions of a robot among objects; `frames` are its forward kinematics.

    With `raw`, meshes are solids bounded by their triangles, else hulls. With `floating`, the base
    moves relative to the objects of the world.
    """

    def __init__(self, robot, frames=None, raw=False, floating=False):
        self.frames = cached_frames(robot.urdf) if frames is None else frames
        self.tree, self.raw, self.floating = Tree(robot.urdf, robot.srdf), raw, floating
        self.solids, self.links = {}, []
        self.world, self.held, self.scene = {}, {}, None
        for link in self.tree.root.findall('link'):
            found = [_solid(element, raw) for element in link.findall('collision')]
            if found:
                self.solids[link.get('name')] = found
                self.links.append(link.get('name'))

    def surround(self, scene):
        """Set the scene; the objects of another scene are converted, which takes time."""
        if scene is self.scene:
            return self
        self.scene = None
        for name in [*self.world, *self.held]:
            del self.solids[name]
        self.world = {item.id: item.pose.homogeneous for item in scene.objects.values()}
        self.held = {item.id: item for item in scene.attached.values()}
        objects = [*scene.objects.values(), *(item.object for item in self.held.values())]
        for item in objects:
            self.solids[item.id] = [solid for part in item.parts
                                    for solid in _part(part, self.raw)]
        self.pairs = [pair for pair in combinations(self.solids, 2) if self._is_checked(*pair)]
        self.scene = scene    # last, so that a failed conversion is repeated
        return self

    def exclude(self, pairs):
        """Exclude pairs of names."""
        self.pairs = [pair for pair in self.pairs if tuple(sorted(pair)) not in pairs]

    def _carrier(self, name):
        if name in self.world:
            return 'the world' if self.floating else self.tree.carrier(self.tree.base)
        return self.tree.carrier(self.held[name].link if name in self.held else name)

    def _is_checked(self, one, other):
        if self._carrier(one) == self._carrier(other):
            return False
        for name, against in ((one, other), (other, one)):
            if name in self.held and against in {*self.held[name].touch_links}:
                return False
        return frozenset((one, other)) not in self.tree.disabled

    def place(self, joints):
        """Set joint values."""
        for name, solids in self.solids.items():
            T = self.pose_of(joints, name)
            for solid in solids:
                solid.move_to(T)
        return self

    def pose_of(self, joints, name):
        """Return the pose of a link or an object in the root frame, (4, 4)."""
        if name in self.world:
            return self.world[name]
        if name in self.held:
            held = self.held[name]
            return self.frames.transform(joints, held.link) @ held.object.pose.homogeneous
        return self.frames.transform(joints, name)

    def touching(self, joints):
        """Return the pairs of names in collision, as frozensets."""
        self.place(joints)
        return {frozenset(pair) for pair in self.pairs
                if any(_touches(a, b) for a in self.solids[pair[0]] for b in self.solids[pair[1]])}

    def distance(self, one, other):
        """Return the signed distance [m] of two names at the joint values of `place`."""
        return min(distance(a.body, b.body) for a in self.solids[one] for b in self.solids[other])


def distance(one, other):
    """Return the signed distance of two objects of fcl."""
    result = fcl.DistanceResult()
    return fcl.distance(one, other, fcl.DistanceRequest(enable_signed_distance=True), result)


def _part(part, raw):
    shape, place = part.shape, part.pose.homogeneous
    if shape.kind in ('half_space', 'plane'):
        return [Flat(shape, place)]
    if shape.kind == 'octree':
        return [_cell(place, centre, shape.resolution) for centre in np.unique(
            np.floor(shape.points / shape.resolution) + 0.5, axis=0) * shape.resolution]
    solid = Solid(*fcl_shape(shape), place, lambda n: support(shape, n))
    if shape.kind == 'convex_hull':     # its origin may be outside
        solid.samples = shape.points.mean(axis=0)[None]
    if raw and shape.kind == 'mesh':
        solid.use_triangles(shape.vertices, shape.triangles)
    return [solid]


def _cell(place, centre, size):
    """Return a cube of an octree."""
    at, box = np.eye(4), SimpleNamespace(kind='box', size=np.full(3, size))
    at[:3, 3] = centre
    return Solid(*fcl_shape(box), place @ at, lambda n: support(box, n))


def _touches(a, b):
    """Return whether two solids intersect; a plane touches triangles only."""
    for flat, other in ((a, b), (b, a)):
        if isinstance(flat, Flat):
            return flat.touches(other)
    if np.linalg.norm(a.centre - b.centre) > a.radius + b.radius:
        return False
    return (fcl.collide(a.body, b.body, fcl.CollisionRequest(), fcl.CollisionResult())
            or _contains(a, b) or _contains(b, a))


def _contains(outer, inner):
    """Return whether a mesh encloses a connected part of a body."""
    if outer.mesh is None or not outer.mesh.is_watertight:
        return False
    moved = inner.samples @ inner.T[:3, :3].T + inner.T[:3, 3]
    local = (moved - outer.T[:3, 3]) @ outer.T[:3, :3]
    low, high = outer.mesh.bounds
    local = local[((local >= low) & (local <= high)).all(axis=1)]
    return len(local) and outer.mesh.contains(local).any()


def _solid(element, raw):
    origin, shape = element.find('origin'), element.find('geometry')[0]
    T = np.eye(4)
    if origin is not None:
        xyz, rpy = (np.array([float(v) for v in origin.get(key, '0 0 0').split()])
                    for key in ('xyz', 'rpy'))
        T = pose(xyz, Rotation.from_euler('xyz', rpy).as_rotvec())
    numbers = {key: [float(v) for v in text.split()] for key, text in shape.attrib.items()
               if key != 'filename'}
    if shape.tag == 'mesh':
        vertices, faces = _mesh(shape.get('filename'), numbers.get('scale', [1, 1, 1]))
        solid = Solid(hull(vertices), np.linalg.norm(vertices, axis=1).max(), T,
                      lambda n: (vertices @ n).max())
        if raw:
            solid.use_triangles(vertices, faces)
        return solid
    known = SimpleNamespace(kind=shape.tag, size=np.array(numbers.get('size', ())),
                            radius=numbers.get('radius', [0])[0],
                            length=numbers.get('length', [0])[0])
    return Solid(*fcl_shape(known), T, lambda n: support(known, n))


def _mesh(address, scale):
    path = data_folder().parents[1] / address.removeprefix('package://')
    mesh = trimesh.load(Path(path), force='mesh')
    return np.array(mesh.vertices) * scale, np.array(mesh.faces)
