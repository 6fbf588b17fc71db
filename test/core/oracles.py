"""Values and gradients recorded with Drake and Pink, and their robots."""

import json
from pathlib import Path
import re

import numpy as np

from ros2_ik.core import Configuration, Robot

_DATA = Path(__file__).parent / 'data'
_ROBOTS = {}


def recorded(name):
    """Return the content of a file in test/core/data."""
    return json.loads((_DATA / name).read_text(encoding='utf-8'))


PINK, DRAKE = map(recorded, ('pink.json', 'drake_points.json'))


def oracle_robot(name='panda'):
    """Return the Panda with independent fingers, or a floating tree."""
    if name not in _ROBOTS:
        text = PINK['urdf'][name]
        _ROBOTS[name] = (Robot.from_urdf(re.sub(r'<mimic[^>]*/>', '', text)) if name == 'panda'
                         else Robot.from_urdf(text, root_joint='freeflyer'))
    return _ROBOTS[name]


def drake(kind):
    """Return (args, configuration, value, gradient) of each evaluation of a kind of constraint."""
    return [(case['args'], Configuration(oracle_robot(), DRAKE['configurations'][row['q']]),
             np.array(row['value']), np.array(row['gradient']))
            for case in DRAKE['cases'] if case['kind'] == kind for row in case['evals']]


def pink(kind):
    """Return the rows of a kind of task, each with its configuration `at`."""
    return [{**row, 'at': _configuration(row['robot'], PINK[f'{row["robot"]}_configurations'][
        row['q']])} for row in PINK['tasks'] + DRAKE['pink_tasks'] if row['kind'] == kind]


def from_pink(robot, q):
    """Return joint values by name; Pink's q has continuous joints as (cos, sin)."""
    if robot == 'panda':
        return dict(zip(oracle_robot().joint_names, q, strict=True))
    wheel, shoulder = (float(np.arctan2(q[i + 1], q[i])) for i in (8, 10))
    return {'root_joint': q[:7], 'hip': q[7], 'wheel_joint': wheel, 'shoulder': shoulder,
            'elbow': q[12], 'lift': q[13]}


def _configuration(robot, q):
    return Configuration(oracle_robot(robot), from_pink(robot, q))


def pink_columns(robot):
    """Return the columns of our Jacobian in Pink's order."""
    names = (robot.joint_names if robot.nv != 11 else
             ['root_joint', 'hip', 'wheel_joint', 'shoulder', 'elbow', 'lift'])
    joints = [robot.joint(name) for name in names]
    return [j.velocity_index + i for j in joints for i in range(j.velocity_size)]
