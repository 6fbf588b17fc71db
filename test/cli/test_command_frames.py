"""Frames of objects, subframes and tools in a problem file, judged by yourdfpy."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
import yaml

HAND, ROOT = 'panda_hand', 'panda_link0'
SCENE = """
objects:
  - id: bin
    pose: {xyz: [0.5, 0.2, 0.1], rpy: [0, 0, 0.5]}
    shapes: [{box: {size: [0.1, 0.1, 0.1]}}]
    subframes: {grasp: {xyz: [0, 0, 0.2], rpy: [3.141592653589793, 0, 0]}}
attached:
  - id: peg
    link: panda_hand
    touch_links: [panda_leftfinger, panda_rightfinger]
    pose: {xyz: [0.01, 0, 0.13], rpy: [0.1, 0.2, 0.3]}
    shapes: [{box: {size: [0.02, 0.02, 0.08]}}]
    subframes: {tip: {xyz: [0, 0, 0.04]}}
"""


def transform(xyz, rpy=(0, 0, 0)):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = Rotation.from_euler('xyz', rpy).as_matrix(), xyz
    return T


T_HAND_TIP = transform([0.01, 0, 0.13], [0.1, 0.2, 0.3]) @ transform([0, 0, 0.04])
T_GRASP = transform([0.5, 0.2, 0.1], [0, 0, 0.5]) @ transform([0, 0, 0.2], [np.pi, 0, 0])


@pytest.fixture
def scene(tmp_path):
    path = tmp_path / 'scene.yaml'
    path.write_text(SCENE)
    return path


def test_problem_file_with_object_frames_and_a_tool_is_solved(command, judge, scene, tmp_path):
    """A tool at the tip of the attached peg goes to the bin's top; peg and bin may touch."""
    path = tmp_path / 'problem.yaml'
    content = {
        'tool': {'header': {'frame_id': 'peg/tip'}, 'pose': {'position': {'z': 0.05}}},
        'targets': [{'tip': 'tool', 'xyz': [0, 0, 0.1], 'relative_to': 'bin'}],
        'constraints': [{'kind': 'angle_between_vectors', 'frame': 'peg/tip',
                         'vector': [0, 0, 1], 'other_vector': [0, 0, 1],
                         'relative_to': 'bin/grasp', 'bounds': {'upper': 0.2}}],
        'allowed_collisions': {'entry_names': ['peg', 'bin'], 'entry_values': [
            {'enabled': [False, True]}, {'enabled': [True, False]}]}}
    path.write_text(yaml.safe_dump(content))
    run = command('constrained', path, '--robot', 'panda', '--scene', scene, '--json')
    assert run.code == 0, run.out + run.err
    tip = judge('panda', run.json['joints'], HAND, ROOT) @ T_HAND_TIP
    bin_top = transform([0.5, 0.2, 0.1], [0, 0, 0.5]) @ [0, 0, 0.1, 1]
    assert np.abs(tip @ [0, 0, 0.05, 1] - bin_top).max() < 2e-5
    assert np.arccos(tip[:3, 2] @ T_GRASP[:3, 2]) < 0.2 + 1e-5
    content['constraints'][0]['frame'] = 'pegg/tip'
    path.write_text(yaml.safe_dump(content))
    reason = command('constrained', path, '--robot', 'panda', '--scene', scene).refusal()
    assert "constraints[0] (angle_between_vectors): frame: unknown frame 'pegg/tip'; did you " \
        "mean 'peg/tip'" in reason
