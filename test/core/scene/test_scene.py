"""Scenes: MoveIt's rules, and immutability."""

from math import nan
import pickle

from hypothesis import given, settings, strategies as st
import numpy as np
import pinocchio as pin
import pytest
from small_robots import SMALL, TWO_ARMS

from ros2_ik.core import Configuration, Robot
from ros2_ik.core.errors import (
    IKError,
    InvalidSceneError,
    UnknownFrameError,
    UnknownLinkError,
    UnknownNameError,
    UnknownObjectError,
)
from ros2_ik.core.scene import AttachedObject, Scene, SceneObject, ShapeInstance as Part
from ros2_ik.core.scene.shapes import Box, OcTree, Sphere

BOX, BALL = Box([0.2, 0.3, 0.4]), Sphere(0.1)
SRDF = '<robot name="small"><disable_collisions link1="left_a" link2="left_b"/></robot>'
ROBOT = Robot.from_urdf(TWO_ARMS, srdf=SRDF)
AT = Configuration(ROBOT, {'torso': 0.3, 'left_2': -0.5, 'left_5': 1.0, 'right_3': 0.7})
RED, BLUE = (1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 0.5)


def pose(x=0.0, y=0.0, z=0.0, turn=0.0):
    """Return a pose at x y z, rotated about an oblique axis."""
    return pin.SE3(pin.exp3(turn * np.array([0.36, 0.48, 0.8])), np.array([x, y, z]))


def close(first, second):
    return np.allclose(first.homogeneous, second.homogeneous, rtol=0, atol=1e-12)


P, Q, R = pose(1, 2, 3, 0.5), pose(-1, 0.5, 0.2, -1.1), pose(0.1, 0, -0.4, 2.0)
EMPTY = Scene(ROBOT)
CUP = SceneObject('cup', [Part(BOX, P), Part(BALL)], Q, {'rim': R}, RED)
WITH_CUP = EMPTY.add(CUP)
HELD = WITH_CUP.attach('cup', 'left_hand', ['left_e'], AT)


# -- objects ------------------------------------------------------------------------------

def test_poses_of_objects_are_copies():
    for read in (lambda: CUP.pose, lambda: CUP.parts[0].pose, lambda: CUP.subframes['rim'],
                 lambda: WITH_CUP.with_frames({'f': P}).frames['f'],
                 lambda: WITH_CUP.frame_pose('cup')):
        before = read().copy()
        read().translation[:] = 7
        assert read() == before
    given = P.copy()
    item = SceneObject('a', [BOX], given)
    given.translation[:] = 7
    assert item.pose == P
    item.subframes['new'] = P
    assert item.subframes == {}


NAN_POSE = np.full((4, 4), nan)


@pytest.mark.parametrize(('make', 'message'), [
    (lambda: SceneObject('a\nb', [BOX]), r"'a\\nb'; .*of printable characters"),
    (lambda: SceneObject('a', []), "object 'a' needs at least one part"),
    (lambda: SceneObject('a', [BOX, 'ball']), "object 'a', part 1: .*'ball'"),
    (lambda: SceneObject('a', [(BOX, NAN_POSE)]), "object 'a', part 0: pose .*finite"),
    (lambda: SceneObject('a', [BOX], np.eye(3)), r"pose of object 'a' .*\(3, 3\)"),
    (lambda: SceneObject('a', [BOX], pose(1e9)), 'further away'),
    (lambda: SceneObject('a', [BOX], P, [('s', P)]), "subframes of object 'a' must be"),
    (lambda: SceneObject('a', [BOX], P, {'': P}),
     "the name of a subframe of object 'a' must be a non-empty text"),
    (lambda: SceneObject('a', [BOX], color=(2, 0, 0, 1)), r'\[0, 1\]'),
    (lambda: SceneObject('<octomap>', [BOX]), 'octree'),
    (lambda: AttachedObject(CUP, ''), "object 'cup'"),
    (lambda: AttachedObject(CUP, 'left_hand', [3]), 'touch_links'),
    (lambda: Scene('panda'), "'panda'"),
])
def test_malformed_scene_objects_are_refused(make, message):
    with pytest.raises(InvalidSceneError, match=message):
        make()


# -- frames -------------------------------------------------------------------------------

