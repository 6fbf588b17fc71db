"""Topic monitored_planning_scene, with a client that applies diffs by the rules of MoveIt."""

from moveit_msgs.msg import CollisionObject, LinkPadding, PlanningScene
from node_harness import eventually
import pytest
from rclpy.qos import QoSProfile
from scene_harness import (
    applied,
    attached,
    box,
    change,
    clear_scene,
    color,
    diff,
    frame,
    get_scene,
    octomap_world,
    pose,
    position,
)

ADD, REMOVE, MOVE = CollisionObject.ADD, CollisionObject.REMOVE, CollisionObject.MOVE
FAR = pose(0.0, 0.0, 3.0)
TOPIC = '/monitored_planning_scene'


class Mirror:
    """Copy of the scene: object poses, allowed collisions, padding, frames and octomap."""

    def __init__(self, scene):
        self.messages, self.objects, self.attached, self.padding = [], {}, {}, {}
        self.frames, self.matrix, self.octomap = set(), None, []
        self.apply(scene)

    def apply(self, scene):
        self.messages.append(scene)
        if not scene.is_diff:
            self.objects, self.attached, self.padding, self.frames = {}, {}, {}, set()
            self.octomap = []
        for item in scene.robot_state.attached_collision_objects:
            assert scene.robot_state.is_diff == scene.is_diff
            if item.object.operation == REMOVE:
                self.attached.pop(item.object.id)
                self.objects.setdefault(item.object.id, 'pose when attached')
            else:
                assert item.object.operation == ADD and item.object.primitives
                self.attached[item.object.id] = item.link_name, position(item.object.pose)
                self.objects.pop(item.object.id, None)
        if not scene.is_diff or scene.allowed_collision_matrix.entry_names:
            self.matrix = scene.allowed_collision_matrix
        self.padding.update({item.link_name: item.padding for item in scene.link_padding})
        self.frames |= {item.header.frame_id for item in scene.fixed_frame_transforms}
        if scene.world.octomap.octomap.id:
            self.octomap = list(scene.world.octomap.octomap.data)
        for item in scene.world.collision_objects:
            if item.operation == REMOVE:
                del self.objects[item.id]   # MoveIt reports an error for unknown objects
            else:
                assert item.operation == ADD and item.primitives
                self.objects[item.id] = position(item.pose)

    def contents(self):
        nonzero = {link: padding for link, padding in self.padding.items() if padding}
        return self.objects, self.attached, nonzero, self.frames, self.matrix, self.octomap


@pytest.fixture(scope='module')
def mirror(client):
    """Return a copy of the scene of the node, updated by the topic."""
    eventually(lambda: client.node.count_publishers(TOPIC), 'the publisher')
    mirror = Mirror(get_scene(client))
    subscription = client.node.create_subscription(PlanningScene, TOPIC, mirror.apply,
                                                   QoSProfile(depth=100))
    publisher, = client.node.get_publishers_info_by_topic(TOPIC)
    assert publisher.topic_type == 'moveit_msgs/msg/PlanningScene'
    eventually(lambda: client.node.count_subscribers(TOPIC), 'the subscriber')
    clear_scene(client)
    yield mirror
    client.node.destroy_subscription(subscription)


def matrix_with(client, pair):
    """Return the allowed collision matrix of the scene, extended by a pair."""
    scene = get_scene(client)
    matrix = scene.allowed_collision_matrix
    first, second = (matrix.entry_names.index(name) for name in pair)
    matrix.entry_values[first].enabled[second] = matrix.entry_values[second].enabled[first] = True
    return matrix


CHANGES = {
    'added': lambda client: diff(box('a', at=FAR), box('b', at=pose(0, 1, 3)), object_colors=[
        color('a', 1.0, 0.0, 0.0, 1.0)]),
    'moved': lambda client: diff(change('a', MOVE, pose=pose(0, 0, 4))),
    'replaced': lambda client: diff(box('a', 0.2, at=FAR)),
    'attached': lambda client: diff(holding=[attached(change('a', ADD))]),
    'added attached': lambda client: diff(holding=[attached(box('b', at=FAR), 'panda_link7')]),
    'detached': lambda client: diff(holding=[attached(change('a', REMOVE), '')]),
    'detached and replaced': lambda client: diff(box('b', at=pose(0, 2, 3)),
                                                 holding=[attached(change('b', REMOVE), '')]),
    'replaced by an attached object': lambda client: diff(box('c', at=FAR), holding=[
        attached(box('a', at=FAR), 'panda_link7')]),
    'allowed': lambda client: diff(allowed_collision_matrix=matrix_with(
        client, ('panda_link0', 'panda_link6'))),
    'padded': lambda client: diff(link_padding=[LinkPadding(link_name='panda_hand',
                                                            padding=0.01)]),
    'padding removed': lambda client: diff(link_padding=[LinkPadding(link_name='panda_hand')]),
    'octomap added': lambda client: PlanningScene(is_diff=True, world=octomap_world()),
    'octomap removed': lambda client: PlanningScene(is_diff=True, world=octomap_world(False)),
    'frame added': lambda client: diff(fixed_frame_transforms=[frame('map')]),
    'removed': lambda client: diff(change('b', REMOVE)),
    'emptied': lambda client: diff(change('', REMOVE)),
    'replaced as a whole': lambda client: PlanningScene(
        name='other', allowed_collision_matrix=get_scene(client).allowed_collision_matrix),
}


# changes that are published as a diff instead of a whole scene
DIFFS = 'added', 'moved', 'replaced', 'removed', 'emptied'


def test_published_diffs_reproduce_every_change_of_the_scene(client, mirror):
    for name, message in CHANGES.items():
        count = len(mirror.messages)
        applied(client, message(client))
        eventually(lambda: len(mirror.messages) > count, f'{name}: a message')    # noqa: B023
        assert len(mirror.messages) == count + 1, name
        assert mirror.messages[-1].is_diff is (name in DIFFS), name
        assert mirror.contents() == Mirror(get_scene(client)).contents(), name
    assert mirror.messages[-1].name == 'other'
