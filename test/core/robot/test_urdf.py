"""URDF files: supported content, and refusals with the name of the element."""

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
    """Return a URDF with a part replaced; the part must be present."""
    text = urdf(ARM) if text is None else text
    assert old in text
    return text.replace(old, new)


def followers(**leaders):
    """Return joints in a chain, each of which mimics the given one."""
    names = list(leaders)
    return urdf(*(joint(name, 'revolute', f'l{i}', f'l{i + 1}', axis=Z, limits=(-1.0, 1.0),
                        mimic=None if leaders[name] is None else (leaders[name], 1.0, 0.0))
                  for i, name in enumerate(names)))


BOMB = ('<?xml version="1.0"?><!DOCTYPE robot [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'
        '<robot name="&b;"><link name="base"/></robot>')

REFUSED = {
    'empty': ('', ['URDF', "''"]),
    'no XML': ('<robot name="x"><link', ['URDF', 'XML']),
    'SDF': ('<sdf version="1.6"><model name="m"/></sdf>', ['<sdf>, not <robot>']),
    'xacro': ('<robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="a"/>'
              '<xacro:macro name="m"/></robot>', ['xacro']),
    'no links': ('<robot name="x"/>', ['no links']),
    'entity bomb': (BOMB, ['DOCTYPE', 'entities']),
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
    'circle': (urdf(joint('j', 'fixed', 'a', 'b'), joint('k', 'fixed', 'b', 'a')), ['cycle']),
    'circle apart': (urdf(ARM, joint('k', 'fixed', 'c', 'd'), joint('l', 'fixed', 'd', 'c')),
                     ['cycle']),
    'zero axis': (urdf(joint('j', 'revolute', 'a', 'b', axis=(0, 0, 0))), ["'j'", 'axis', 'zero']),
    'short axis': (urdf(joint('j', 'revolute', 'a', 'b', axis=(0, 1))), ["'j'", 'axis', '3']),
    'infinite origin': (urdf(joint('j', 'revolute', 'a', 'b', xyz=(0, 1e999, 1))),
                        ["'j'", 'origin', 'xyz']),
    'origin of words': (replaced('rpy="0 0 0"', 'rpy="0 0 up"'), ["'j'", 'rpy', '0 0 up']),
    'limits upside down': (urdf(joint('j', 'revolute', 'a', 'b', limits=(1.0, -1.0))),
                           ["'j'", 'lower', '1', '-1']),
    'NaN limit': (urdf(joint('j', 'revolute', 'a', 'b', limits=(float('nan'), 1.0))),
                  ["'j'", 'lower', 'nan']),
    'negative velocity': (replaced('velocity="1.0"', 'velocity="-1"'), ["'j'", 'velocity']),
    'mimics nobody': (followers(a=None, b='ghost'), ["'b'", "'ghost'"]),
    'mimics in a circle': (followers(a='c', b='a', c='b'), ["'a' mimics 'c'"]),
    'mimics a mimic': (followers(a=None, b='a', c='b'), ["'c' mimics 'b'", 'mimics no other']),
    'mimics a fixed joint': (urdf(joint('k', 'fixed', 'a', 'b'),
                                  joint('j', 'revolute', 'b', 'c', mimic=('k', 1.0, 0.0))),
                             ["'j'", "'k'"]),
    'a floating mimic': (urdf(ARM, joint('k', 'floating', 'b', 'c', mimic=('j', 1.0, 0.0))),
                         ["'k'", 'floating']),
    'NaN multiplier': (urdf(ARM, joint('k', 'revolute', 'b', 'c',
                                       mimic=('j', float('nan'), 0.0))), ["'k'", 'mimic']),
    'follower above its leader': (CRANK, ["'first'", "'last'"]),
    "Pinocchio's own name": (urdf(joint('universe', 'revolute', 'a', 'b')), ['joint', 'universe']),
    'limits that a mimic cannot keep': (
        urdf(ARM, joint('k', 'revolute', 'b', 'c', limits=(5.0, 6.0), mimic=('j', 1.0, 0.0))),
        ["'k'", "'j'", 'limits']),
}


@pytest.mark.parametrize('case', REFUSED)
def test_malformed_descriptions_are_refused_by_name(case):
    text, words = REFUSED[case]
    with pytest.raises(RobotDescriptionError) as caught:
        Robot.from_urdf(text)
    for word in words:
        assert word in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize('bad', ['nan', '1 2'])
@pytest.mark.parametrize('good', ['mass value="1.5"', 'ixx="1"', 'xyz="0.01 0.1 -0.01"'])
def test_malformed_inertias_are_refused(good, bad):
    """Urdfdom would drop them, and the centre of mass would be wrong."""
    key = good.split('"')[0]
    with pytest.raises(RobotDescriptionError, match="'a'"):
        Robot.from_urdf(replaced(good, f'{key}"{bad}"'))


