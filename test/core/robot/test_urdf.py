"""URDF files: supported content, and refusals that name the element."""

import random
import re

from judge import FileJudge
import numpy as np
import pytest
from small_robots import CRANK, joint, PLANAR_2R, urdf, X, Z

from ros2_ik.core import Configuration, Robot
from ros2_ik.core.errors import RobotDescriptionError

ARM = joint('j', 'revolute', 'a', 'b', axis=Z, limits=(-1.0, 1.0))


def replaced(old, new, text=None):
    """Return a URDF with a part replaced; the part must occur in it."""
    text = urdf(ARM) if text is None else text
    assert old in text
    return text.replace(old, new)


def mimic_joints(**leaders):
    """Return a chain of joints, each of which mimics the given leader."""
    names = list(leaders)
    return urdf(*(joint(name, 'revolute', f'l{i}', f'l{i + 1}', axis=Z, limits=(-1.0, 1.0),
                        mimic=None if leaders[name] is None else (leaders[name], 1.0, 0.0))
                  for i, name in enumerate(names)))


ENTITY_BOMB = ('<?xml version="1.0"?><!DOCTYPE robot [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'
               '<robot name="&b;"><link name="base"/></robot>')

REFUSED = {
    'empty': ('', ['URDF', "''", 'valid: XML']),
    'no XML': ('<robot name="x"><link', ['URDF', 'XML']),
    'SDF': ('<sdf version="1.6"><model name="m"/></sdf>', ['<sdf>, not <robot>']),
    'xacro': ('<robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="a"/>'
              '<xacro:macro name="m"/></robot>', ['xacro']),
    'no links': ('<robot name="x"/>', ['no links']),
    'entity bomb': (ENTITY_BOMB, ['DOCTYPE', 'entities']),
    'entity reference': ('<robot name="&lol;"><link name="a"/></robot>', ['URDF', 'XML']),
    'surrogate': ('<robot name="\ud800"><link name="a"/></robot>', ['URDF']),
    'link twice': (replaced('</robot>', '<link name="b"/></robot>'), ["link 'b'", 'twice']),
    'joint twice': (urdf(ARM, joint('j', 'fixed', 'b', 'c')), ["joint 'j'", 'twice']),
    'link without name': (replaced('<link name="a">', '<link>'), ['link', 'no name']),
    'unknown type': (replaced('"revolute"', '"ball"'), ["'j'", "'ball'", 'prismatic']),
    'no parent': (replaced('<parent link="a"/>', ''), ["'j'", 'parent']),
    'unknown parent': (replaced('<parent link="a"/>', '<parent link="ghost"/>'),
                       ["'j'", "'ghost'"]),
    'two parents': (urdf(ARM, joint('k', 'fixed', 'a', 'b')), ["'b'", "'j'", "'k'"]),
    'two roots': (urdf(ARM, joint('k', 'fixed', 'c', 'd')), ["'a'", "'c'", 'root']),
    'cycle': (urdf(joint('j', 'fixed', 'a', 'b'), joint('k', 'fixed', 'b', 'a')), ['cycle']),
    'separate cycle': (urdf(ARM, joint('k', 'fixed', 'c', 'd'), joint('l', 'fixed', 'd', 'c')),
                     ['cycle']),
    'zero axis': (urdf(joint('j', 'revolute', 'a', 'b', axis=(0, 0, 0))), ["'j'", 'axis', 'zero']),
    'short axis': (urdf(joint('j', 'revolute', 'a', 'b', axis=(0, 1))), ["'j'", 'axis', '3']),
    'infinite origin': (urdf(joint('j', 'revolute', 'a', 'b', xyz=(0, 1e999, 1))),
                        ["'j'", 'origin', 'xyz']),
    'origin not numeric': (replaced('rpy="0 0 0"', 'rpy="0 0 up"'), ["'j'", 'rpy', '0 0 up']),
    'lower above upper': (urdf(joint('j', 'revolute', 'a', 'b', limits=(1.0, -1.0))),
                           ["'j'", 'lower', '1', '-1']),
    'NaN limit': (urdf(joint('j', 'revolute', 'a', 'b', limits=(float('nan'), 1.0))),
                  ["'j'", 'lower', 'nan']),
    'negative velocity': (replaced('velocity="1.0"', 'velocity="-1"'), ["'j'", 'velocity']),
    'unknown leader': (mimic_joints(a=None, b='ghost'), ["'b'", "'ghost', which does not exist"]),
    'mimic cycle': (mimic_joints(a='c', b='a', c='b'), ["'a' mimics 'c'"]),
    'leader is a mimic joint': (mimic_joints(a=None, b='a', c='b'),
                                ["'c' mimics 'b'", 'mimics no other']),
    'leader is a fixed joint': (urdf(joint('k', 'fixed', 'a', 'b'),
                                  joint('j', 'revolute', 'b', 'c', mimic=('k', 1.0, 0.0))),
                             ["'j'", "'k'"]),
    'floating mimic joint': (urdf(ARM, joint('k', 'floating', 'b', 'c', mimic=('j', 1.0, 0.0))),
                         ["'k'", 'floating']),
    'NaN multiplier': (urdf(ARM, joint('k', 'revolute', 'b', 'c',
                                       mimic=('j', float('nan'), 0.0))), ["'k'", 'mimic']),
    'follower above its leader': (CRANK, ["'first'", "'last'"]),
    'reserved name': (urdf(joint('universe', 'revolute', 'a', 'b')), ['joint', 'universe']),
    'mimic limits never satisfied': (
        urdf(ARM, joint('k', 'revolute', 'b', 'c', limits=(5.0, 6.0), mimic=('j', 1.0, 0.0))),
        ["'k'", "'j'", 'limits']),
}


