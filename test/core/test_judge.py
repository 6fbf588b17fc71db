"""The judges of tests agree with each other; the library imports no submodules of SciPy."""

import ast
import subprocess
import sys
from xml.etree import ElementTree

from judge import FileJudge, pose, pose_error, TreeJudge
import numpy as np
import pytest
from small_robots import SMALL


# without gantry: yourdfpy does not normalize its axis of length 2
@pytest.mark.parametrize('name', ['one_joint', 'scara', 'turntable', 'fingers', 'zero_links',
                                  'two_arms', 'all_fixed'])
def test_tree_judge_agrees_with_yourdfpy(name):
    tree, file = TreeJudge(SMALL[name]), FileJudge(SMALL[name])
    generator = np.random.default_rng(0)
    leaders = {joint.get('name') for joint in ElementTree.fromstring(SMALL[name]).findall('joint')
               } - set(tree.mimics)
    for _ in range(5):
        joints = {joint: generator.uniform(-3, 3) for joint in leaders}
        for link in tree.links:
            np.testing.assert_allclose(tree.transform(joints, link), file.transform(joints, link),
                                       atol=1e-12)
        first, last = tree.links[0], tree.links[-1]
        np.testing.assert_allclose(tree.transform(joints, first, last),
                                   file.transform(joints, first, last), atol=1e-12)


def test_pose_error_is_measured_along_the_weighted_axes_of_the_target():
    T_target = pose((1, 2, 3), (0, 0, np.pi / 2))
    T = T_target @ pose((0.1, 0.2, 0.3))
    assert pose_error(T, T_target) == pytest.approx((np.sqrt(0.14), 0.0))
    assert pose_error(T, T_target, (0, 1, 0, 1, 1, 1)) == pytest.approx((0.2, 0.0))
    T = T_target @ pose(rotvec=(0.0, 0.5, 0.0))
    assert pose_error(T, T_target, (1, 1, 1, 1, 0, 1)) == pytest.approx((0.0, 0.0))
    assert pose_error(T, T_target, (1, 1, 1, 0, 1, 0)) == pytest.approx((0.0, 0.5))


def test_import_of_the_library_imports_no_scipy_submodules():
    code = "import sys, ros2_ik.core; print([n for n in sys.modules if n.startswith('scipy.')])"
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    found = ast.literal_eval(done.stdout)
    assert not {'scipy.spatial', 'scipy.optimize', 'scipy.sparse'} & set(found), found
