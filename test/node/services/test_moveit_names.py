"""MoveIt's services under the names of move_group, offered unless another node has them."""

from geometry_msgs.msg import TransformStamped
from moveit_msgs.msg import (
    AllowedCollisionEntry,
    CollisionObject,
    Constraints,
    JointConstraint,
    LinkPadding,
    MoveItErrorCodes as Code,
    ObjectColor,
    PlanningScene,
    PlanningSceneComponents as Parts,
    PlanningSceneWorld,
    PositionIKRequest,
    RobotState,
)
from moveit_msgs.srv import (
    ApplyPlanningScene,
    GetPlanningScene,
    GetPositionFK,
    GetPositionIK,
    GetStateValidity,
)
from node_harness import eventually, matrix, reachable, robot_state, values
import numpy as np
import pytest
from scene_harness import attached, box, change, diff, HOME, octomap_world, pose
from std_msgs.msg import Header

ROOT, TIP = 'panda_link0', 'panda_hand_tcp'
pytestmark = pytest.mark.usefixtures('empty_scene')


def test_compute_ik_finds_a_solution(client, panda, panda_fk):
    target = reachable(panda, TIP, 3)
    answer = client.call(GetPositionIK, '/compute_ik', GetPositionIK.Request(
        ik_request=PositionIKRequest(group_name='arm', pose_stamped=target, ik_link_name=TIP)))
    assert answer.error_code.val == Code.SUCCESS
    np.testing.assert_allclose(panda_fk.transform(values(answer.solution), TIP, ROOT),
                               matrix(target.pose), atol=1e-4)


def fk(client, *links, state=HOME, frame=''):
    request = GetPositionFK.Request(fk_link_names=list(links), robot_state=robot_state(state))
    request.header.frame_id = frame
    return client.call(GetPositionFK, '/compute_fk', request)


def test_compute_fk_agrees_with_yourdfpy(client, panda_fk):
    answer = fk(client, TIP, 'panda_link4', frame='panda_link1')
    assert answer.error_code.val == Code.SUCCESS
    assert answer.fk_link_names == [TIP, 'panda_link4']
    for link, found in zip(answer.fk_link_names, answer.pose_stamped, strict=True):
        np.testing.assert_allclose(matrix(found.pose), panda_fk.transform(
            HOME, link, 'panda_link1'), atol=1e-9)


def test_compute_fk_refuses_unknown_links(client):
    answer = fk(client, 'nose', TIP)
    assert answer.error_code.val == Code.INVALID_LINK_NAME and not answer.fk_link_names


def validity(client, state, **constraint):
    return client.call(GetStateValidity, '/check_state_validity', GetStateValidity.Request(
        robot_state=robot_state(state), constraints=Constraints(
            joint_constraints=[JointConstraint(**constraint)] if constraint else [])))


def test_state_validity_includes_joint_constraints(client):
    for position, holds in ((0.05, True), (0.5, False)):
        answer = validity(client, HOME, joint_name='panda_joint1', position=position,
                          tolerance_above=0.1, tolerance_below=0.1)
        assert answer.valid is holds
        result, = answer.constraint_result
        assert result.result is holds
        assert result.distance == pytest.approx(max(position - 0.1, 0), abs=1e-6)


def test_state_with_an_unknown_joint_is_invalid_and_logged(client, panda_node):
    assert not validity(client, {'knee': 1.0}).valid
    eventually(lambda: 'knee' in panda_node.text, 'the log')


STATE, WORLD = 'robot_state.', 'world.'
FILLED_FIELDS = {      # by each component
    'SCENE_SETTINGS': {'name', 'robot_model_name'},
    'ROBOT_STATE': {STATE + 'joint_state'},
    'ROBOT_STATE_ATTACHED_OBJECTS': {STATE + 'joint_state', STATE + 'attached_collision_objects'},
    'WORLD_OBJECT_NAMES': {WORLD + 'collision_objects'},
    'WORLD_OBJECT_GEOMETRY': {WORLD + 'collision_objects'},
    'OCTOMAP': {WORLD + 'octomap'},
    'TRANSFORMS': {'fixed_frame_transforms'},
    'ALLOWED_COLLISION_MATRIX': {'allowed_collision_matrix'},
    'LINK_PADDING_AND_SCALING': {'link_padding'},
    'OBJECT_COLORS': {'object_colors'},
}