@pytest.mark.parametrize('case', REFUSED)
def test_malformed_descriptions_are_refused_with_the_element(case):
    text, message_parts = REFUSED[case]
    with pytest.raises(RobotDescriptionError) as caught:
        Robot.from_urdf(text)
    for part in message_parts:
        assert part in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize('malformed', ['nan', '1 2'])
@pytest.mark.parametrize('original', ['mass value="1.5"', 'ixx="1"', 'xyz="0.01 0.1 -0.01"'])
def test_malformed_inertias_are_refused(original, malformed):
    """Urdfdom would drop them, and the centre of mass would be wrong."""
    key = original.split('"')[0]
    with pytest.raises(RobotDescriptionError, match="'a'"):
        Robot.from_urdf(replaced(original, f'{key}"{malformed}"'))


def test_missing_or_binary_urdf_file_is_refused_by_name(tmp_path):
    (tmp_path / 'arm.stl').write_bytes(bytes(range(128, 256)))
    for path in (tmp_path / 'no.urdf', str(tmp_path / 'no.urdf'), tmp_path, tmp_path / 'arm.stl'):
        with pytest.raises(RobotDescriptionError, match=f'{path}. is neither XML nor'):
            Robot.from_urdf(path)


@pytest.mark.parametrize('given, lower, upper', [
    ('', -float('inf'), float('inf')),
    ('<limit upper="0.25" effort="1" velocity="2"/>', 0.0, 0.25),
    ('<limit lower="-0.5" effort="1" velocity="2"/>', -0.5, 0.0),
    ('<limit lower="0.3" upper="0.3" effort="1" velocity="0"/>', 0.3, 0.3),
])
@pytest.mark.parametrize('kind', ['revolute', 'prismatic'])
def test_absent_limits_are_infinite_and_a_single_absent_bound_is_zero(kind, given, lower, upper):
    text = urdf(joint('j', kind, 'a', 'b', axis=X))
    robot = Robot.from_urdf(text.replace('<axis', given + '<axis'))
    assert (robot.joints[0].lower, robot.joints[0].upper) == (lower, upper)
    assert (robot.lower[0], robot.upper[0]) == (lower, upper)
    assert robot.velocity_limits[0] == (2.0 if 'velocity="2"' in given else float('inf'))