def test_frame_pose_is_found_for_objects_subframes_links_and_joints():
    scene = WITH_CUP.with_frames({'camera': P})
    assert scene.frame_pose(None) == pin.SE3.Identity()
    assert scene.frame_pose('cup') == Q
    assert close(scene.frame_pose('cup/rim'), Q * R)
    assert scene.frame_pose('camera') == P
    assert close(scene.frame_pose('left_hand', AT), AT.placement('left_hand'))
    assert close(scene.frame_pose('left_6', AT), AT.placement('left_6'))
    assert close(scene.frame_pose('base'), pin.SE3.Identity())


def test_names_of_links_and_objects_precede_those_of_named_frames():
    scene = WITH_CUP.with_frames({'left_hand': P, 'cup': P})
    assert scene.frame_pose('cup') == Q
    assert close(scene.frame_pose('left_hand', AT), AT.placement('left_hand'))


@pytest.mark.parametrize('frame', ['left_hand', 'left_6', 'cup', 'cup/rim'])
def test_frame_on_a_moving_link_needs_a_configuration(frame):
    with pytest.raises(InvalidSceneError, match="frame 'left_[a-z0-9]+' moves .* `at`"):
        HELD.frame_pose(frame)
    with pytest.raises(InvalidSceneError, match='moves'):
        HELD.add(SceneObject('a', [BOX]), frame)


@pytest.mark.parametrize(('frame', 'similar'), [
    ('left_hnd', 'left_hand'), ('cup/rimm', 'cup/rim'), ('camra', 'camera'), ('am', None)])
def test_unknown_frame_is_refused_with_similar_names(frame, similar):
    with pytest.raises(UnknownFrameError,
                       match=f"did you mean .*'{similar}'" if similar else 'none is similar'):
        WITH_CUP.with_frames({'camera': P}).frame_pose(frame)


# -- colours ------------------------------------------------------------------------------

def test_colours_of_objects_are_set_and_removed():
    both = HELD.add(SceneObject('cup', [BALL])).with_color('cup', (0, 0, 1, 0.5))
    assert both.objects['cup'].color == both.attached['cup'].object.color == BLUE
    assert WITH_CUP.with_color('cup', None).objects['cup'].color is None


# -- refused changes ----------------------------------------------------------------------

OTHER = Configuration(Robot.from_urdf(SMALL['scara']))
REFUSED_CHANGES = [
    (lambda s: s.add('cup'), InvalidSceneError, "'cup'"),
    (lambda s: s.add(SceneObject('left_hand', [BOX])), InvalidSceneError, 'frame of the robot'),
    (lambda s: s.add(CUP, 'bse'), UnknownFrameError, "'base'"),
    (lambda s: s.add(CUP, 3), InvalidSceneError, '3'),
    (lambda s: s.add(CUP, 'right_hand'), InvalidSceneError, 'right_hand'),
    (lambda s: s.add(SceneObject('new', [BOX]), 'left_hand', OTHER), InvalidSceneError,
     'configuration of robot'),
    (lambda s: s.move('cup', P), InvalidSceneError, "attached to 'left_hand'"),
    (lambda s: s.move('box', NAN_POSE), InvalidSceneError, "pose of object 'box'"),
    (lambda s: s.move('box', P, part_poses=[P]), InvalidSceneError, '2 parts, not 1'),
    (lambda s: s.move('box', P, part_poses=[P, NAN_POSE]), InvalidSceneError, 'part 1: .*finite'),
    (lambda s: s.remove('bx'), UnknownObjectError, "did you mean 'box'"),
    (lambda s: s.remove('cup'), InvalidSceneError, 'detach it first'),
    (lambda s: s.attach('box', 'left_hnd', at=AT), UnknownLinkError, "'left_hand'"),
    (lambda s: s.attach('bx', 'left_hand', at=AT), UnknownObjectError, "'box'"),
    (lambda s: s.attach('cup', 'right_hand', at=AT), InvalidSceneError, 'detach it first'),
    (lambda s: s.attach('box', 'left_hand'), InvalidSceneError, '`at`'),
    (lambda s: s.attach('box', 'left_hand', 5, AT), InvalidSceneError, 'touch_links'),
    (lambda s: s.add(SceneObject('<octomap>', [OcTree([[0.0, 0.0, 0.0]], 0.1)]))
     .attach('<octomap>', 'base'), InvalidSceneError, 'cannot be attached'),
    (lambda s: s.attach(SceneObject('cells', [BOX, OcTree([[0.0, 0.0, 0.0]], 0.1)]), 'base'),
     InvalidSceneError, "object 'cells' has an octree, which cannot be attached"),
    (lambda s: s.detach('box', at=AT), UnknownObjectError, "'box'"),
    (lambda s: s.detach('cup'), InvalidSceneError, '`at`'),
    (lambda s: s.detach('cup', 'right_hand', AT), InvalidSceneError, "attached to 'left_hand'"),
    (lambda s: s.detach(link='hand', at=AT), UnknownLinkError, 'left_hand'),
    (lambda s: s.with_allowed({('a', 'b'): True}), InvalidSceneError, 'AllowedCollisions'),
    (lambda s: s.allow('cup', 'bx'), UnknownNameError, "'box'"),
    (lambda s: s.with_padding({'base': -0.01}), InvalidSceneError, "padding of 'base' .*-0.01"),
    (lambda s: s.with_padding({'chest': 0.1, 'bse': 0.1}), UnknownLinkError, "'base'"),
    (lambda s: s.with_color('bx', RED), UnknownObjectError, "'box'"),
    (lambda s: s.with_color('cup', [0, 0, 0, nan]), InvalidSceneError, "'cup'"),
    (lambda s: s.with_frames({'f': P, 'g': NAN_POSE}), InvalidSceneError, "frame 'g'"),
]