def filled_fields(scene):
    """Return the fields of a scene, of its state and of its world that are not empty."""
    parts = {'': (scene, PlanningScene()), STATE: (scene.robot_state, RobotState()),
             WORLD: (scene.world, PlanningSceneWorld())}
    return {prefix + field for prefix, (message, empty) in parts.items()
            for field in message.get_fields_and_field_types()
            if f'{field}.' not in parts and getattr(message, field) != getattr(empty, field)}


def test_scene_component_fills_only_its_fields(client):
    scene = diff(box('a', at=pose(0, 0, 3)), name='cell', object_colors=[ObjectColor(id='a')],
                 holding=[attached(box('b', at=pose(0, 0, 4)))],
                 link_padding=[LinkPadding(link_name='panda_hand', padding=0.001)],
                 fixed_frame_transforms=[TransformStamped(
                     header=Header(frame_id='map'), child_frame_id=ROOT)])
    scene.world.octomap = octomap_world().octomap
    apply(client, scene)
    for name, fields in {**FILLED_FIELDS, 'all': set().union(*FILLED_FIELDS.values())}.items():
        scene = client.call(GetPlanningScene, '/get_planning_scene', GetPlanningScene.Request(
            components=Parts(components=getattr(Parts, name, 0)))).scene
        assert filled_fields(scene) == fields, name


def test_moveit_names_are_offered_unless_another_node_has_them(client, start_node):
    topic = '/other/monitored_planning_scene'
    publisher = client.node.create_publisher(PlanningScene, topic, 1)
    service = client.node.create_service(GetPositionFK, '/other/compute_fk',
                                         lambda request, response: response)
    waiting = client.node.create_client(GetPositionIK, '/other/compute_ik')
    node = start_node(remappings=('__ns:=/other',), moveit_names=True)
    assert waiting.wait_for_service(30.0)
    for name in ('/other/compute_fk', topic):
        eventually(lambda name=name: f'{name} is offered by another node already' in node.text,
                   name)
    assert client.node.count_publishers(topic) == 1
    client.node.destroy_publisher(publisher)
    client.node.destroy_client(waiting)
    client.node.destroy_service(service)


def whole_scene(client):
    return client.call(GetPlanningScene, '/get_planning_scene', GetPlanningScene.Request()).scene


def apply(client, scene):
    assert client.call(ApplyPlanningScene, '/apply_planning_scene',
                       ApplyPlanningScene.Request(scene=scene)).success


def test_edited_whole_scene_is_applied(client):
    """pymoveit2 does this to allow collisions of an object, and to clear the scene."""
    apply(client, diff(box('hand_box', at=pose(0, 0, 0.05), frame='panda_hand_tcp'),
                       box('a', at=pose(0, 0, 3))))
    apply(client, diff(holding=[attached(change('a', CollisionObject.ADD))]))
    assert {'hand_box'} & {body for contact in validity(client, HOME).contacts
                           for body in (contact.contact_body_1, contact.contact_body_2)}
    scene = whole_scene(client)
    matrix = scene.allowed_collision_matrix
    for row in matrix.entry_values:
        row.enabled.append(True)
    matrix.entry_names.append('hand_box')
    matrix.entry_values.append(AllowedCollisionEntry(enabled=[True] * len(matrix.entry_names)))
    apply(client, scene)
    item, = whole_scene(client).robot_state.attached_collision_objects
    assert item.object.id == 'a'
    assert validity(client, HOME).valid
    scene.world.collision_objects = []
    scene.robot_state.attached_collision_objects = []
    apply(client, scene)
    assert not whole_scene(client).world.collision_objects
    assert not whole_scene(client).robot_state.attached_collision_objects
