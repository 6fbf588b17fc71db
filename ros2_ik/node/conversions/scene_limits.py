"""How large scenes that come in messages may be, and refusals that name the parameter."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from ros2_ik.core import Mesh, Scene, ShapeInstance
from ros2_ik.node.conversions.error_context import wrong


class SceneLimits(NamedTuple):
    """Largest numbers, each the value of the parameter `max_...` of its name."""

    scene_objects: int = 10_000
    scene_shapes: int = 2000
    scene_triangles: int = 2_000_000
    mesh_triangles: int = 1_000_000
    request_shapes: int = 100
    request_triangles: int = 20_000

    @classmethod
    def of(cls, parameters: Any) -> 'SceneLimits':
        """Read the parameters."""
        return cls(*(getattr(parameters, f'max_{name}') for name in cls._fields))

    def check(self, name: str, count: int, what: str) -> None:
        """Refuse a count above the limit of that name; `what` says what there is so much of."""
        most = getattr(self, name)
        if count > most:
            raise wrong(f'{what}; parameter max_{name} allows at most {most}')

    def check_message(self, message: Any) -> None:
        """Look at a CollisionObject before anything is made of it."""
        shapes = sum(len(getattr(message, kind)) for kind in ('primitives', 'meshes', 'planes'))
        self.check('scene_shapes', shapes, f'{shapes} shapes')
        for index, mesh in enumerate(message.meshes):
            count = len(mesh.triangles)
            self.check('mesh_triangles', count, f'meshes[{index}] has {count} triangles')

    def check_change(self, old: Scene, new: Scene) -> None:
        """Refuse a scene that is too large; one that has become smaller may be too large still."""
        before, after = _Size.of(old), _Size.of(new)
        for name, was, count in zip(_Size._fields, before, after, strict=True):
            if count > was:
                self.check(f'scene_{name}', count, f'the scene would have {count} {name}')

    def check_held(self, items: Any) -> None:
        """Look at the AttachedCollisionObjects of a request, which are made for it alone."""
        shapes = triangles = 0
        for item in items:
            self.check_message(item.object)
            shapes += sum(len(getattr(item.object, kind))
                          for kind in ('primitives', 'meshes', 'planes'))
            triangles += sum(len(mesh.triangles) for mesh in item.object.meshes)
        there = 'what is held for this request alone has'
        apply = 'apply_planning_scene takes more'
        self.check('request_shapes', shapes, f'{there} {shapes} shapes ({apply})')
        self.check('request_triangles', triangles, f'{there} {triangles} triangles ({apply})')


class _Size(NamedTuple):
    objects: int
    shapes: int
    triangles: int

    @classmethod
    def of(cls, scene: Scene) -> '_Size':
        parts = list(_parts(scene))
        return cls(len(scene.objects) + len(scene.attached), len(parts),
                   sum(len(part.shape.triangles) for part in parts
                       if isinstance(part.shape, Mesh)))


def _parts(scene: Scene) -> Iterator[ShapeInstance]:
    for item in scene.objects.values():
        yield from item.parts
    for held in scene.attached.values():
        yield from held.object.parts
