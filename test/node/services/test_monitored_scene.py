"""Topic monitored_planning_scene, followed by a client that applies MoveIt's rules for diffs."""

from moveit_msgs.msg import CollisionObject, LinkPadding, PlanningScene
from node_harness import eventually
import pytest
from rclpy.qos import QoSProfile
from scene_harness import (
    applied,
    attached,
    box,
    change,
    color,
    diff,
    empty,
    frame,
    get,
    octomap_world,
    place,
    pose,
)

ADD, REMOVE, MOVE = CollisionObject.ADD, CollisionObject.REMOVE, CollisionObject.MOVE
FAR = pose(0.0, 0.0, 3.0)
TOPIC = '/monitored_planning_scene'


class Mirror:
    """Scene of a client of the topic: poses of objects, allowed collisions, padding, frames."""

    def __init__(self, scene):
        self.messages, self.objects, self.held, self.padding = [], {}, {}, {}
        self.frames, self.matrix, self.octomap = set(), None, []
        self.take(scene)

    def take(self, scene):
        self.messages.append(scene)
        if not scene.is_diff:
            self.objects, self.held, self.padding, self.frames = {}, {}, {}, set()
            self.octomap = []
        for item in scene.robot_state.attached_collision_objects:
            assert scene.robot_state.is_diff == scene.is_diff
            if item.object.operation == REMOVE:
                self.held.pop(item.object.id)
                self.objects.setdefault(item.object.id, 'where it was held')
            else:
                assert item.object.operation == ADD and item.object.primitives
                self.held[item.object.id] = item.link_name, place(item.object.pose)
                self.objects.pop(item.object.id, None)
        if not scene.is_diff or scene.allowed_collision_matrix.entry_names:
            self.matrix = scene.allowed_collision_matrix
        self.padding.update({one.link_name: one.padding for one in scene.link_padding})
        self.frames |= {one.header.frame_id for one in scene.fixed_frame_transforms}
        if scene.world.octomap.octomap.id:
            self.octomap = list(scene.world.octomap.octomap.data)
        for item in scene.world.collision_objects:
            if item.operation == REMOVE:
                del self.objects[item.id]   # MoveIt complains where there is none
            else:
                assert item.operation == ADD and item.primitives
                self.objects[item.id] = place(item.pose)

    def contents(self):
        used = {link: padding for link, padding in self.padding.items() if padding}
        return self.objects, self.held, used, self.frames, self.matrix, self.octomap


@pytest.fixture(scope='module')
def mirrored(client):
    """Return a mirror of the scene of the node."""
    eventually(lambda: client.node.count_publishers(TOPIC), 'the publisher')
    mirror = Mirror(get(client))
    subscription = client.node.create_subscription(PlanningScene, TOPIC, mirror.take,
                                                   QoSProfile(depth=100))
    publisher, = client.node.get_publishers_info_by_topic(TOPIC)
    assert publisher.topic_type == 'moveit_msgs/msg/PlanningScene'
    eventually(lambda: client.node.count_subscribers(TOPIC), 'the subscriber')
    empty(client)
    yield mirror
    client.node.destroy_subscription(subscription)


def allowing(client, pair):
    """Return the collision matrix of the scene with another allowed pair."""
    scene = get(client)
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
    'attached anew': lambda client: diff(holding=[attached(box('b', at=FAR), 'panda_link7')]),
    'detached': lambda client: diff(holding=[attached(change('a', REMOVE), '')]),
    'detached, and replaced': lambda client: diff(box('b', at=pose(0, 2, 3)),
                                                  holding=[attached(change('b', REMOVE), '')]),
    'held and gone': lambda client: diff(box('c', at=FAR), holding=[
        attached(box('a', at=FAR), 'panda_link7')]),
    'allowed': lambda client: diff(allowed_collision_matrix=allowing(
        client, ('panda_link0', 'panda_link6'))),
    'padded': lambda client: diff(link_padding=[LinkPadding(link_name='panda_hand',
                                                            padding=0.01)]),
    'not padded': lambda client: diff(link_padding=[LinkPadding(link_name='panda_hand')]),
    'mapped': lambda client: PlanningScene(is_diff=True, world=octomap_world()),
    'not mapped': lambda client: PlanningScene(is_diff=True, world=octomap_world(cells=False)),
    'framed': lambda client: diff(fixed_frame_transforms=[frame('map')]),
    'removed': lambda client: diff(change('b', REMOVE)),
    'emptied': lambda client: diff(change('', REMOVE)),
    'replaced as a whole': lambda client: PlanningScene(
        name='other', allowed_collision_matrix=get(client).allowed_collision_matrix),
}


WHOLE = ('attached', 'attached anew', 'detached', 'detached, and replaced', 'held and gone',
         'allowed', 'padded', 'not padded', 'mapped', 'not mapped', 'framed',
         'replaced as a whole')


def test_published_diffs_reproduce_every_change_of_the_scene(client, mirrored):
    for what, message in CHANGES.items():
        count = len(mirrored.messages)
        applied(client, message(client))
        eventually(lambda: len(mirrored.messages) > count, f'{what}: a message')    # noqa: B023
        assert len(mirrored.messages) == count + 1, what
        assert mirrored.messages[-1].is_diff is (what not in WHOLE), what
        assert mirrored.contents() == Mirror(get(client)).contents(), what
    assert mirrored.messages[-1].name == 'other'
