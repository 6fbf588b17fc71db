"""
Angles and positions give Drake's values and gradients.

Drake has cosines and squares in place of angles, so its g is a function of ours, and its
gradient follows by the chain rule.
"""

from math import cos, sin

import numpy as np
from oracles import DRAKE, PINK
import pytest

from ros2_ik.core import (
    AngleBetweenVectors,
    Configuration,
    FrameOrientation,
    FramePosition,
    GazeAngle,
    PointToPointDistance,
    Robot,
)

ARM = 7


@pytest.fixture(scope='module')
def panda():
    return Robot.from_urdf(PINK['urdf']['panda'])


def frame(name):
    return None if name == 'world' else name


def row(function, at):
    """Value and gradient of a function of one row."""
    value, J = function.evaluate(at)
    return value[0], J[0]


def position(a, at):
    moving = a.get('frameA', a.get('frameAbar'))
    return FramePosition(a['frameB'], a['p_BQ'], frame(moving), a.get('X_AbarA')).evaluate(at)


def orientation(a, at):
    return row(FrameOrientation(a['frameBbar'], a['R_AbarA'], frame(a['frameAbar']), a['R_BbarB'],
                                form='angle'), at)


def orientation_constraint(a, at):
    angle, J = orientation(a, at)
    return [1 + 2 * cos(angle)], [-2 * sin(angle) * J]


def orientation_cost(a, at):
    angle, J = orientation(a, at)
    return [a['c'] * (1 - cos(angle))], [a['c'] * sin(angle) * J]


def orientation_cost_by_vector(a, at):
    w, J = FrameOrientation(a['frameBbar'], a['R_AbarA'], frame(a['frameAbar']),
                            a['R_BbarB']).evaluate(at)
    angle = np.linalg.norm(w)
    return [a['c'] * (1 - cos(angle))], [a['c'] * sin(angle) / angle * w @ J]


def orientation_cost_by_chord(a, at):
    f, J = FrameOrientation(a['frameBbar'], a['R_AbarA'], frame(a['frameAbar']), a['R_BbarB'],
                            form='chord').evaluate(at)
    return [a['c'] / 2 * f @ f], [a['c'] * f @ J]


def gaze(a, at):
    B = frame(a['frameB'])
    angle, J = row(GazeAngle(a['frameA'], a['p_AS'], a['n_A'], a['p_BT'], B), at)
    d, J_d = row(PointToPointDistance(a['frameA'], a['p_AS'], a['p_BT'], B), at)
    c, s, c_h = cos(angle), sin(angle), cos(a['cone_half_angle'])
    return ([d * c, d**2 * (c**2 - c_h**2)],
            [c * J_d - d * s * J, 2 * d * (c**2 - c_h**2) * J_d - 2 * d**2 * c * s * J])


def vectors(a, at):
    return row(AngleBetweenVectors(a['frameB'], a['nb_B'], a['na_A'], frame(a['frameA'])), at)


def vectors_constraint(a, at):
    angle, J = vectors(a, at)
    return [cos(angle)], [-sin(angle) * J]


def vectors_cost(a, at):
    angle, J = vectors(a, at)
    return [a['c'] * (1 - cos(angle))], [a['c'] * sin(angle) * J]


def vectors_cost_by_chord(a, at):
    f, J = AngleBetweenVectors(a['frameB'], a['nb_B'], a['na_A'], frame(a['frameA']),
                               form='chord').evaluate(at)
    return [a['c'] / 2 * f @ f], [a['c'] * f @ J]


OURS = {'PositionConstraint': [position],
        'OrientationConstraint': [orientation_constraint],
        'OrientationCost': [orientation_cost, orientation_cost_by_vector,
                            orientation_cost_by_chord],
        'GazeTargetConstraint': [gaze], 'AngleBetweenVectorsConstraint': [vectors_constraint],
        'AngleBetweenVectorsCost': [vectors_cost, vectors_cost_by_chord]}


@pytest.mark.parametrize('case', DRAKE['cases'], ids=lambda case: case['kind'])
def test_values_and_gradients_as_drake(panda, case):
    for ours in OURS[case['kind']]:
        for expected in case['evals']:
            # the leader's value stands for both fingers
            q = DRAKE['configurations'][expected['q']][:panda.nq]
            value, gradient = ours(case['args'], Configuration(panda, q))
            np.testing.assert_allclose(value, expected['value'], atol=1e-9)
            np.testing.assert_allclose(np.array(gradient)[:, :ARM],
                                       np.array(expected['gradient'])[:, :ARM], atol=1e-9)
