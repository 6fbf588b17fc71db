"""`ros2_ik fk` and `ros2_ik robots`, judged by yourdfpy, closed forms or the files themselves."""

import math
from xml.etree import ElementTree

import numpy as np
import pytest

from ros2_ik.core import Robot, shipped_robots


def test_closed_form(command, planar_arm):
    run = command('fk', planar_arm, '--joints', 'shoulder=30', 'elbow=-75', 'lift=0.1', '--deg',
                  '--tip', 'slide', '--json')
    assert run.code == 0, run.err
    pose = run.json['poses']['slide']
    a, b = math.radians(30), math.radians(-45)
    assert pose['xyz'] == pytest.approx([0.5 * math.cos(a) + 0.3 * math.cos(b),
                                         0.5 * math.sin(a) + 0.3 * math.sin(b), 0.1])
    assert pose['rpy'] == pytest.approx([0, 0, b])
    assert pose['quat'] == pytest.approx([0, 0, math.sin(b / 2), math.cos(b / 2)])


@pytest.mark.parametrize('name', sorted(shipped_robots()))
def test_home_of_each_shipped_robot(command, judge, name):
    shipped = shipped_robots()[name]
    run = command('fk', name, '--json')
    assert run.code == 0, run.err
    pose = run.json['poses'][shipped.tip]
    T = judge(name, run.json['joints'], shipped.tip, run.json['relative_to'])
    assert pose['xyz'] == pytest.approx(list(T[:3, 3]), abs=1e-6)
    x, y, z, w = pose['quat']
    assert T[:3, :3] @ [0, 0, 1] == pytest.approx(
        [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], abs=1e-6)
    for joint, value in shipped.home.items():
        assert run.json['joints'][joint] == value


def test_joints_that_are_not_named_are_at_home(command, tmp_path, planar_arm):
    for name in ('panda', 'xarm7'):
        home = command('fk', name, '--json').json['joints']
        first = min(home)
        run = command('fk', name, '--joints', f'{first}=0.3', '--json')
        assert run.json['joints'] == home | {first: 0.3}
    pose = ('panda', '--xyz', 0.4, 0.1, 0.5, '--random-state', 1, '--json')
    seeded = command('solve', *pose, '--seed', 'panda_joint1=0').json
    assert seeded['joints'] == command('solve', *pose).json['joints']
    srdf = tmp_path / 'arm.srdf'
    srdf.write_text('<robot name="planar_arm"><group name="arm"><joint name="elbow"/></group>'
                    '<group_state name="home" group="arm"><joint name="elbow" value="0.7"/>'
                    '</group_state></robot>')
    run = command('fk', planar_arm, '--srdf', srdf, '--joints', 'lift=0.1', '--json')
    assert run.json['joints'] == {'shoulder': 0, 'elbow': 0.7, 'lift': 0.1}


def test_relative_to_another_link(command, judge):
    run = command('fk', 'panda', '--joints', 'panda_joint4=-1.1', '--tip', 'panda_hand_tcp',
                  'panda_link7', '--relative-to', 'panda_link3', '--json')
    for link in ('panda_hand_tcp', 'panda_link7'):
        T = judge('panda', run.json['joints'], link, 'panda_link3')
        assert run.json['poses'][link]['xyz'] == pytest.approx(list(T[:3, 3]), abs=1e-9)


def test_text_in_degrees(command, planar_arm):
    run = command('fk', planar_arm, '--joints', 'shoulder=90', '--deg')
    assert run.code == 0, run.err
    row = run.out.splitlines()[-1].split()
    assert row[0] == 'slide'
    assert [float(x) for x in row[1:]] == pytest.approx(
        [0, 0.8, 0, 0, 0, 90, 0, 0, math.sqrt(0.5), math.sqrt(0.5)], abs=1e-6)


@pytest.mark.parametrize('words, hint', [
    (['fk'], 'ROBOT'),
    (['fk', 'panda', '--tip', 'tool1'], "unknown frame 'tool1'"),
    (['fk', 'panda', '--joints', 'panda_joint1=nan'], 'not finite'),
    (['fk', 'panda', '--joints', 'panda_joint1=1,2'], 'one number'),
    (['robots', 'panda_'], "did you mean 'panda'"),
    (['rob'], 'invalid choice'),
])
def test_bad_questions(command, words, hint):
    assert hint in command(*words).refused()


def test_lists_every_shipped_robot(command):
    run = command('robots')
    assert run.code == 0
    assert {line.split()[0] for line in run.out.splitlines()[1:]} == set(shipped_robots())


@pytest.mark.parametrize('name', ['kinova', 'panda'])
def test_describes_a_robot_as_its_urdf_does(command, name):
    text = command('robots', name).out
    table = text.partition('\ngroup ')[0]
    rows = {line.split()[0]: line.split()[1:] for line in table.splitlines() if line}
    root = ElementTree.fromstring(Robot.load(name).urdf)
    for joint in root.findall('joint'):
        if joint.get('type') == 'fixed' or joint.find('mimic') is not None:
            continue
        kind, lower, upper, _ = rows[joint.get('name')]
        assert kind == joint.get('type')
        if kind == 'continuous':
            assert (lower, upper) == ('-', '-')
        elif joint.find('safety_controller') is None:
            assert float(upper) == pytest.approx(float(joint.find('limit').get('upper')), abs=1e-4)
    assert {link.get('name') for link in root.findall('link')} <= set(text.split())


def test_angles_in_range(command):
    quat = command('fk', 'panda', '--json').json['poses']['panda_hand_tcp']['quat']
    assert np.linalg.norm(quat) == pytest.approx(1)
