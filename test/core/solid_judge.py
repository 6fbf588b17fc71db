"""
Contact between solids: python-fcl for surfaces, trimesh for their insides.

Independent of the checker. Meshes that are not watertight have no inside.
"""

from fcl_judge import FclJudge, Flat, touch
import numpy as np


class SolidJudge(FclJudge):
    """Collisions of raw triangles of a robot and of mesh objects, taken as solid."""

    def __init__(self, robot, frames=None, floating=False):
        super().__init__(robot, frames, raw=True, floating=floating)

    def surround(self, scene):
        """Set the objects of a scene, meshes as triangles."""
        super().surround(scene)
        for item in (*scene.objects.values(), *(held.object for held in scene.attached.values())):
            for part, number in zip(item.parts, range(len(item.parts)), strict=True):
                if part.shape.kind == 'mesh':    # octrees, of many solids, stand alone
                    self.solids[item.id][number].take(part.shape.vertices, part.shape.triangles)
        return self

    def touching(self, joints):
        """Return the pairs of names in collision, as frozensets."""
        self.place(joints)
        return {frozenset(pair) for pair in self.pairs
                if any(solids_touch(a, b) for a in self.solids[pair[0]]
                       for b in self.solids[pair[1]])}


def solids_touch(a, b):
    """Return whether two solids of fcl_judge intersect; a plane touches triangles only."""
    for flat, other in ((a, b), (b, a)):
        if isinstance(flat, Flat):
            return flat.touches(other)
    if np.linalg.norm(a.centre - b.centre) > a.radius + b.radius:
        return False
    return touch(a.body, b.body) or _holds(a, b) or _holds(b, a)


def _holds(outer, inner):
    """Return whether a mesh encloses a part of a body without contact of their surfaces."""
    if outer.mesh is None or not outer.mesh.is_watertight:
        return False
    moved = inner.samples @ inner.T[:3, :3].T + inner.T[:3, 3]
    local = (moved - outer.T[:3, 3]) @ outer.T[:3, :3]
    low, high = outer.mesh.bounds
    local = local[((local >= low) & (local <= high)).all(axis=1)]
    return bool(len(local) and outer.mesh.contains(local).any())