@pytest.mark.parametrize(('change', 'error', 'message'), REFUSED_CHANGES)
def test_malformed_changes_of_a_scene_are_refused_and_change_nothing(change, error, message):
    scene = HELD.add(SceneObject('box', [BOX, BALL], P))
    before = pickle.dumps(scene)
    with pytest.raises(error, match=message):
        change(scene)
    assert pickle.dumps(scene) == before


# -- random changes against a plain model -------------------------------------------------

IDS = ['a', 'b', 'c']
LINKS = ['base', 'left_hand', 'right_c']
POSES = [pin.SE3.Identity(), P, Q, R]
FRAMES = [None, 'base', 'left_hand', 'a', 'b', 'a/s']
operations = st.lists(st.tuples(
    st.sampled_from(['add', 'move', 'remove', 'attach', 'attach new', 'detach', 'allow',
                     'remove all', 'detach all']),
    st.sampled_from(IDS), st.sampled_from(LINKS), st.sampled_from(FRAMES),
    st.integers(0, len(POSES) - 1)), max_size=25)


class Model:
    """A scene as dictionaries, poses in the root frame at AT; refused changes return False."""

    def __init__(self):
        self.world, self.held, self.pairs = {}, {}, set()

    def frame_pose(self, frame):
        id, _, sub = (frame or '').partition('/')
        if frame is None:
            return pin.SE3.Identity()
        if frame in LINKS:
            return AT.placement(frame)
        for items in (self.held, self.world):
            if id in items and (not sub or items[id]['sub']):
                return items[id]['pose'] * (R if sub else pin.SE3.Identity())
        return None

    def make(self, frame, pose_in_frame, parts=1, sub=True):
        frame_pose = self.frame_pose(frame)
        return None if frame_pose is None else {
            'pose': frame_pose * pose_in_frame, 'parts': parts, 'sub': sub}

    def apply(self, operation, id, link, frame, pose_in_frame):
        done = getattr(self, operation.replace(' ', '_'))(id, link, frame, pose_in_frame)
        return done is not False

    def add(self, id, link, frame, pose_in_frame):
        item = self.make(frame, pose_in_frame)
        if item is None:
            return False
        self.world[id] = item

    def move(self, id, link, frame, pose_in_frame):
        item = self.make(frame, pose_in_frame)
        if id not in self.world or item is None:
            return False
        self.world[id] = {**self.world[id], 'pose': item['pose']}

    def remove(self, id, *_):
        if id not in self.world:
            return False
        del self.world[id]
        self.pairs = {pair for pair in self.pairs if id not in pair}

    def remove_all(self, *_):
        for id in list(self.world):
            self.remove(id)

    def attach(self, id, link, frame, pose_in_frame):
        if id not in self.world:
            return False
        self.held[id] = {**self.world.pop(id), 'link': link}

    def attach_new(self, id, link, frame, pose_in_frame):
        item = self.make(link if frame is None else frame, pose_in_frame)
        if item is None:
            return False
        self.world.pop(id, None)
        self.held[id] = {**item, 'link': link}

    def detach(self, id, *_):
        if id not in self.held:
            return False
        self.world.setdefault(id, self.held.pop(id))

    def detach_all(self, *_):
        for id in list(self.held):
            self.detach(id)

    def allow(self, id, link, *_):
        if id not in self.world and id not in self.held:
            return False
        self.pairs.add((id, link))


