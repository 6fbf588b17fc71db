"""Constructors of scene messages, and calls of the scene services."""

from collections.abc import Iterable
from typing import Any

from geometry_msgs.msg import Point, Pose, TransformStamped
from moveit_msgs.msg import (
    AttachedCollisionObject,
    CollisionObject,
    ObjectColor,
    PlanningScene,
    PlanningSceneComponents,
    PlanningSceneWorld,
    RobotState,
)
from node_harness import Client, robot_state
import numpy as np
from octomap_msgs.msg import Octomap, OctomapWithPose
from shape_msgs.msg import Mesh, MeshTriangle, Plane, SolidPrimitive

from ros2_ik.srv import ApplyPlanningScene, CheckState, GetPlanningScene

HOME = {'panda_joint1': 0.0, 'panda_joint2': -0.785, 'panda_joint3': 0.0, 'panda_joint4': -2.356,
        'panda_joint5': 0.0, 'panda_joint6': 1.571, 'panda_joint7': 0.785,
        'panda_finger_joint1': 0.02}     # [rad, m]


def pose(x: float = 0.0, y: float = 0.0, z: float = 0.0,
         quat: Iterable[float] = (0.0, 0.0, 0.0, 1.0)) -> Pose:
    """Return a Pose of a position and a quaternion x y z w."""
    message = Pose(position=Point(x=float(x), y=float(y), z=float(z)))
    q = message.orientation
    q.x, q.y, q.z, q.w = (float(value) for value in quat)
    return message


def solid(kind: int, *dimensions: float) -> SolidPrimitive:
    return SolidPrimitive(type=kind, dimensions=[float(value) for value in dimensions])


def box(id: str, size: float = 0.1, *, at: Pose | None = None, frame: str = '',
        operation: bytes = CollisionObject.ADD, **fields: Any) -> CollisionObject:
    """Return a CollisionObject that is a cube, by default added in the root frame."""
    message = CollisionObject(id=id, primitives=[solid(SolidPrimitive.BOX, size, size, size)],
                              pose=at or pose(), operation=operation, **fields)
    message.header.frame_id = frame
    return message


def change(id: str, operation: bytes, *, frame: str = '', **fields: Any) -> CollisionObject:
    """Return a CollisionObject with an operation, by default without shapes."""
    message = CollisionObject(id=id, operation=operation, **fields)
    message.header.frame_id = frame
    return message


def attached(item: CollisionObject, link: str = 'panda_hand',
             touch: Iterable[str] = ()) -> AttachedCollisionObject:
    """Return an AttachedCollisionObject with an object."""
    return AttachedCollisionObject(link_name=link, object=item, touch_links=list(touch))


def mesh(vertices: Any, triangles: Any) -> Mesh:
    return Mesh(vertices=[Point(x=float(x), y=float(y), z=float(z)) for x, y, z in vertices],
                triangles=[MeshTriangle(vertex_indices=list(row)) for row in triangles])


def tetrahedron() -> Mesh:
    """Return a closed mesh of four triangles."""
    return mesh([(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)],
                [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)])


def floor(height: float) -> Plane:
    """Return the plane z = height."""
    return Plane(coef=[0.0, 0.0, 1.0, -float(height)])


def octomap_world(cells: bool = True) -> PlanningSceneWorld:
    """Return a world with an octomap: one distant occupied cell, or none."""
    inner = (0b11 << 14).to_bytes(2, 'little')      # on each level the last child has children
    data = inner * 15 + b'\x02\x00' if cells else b''
    octomap = Octomap(binary=True, id='OcTree', resolution=0.1,
                      data=np.frombuffer(data, np.int8).tolist())
    return PlanningSceneWorld(octomap=OctomapWithPose(octomap=octomap))


def color(id: str, *rgba: float) -> ObjectColor:
    message = ObjectColor(id=id)
    message.color.r, message.color.g, message.color.b, message.color.a = rgba
    return message