def test_missing_file_is_named(tmp_path):
    with pytest.raises(RobotDescriptionError, match=r'nothing\.urdf'):
        Robot.from_urdf(tmp_path / 'nothing.urdf')
    with pytest.raises(RobotDescriptionError, match=r'nothing\.urdf'):
        Robot.from_urdf(str(tmp_path / 'nothing.urdf'))
    with pytest.raises(RobotDescriptionError):
        Robot.from_urdf(tmp_path)


@pytest.mark.parametrize('given, lower, upper', [
    ('', -float('inf'), float('inf')),
    ('<limit upper="0.25" effort="1" velocity="2"/>', 0.0, 0.25),
    ('<limit lower="-0.5" effort="1" velocity="2"/>', -0.5, 0.0),
    ('<limit lower="0.3" upper="0.3" effort="1" velocity="0"/>', 0.3, 0.3),
])
@pytest.mark.parametrize('kind', ['revolute', 'prismatic'])
def test_absent_limits_are_infinite(kind, given, lower, upper):
    text = urdf(joint('j', kind, 'a', 'b', axis=X))
    robot = Robot.from_urdf(text.replace('<axis', given + '<axis'))
    assert (robot.joints[0].lower, robot.joints[0].upper) == (lower, upper)
    assert (robot.lower[0], robot.upper[0]) == (lower, upper)
    assert robot.velocity_limits[0] == (2.0 if 'velocity="2"' in given else float('inf'))


@pytest.mark.parametrize('kind', ['revolute', 'prismatic'])
@pytest.mark.parametrize('given', ['', '<limit effort="1" velocity="2"/>'])
def test_absent_limits_are_a_warning(kind, given):
    text = urdf(joint('j', kind, 'a', 'b', axis=X), joint('k', 'revolute', 'b', 'c', axis=X,
                                                          limits=(-1.0, 1.0)))
    warning, = Robot.from_urdf(text.replace('<axis', given + '<axis', 1)).warnings
    for word in ("joint 'j'", 'unlimited', 'specification', 'absent limits are 0'):
        assert word in warning
    assert "'k'" not in warning


def test_numbers_with_line_breaks_are_read(capfd):
    """As the inertias of Unitree's hands, which urdfdom drops."""
    text = urdf(joint('j', 'continuous', 'a', 'b', xyz=(1, 2, 3), axis=X))
    given = Robot.from_urdf(text)
    for attribute in ('xyz', 'rpy', 'value', 'ixx', 'ixz', 'izz'):
        text = re.sub(f'{attribute}="([^"]*)"', attribute + '="\\n\\1\\n"', text)
    robot = Robot.from_urdf(text)
    for one, other in zip(robot.model.inertias, given.model.inertias, strict=True):
        assert one == other
    assert robot.model.jointPlacements[1] == given.model.jointPlacements[1]
    assert capfd.readouterr().err == ''


def test_soft_limits_narrow_the_limits():
    text = replaced('<axis', '<safety_controller soft_lower_limit="-0.4" soft_upper_limit="9" '
                    'k_position="1" k_velocity="1"/><axis')
    joint_ = Robot.from_urdf(text).joints[0]
    assert (joint_.lower, joint_.upper) == (-0.4, 1.0)


@pytest.mark.parametrize('axis', ['<axis/>', '<axis name="a"/>', ''])
@pytest.mark.parametrize('kind', ['prismatic', 'continuous'])
def test_default_axis_is_x(kind, axis):
    """Pinocchio takes 0 0 0 for an axis without xyz: the Jacobian is zero."""
    mimic = joint('k', kind, 'b', 'c', axis=X, mimic=('j', 2.0, 0.1), limits=(-9.0, 9.0))
    text = urdf(joint('j', kind, 'a', 'b', xyz=(0.1, 0.2, 0.3), axis=X), mimic)
    robot = Robot.from_urdf(text.replace(f'<axis xyz="{X[0]} 0 0"/>', axis))
    judge = FileJudge(text)     # which is told 1 0 0
    at = Configuration(robot, {'j': 0.4})
    for link in 'abc':
        np.testing.assert_allclose(at.transform(link), judge.transform(at.joints, link),
                                   atol=1e-12)
    assert np.linalg.norm(at.jacobian('b')) == pytest.approx(1.0)


PREFIXES = ('<drake:joint name="x"><drake:acceleration value="3"/></drake:joint>',
            '<sensor:camera name="eye"><a sensor:b="1"/></sensor:camera>',
            '<gazebo xmlns:body="http://x"><body:link/></gazebo>', '<a:b:c/>', '<x a:b="1"/>')


@pytest.mark.parametrize('added', PREFIXES)
def test_undeclared_namespace_prefixes_are_ignored(added):
    """As in files of Drake and Gazebo."""
    for place in ('</robot>', '<axis', '<parent', '<inertial>'):
        robot = Robot.from_urdf(replaced(place, added + place))
        assert robot.key and robot.joint_names == ('j',)
        assert robot.joint('j').lower == -1.0


def test_mutated_urdf_is_refused_or_a_robot():
    """1000 mutations: no other exception, no crash."""
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