def apply_change(scene, operation, id, link, frame, pose_in_frame):
    item = SceneObject(id, [BOX], pose_in_frame, {'s': R})
    return {'add': lambda: scene.add(item, frame, AT),
            'move': lambda: scene.move(id, pose_in_frame, frame, AT),
            'remove': lambda: scene.remove(id), 'remove all': lambda: scene.remove(),
            'attach': lambda: scene.attach(id, link, at=AT),
            'attach new': lambda: scene.attach(item, link) if frame is None
            else scene.add(item, frame, AT).attach(id, link, at=AT),
            'detach': lambda: scene.detach(id, at=AT), 'detach all': lambda: scene.detach(at=AT),
            'allow': lambda: scene.allow(id, link)}[operation]()


@settings(max_examples=150)
@given(operations)
def test_random_changes_of_a_scene_agree_with_a_model(steps):
    scene, model, versions = EMPTY, Model(), {EMPTY.version: EMPTY}
    for operation, id, link, frame, index in steps:
        expected, old, before = (model.apply(operation, id, link, frame, POSES[index]), scene,
                                 pickle.dumps(scene))
        try:
            scene = apply_change(scene, operation, id, link, frame, POSES[index])
            assert expected
        except IKError:
            assert not expected
        assert pickle.dumps(old) == before
        assert versions.setdefault(scene.version, scene) == scene
        assert_equals_model(scene, model)
    unpickled = pickle.loads(pickle.dumps(scene))
    assert unpickled == scene and hash(unpickled) == hash(scene)


def assert_equals_model(scene, model):
    assert set(scene.objects) == set(model.world) and set(scene.attached) == set(model.held)
    for id, item in scene.objects.items():
        assert close(item.pose, model.world[id]['pose'])
        assert len(item.parts) == model.world[id]['parts']
    for id, held in scene.attached.items():
        assert held.link == model.held[id]['link']
        assert close(AT.placement(held.link) * held.object.pose, model.held[id]['pose'])
        assert close(scene.frame_pose(id, AT), model.held[id]['pose'])
    pairs = {pair for pair in scene.allowed.pairs if pair != ('left_a', 'left_b')}
    assert pairs == {tuple(sorted(pair)) for pair in model.pairs}


@settings(max_examples=60)
@given(operations, operations)
def test_rebased_changes_equal_changes_applied_to_the_newer_scene(own_changes, other_changes):
    """The two sequences of changes concern different objects."""
    common = ({id for _, id, *_ in own_changes} & {id for _, id, *_ in other_changes})
    base = EMPTY.add(SceneObject('given', [BOX], POSES[0]))

    def after(scene, steps):
        for operation, id, link, frame, index in steps:
            if id in common or 'all' in operation or frame not in (None, *LINKS):
                continue
            try:
                scene = apply_change(scene, operation, id, link, frame, POSES[index])
            except IKError:
                continue
        return scene
    own, other = after(base, own_changes), after(base, other_changes)
    assert own.rebased(base, other) == after(other, own_changes)
    assert own.rebased(base, base) is own and base.rebased(base, other) == other


def test_padding_and_allowed_pairs_are_rebased():
    base = EMPTY.with_padding({'left_hand': 0.1}).allow('left_hand', 'base')
    own = base.with_padding({'left_hand': 0.0, 'base': 0.02}).allow('left_hand', 'base', False)
    other = base.with_padding({'right_c': 0.3}).add(SceneObject('late', [BOX]))
    found = own.rebased(base, other)
    assert dict(found.padding) == {'base': 0.02, 'right_c': 0.3} and 'late' in found.objects
    assert not found.allowed.allowed('left_hand', 'base')


def test_rebase_keeps_an_attached_object_and_a_world_object_of_one_id():
    own = EMPTY.attach(SceneObject('tool', [BOX]), 'left_hand', at=AT)
    rebased = own.rebased(EMPTY, EMPTY.add(SceneObject('tool', [BOX])))
    assert set(rebased.objects) == set(rebased.attached) == {'tool'}
    with pytest.raises(InvalidSceneError, match='scenes of different robots'):
        own.rebased(EMPTY, Scene(Robot.load('ur5')))