def frame(name: str, origin: Iterable[float] = (0, 0, 0),
          child: str = 'panda_link0') -> TransformStamped:
    """Return a fixed frame transform with the origin of frame `name` in the child frame."""
    message = TransformStamped(child_frame_id=child)
    message.header.frame_id = name
    p = message.transform.translation
    p.x, p.y, p.z = (float(value) for value in origin)
    return message


def diff(*objects: CollisionObject, holding: Iterable[AttachedCollisionObject] = (),
         joints: dict[str, float] | None = None, **fields: Any) -> PlanningScene:
    """Return a scene diff with objects, attached objects (`holding`) and joints (HOME)."""
    message = PlanningScene(is_diff=True, **fields)
    message.world.collision_objects = list(objects)
    message.robot_state = robot_state(HOME if joints is None else joints)
    message.robot_state.is_diff = True
    message.robot_state.attached_collision_objects = list(holding)
    return message


def apply_scene(client: Client, scene: PlanningScene) -> Any:
    return client.call(ApplyPlanningScene, 'ros2_ik/apply_planning_scene',
                       ApplyPlanningScene.Request(scene=scene), timeout=60.0)


def applied(client: Client, scene: PlanningScene) -> str:
    """Apply a scene successfully; return the message of the reply."""
    response = apply_scene(client, scene)
    assert response.success, response.message
    return response.message


def refused(client: Client, scene: PlanningScene) -> str:
    """Apply a scene that is refused and changes nothing; return the message of the reply."""
    before = get_scene(client)
    response = apply_scene(client, scene)
    assert not response.success, response.message
    assert contents(get_scene(client)) == contents(before)
    return response.message


def clear_scene(client: Client) -> None:
    """Remove all objects, including attached objects."""
    applied(client, diff(holding=[attached(change('', CollisionObject.REMOVE), '')]))
    applied(client, diff(change('', CollisionObject.REMOVE)))


def get_scene(client: Client, components: int = 0) -> PlanningScene:
    request = GetPlanningScene.Request(components=PlanningSceneComponents(components=components))
    response = client.call(GetPlanningScene, 'ros2_ik/get_planning_scene', request)
    assert response.status == 1, response.message
    return response.scene


def contents(scene: PlanningScene) -> str:
    """Return a scene as text for comparison, without stamps and joint values."""
    scene.robot_state.joint_state = type(scene.robot_state.joint_state)()
    attached = scene.robot_state.attached_collision_objects
    for item in [*scene.world.collision_objects, *(each.object for each in attached),
                 *scene.fixed_frame_transforms, scene.world.octomap]:
        item.header.stamp.sec = item.header.stamp.nanosec = 0
    return repr(scene)


def world_objects(client: Client) -> dict[str, CollisionObject]:
    return {item.id: item for item in get_scene(client).world.collision_objects}


def attached_objects(client: Client) -> dict[str, AttachedCollisionObject]:
    return {item.object.id: item
            for item in get_scene(client).robot_state.attached_collision_objects}


def position(message: Pose) -> list[float]:
    """Return the rounded position of a Pose."""
    return [round(getattr(message.position, axis), 9) + 0.0 for axis in 'xyz']


def check_state(client: Client, joints: dict[str, float] | None = None, **fields: Any) -> Any:
    """Call check_state, by default at HOME."""
    state = fields.pop('state', None) or robot_state(HOME if joints is None else joints)
    return client.call(CheckState, 'ros2_ik/check_state',
                       CheckState.Request(state=state, **fields))


def contact_pairs(response: Any) -> set[frozenset[str]]:
    return {frozenset((c.contact_body_1, c.contact_body_2)) for c in response.contacts}


def state_holding(*items: AttachedCollisionObject, at: dict[str, float] = HOME) -> RobotState:
    """Return a RobotState with joint values and attached objects."""
    state = robot_state(at)
    state.attached_collision_objects = list(items)
    return state