@pytest.mark.parametrize('kind', ['revolute', 'prismatic'])
@pytest.mark.parametrize('given', ['', '<limit effort="1" velocity="2"/>'])
def test_absent_limits_cause_a_warning(kind, given):
    text = urdf(joint('j', kind, 'a', 'b', axis=X), joint('k', 'revolute', 'b', 'c', axis=X,
                                                          limits=(-1.0, 1.0)))
    warning, = Robot.from_urdf(text.replace('<axis', given + '<axis', 1)).warnings
    for part in ("joint 'j'", 'unlimited', 'specification', 'absent limits are 0'):
        assert part in warning
    assert "'k'" not in warning


def test_urdf_numbers_with_line_breaks_are_read(capfd):
    """As in Unitree's hand URDFs, whose inertias urdfdom drops."""
    text = urdf(joint('j', 'continuous', 'a', 'b', xyz=(1, 2, 3), axis=X))
    given = Robot.from_urdf(text)
    for attribute in ('xyz', 'rpy', 'value', 'ixx', 'ixz', 'izz'):
        text = re.sub(f'{attribute}="([^"]*)"', attribute + '="\\n\\1\\n"', text)
    robot = Robot.from_urdf(text)
    for inertia, expected in zip(robot.model.inertias, given.model.inertias, strict=True):
        assert inertia == expected
    assert robot.model.jointPlacements[1] == given.model.jointPlacements[1]
    assert capfd.readouterr().err == ''


def test_soft_limits_of_a_joint_narrow_its_limits():
    text = replaced('<axis', '<safety_controller soft_lower_limit="-0.4" soft_upper_limit="9" '
                    'k_position="1" k_velocity="1"/><axis')
    joint_ = Robot.from_urdf(text).joints[0]
    assert (joint_.lower, joint_.upper) == (-0.4, 1.0)


@pytest.mark.parametrize('axis', ['<axis/>', '<axis name="a"/>', ''])
@pytest.mark.parametrize('kind', ['prismatic', 'continuous'])
def test_default_joint_axis_is_x(kind, axis):
    """Pinocchio reads an axis without xyz as 0 0 0, for which the Jacobian would be zero."""
    mimic = joint('k', kind, 'b', 'c', axis=X, mimic=('j', 2.0, 0.1), limits=(-9.0, 9.0))
    text = urdf(joint('j', kind, 'a', 'b', xyz=(0.1, 0.2, 0.3), axis=X), mimic)
    robot = Robot.from_urdf(text.replace(f'<axis xyz="{X[0]} 0 0"/>', axis))
    judge = FileJudge(text)     # its text has the axis 1 0 0
    at = Configuration(robot, {'j': 0.4})
    for link in 'abc':
        np.testing.assert_allclose(at.transform(link), judge.transform(at.joints, link),
                                   atol=1e-12)
    assert np.linalg.norm(at.jacobian('b')) == pytest.approx(1.0)


UNDECLARED = ('<drake:joint name="x"><drake:acceleration value="3"/></drake:joint>',
              '<sensor:camera name="eye"><a sensor:b="1"/></sensor:camera>',
              '<gazebo xmlns:body="http://x"><body:link/></gazebo>', '<a:b:c/>', '<x a:b="1"/>')


@pytest.mark.parametrize('added', UNDECLARED)
def test_undeclared_namespace_prefixes_are_ignored(added):
    """URDF files for Drake and Gazebo have such prefixes."""
    for place in ('</robot>', '<axis', '<parent', '<inertial>'):
        robot = Robot.from_urdf(replaced(place, added + place))
        assert robot.key and robot.joint_names == ('j',)
        assert robot.joint('j').lower == -1.0


def test_mutated_urdf_is_loaded_or_refused():
    generator = random.Random(0)
    robots = 0
    for _ in range(1000):
        text = list(PLANAR_2R)
        for _ in range(generator.randint(1, 4)):
            i, j = sorted(generator.randrange(len(text)) for _ in range(2))
            edit = generator.randrange(4)
            if edit == 0:
                text[i] = generator.choice('<>"/= 0-9ea\0\n&')
            elif edit == 1:
                del text[i:min(j, i + 40)]
            elif edit == 2:
                text[i:i] = text[j:j + 60]
            else:
                text[i:i] = generator.choice(['nan', 'inf', '1e999', '--', '<link/>', '"'])
        try:
            robots += Robot.from_urdf(''.join(text)).nq >= 0
        except RobotDescriptionError:
            pass
    assert robots > 10
