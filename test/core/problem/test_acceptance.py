"""The only place that may say SUCCESS: what it lets pass, what it does not."""

from hypothesis import given, settings, strategies as st
from judge import pose, pose_error, TreeJudge
import numpy as np
import pytest
from small_robots import SCARA, SMALL

from ros2_ik.core import (
    accept,
    collision_checker,
    Configuration,
    Constraint,
    function_kinds,
    IKError,
    IKProblem,
    LeastSquares,
    PoseTarget,
    Robot,
    ScalarCost,
    Scene,
    SceneObject,
    Sphere,
)

Q = np.array([0.3, -0.5, -0.1, 0.7])


@pytest.fixture
def robot(small):
    return small('scara')


def problem(robot, T=None, **arguments):
    """Ask for the pose that Q has, or for T."""
    T = Configuration(robot, Q).transform('tip') if T is None else T
    locked = arguments.pop('locked', ())
    return IKProblem(robot, [PoseTarget('tip', T, **arguments)], None, Q, locked)


def names(verdict):
    """Give the names of what is violated."""
    return [violation.name for violation in verdict.violations]


def test_the_answer_passes(robot):
    verdict = accept(problem(robot), Q)
    assert verdict.accepted and verdict.violations == ()
    assert verdict.errors[0].tip == 'tip'
    assert verdict.errors[0].position < 1e-12 and verdict.errors[0].orientation < 1e-12


@pytest.mark.parametrize('axis', range(3))
@pytest.mark.parametrize('share, passes', [(0.999, True), (1.001, False)])
def test_just_inside_and_outside_the_tolerances(robot, axis, share, passes):
    T, unit = Configuration(robot, Q).transform('tip'), np.eye(3)[axis]
    for tolerance in (1e-5, 3e-3):
        off = problem(robot, T @ pose(unit * tolerance * share), position_tolerance=tolerance)
        verdict = accept(off, Q)
        assert verdict.accepted is passes
        assert verdict.errors[0].position == pytest.approx(tolerance * share)
        assert names(verdict) == ([] if passes else ["position error of 'tip'"])
        off = problem(robot, T @ pose(rotvec=unit * tolerance * share),
                      orientation_tolerance=tolerance)
        verdict = accept(off, Q)
        assert verdict.accepted is passes
        assert verdict.errors[0].orientation == pytest.approx(tolerance * share, rel=1e-6)
        assert names(verdict) == ([] if passes else ["orientation error of 'tip'"])


def test_tolerances_bound_the_length_of_the_error(robot):
    """0.8 of the tolerance along each of two axes is outside."""
    T = Configuration(robot, Q).transform('tip')
    assert not accept(problem(robot, T @ pose((0.8e-5, 0.8e-5, 0))), Q).accepted
    assert not accept(problem(robot, T @ pose(rotvec=(0.8e-4, 0, 0.8e-4))), Q).accepted


def test_half_a_turn_off_is_not_accepted(robot):
    T = Configuration(robot, Q).transform('tip')
    for axis in np.eye(3):
        for angle in (np.pi, 2 * np.pi - 2e-4, -np.pi, 1e-3):
            assert not accept(problem(robot, T @ pose(rotvec=axis * angle)), Q).accepted
        assert accept(problem(robot, T @ pose(rotvec=axis * 2 * np.pi)), Q).accepted


@pytest.mark.parametrize('index, value', [(0, 2.0), (1, -2.4), (2, 0.05), (3, 2 * np.pi)])
def test_limits_are_exact(robot, index, value):
    q = Q.copy()
    q[index] = value
    asked = problem(robot, Configuration(robot, q).transform('tip'))
    assert accept(asked, q).accepted
    q[index] = np.nextafter(value, np.inf * np.sign(value))
    verdict = accept(asked, q)
    assert not verdict.accepted
    assert names(verdict) == [f"joint '{robot.joint_names[index]}'"]
    violation = verdict.violations[0]
    assert (violation.lower, violation.upper) == (robot.lower[index], robot.upper[index])
    assert violation.unit == ('m' if index == 2 else 'rad')
    assert 0 < violation.amount < 1e-15


def test_locked_joints_are_exact(robot):
    q = Q.copy()
    q[3] = np.nextafter(Q[3], 9)
    assert accept(problem(robot), q).accepted
    verdict = accept(problem(robot, locked=['wrist']), q)
    assert names(verdict) == ["locked joint 'wrist'"]


def test_locked_joints_outside_their_limits_may_stay_there(robot):
    q = np.array([0.3, -0.5, -0.1, 7.0])
    asked = IKProblem(robot, [PoseTarget('tip', Configuration(robot, q).transform('tip'))], None,
                      q, ['wrist'])
    assert accept(asked, q).accepted


@pytest.mark.parametrize('index', range(4))
@pytest.mark.parametrize('value', [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_never_passes(robot, index, value):
    q = Q.copy()
    q[index] = value
    assert not accept(problem(robot), q).accepted
    assert not accept(problem(robot, weights=(0, 0, 0, 0, 0, 1), orientation_tolerance=9.0),
                      q).accepted


@pytest.mark.parametrize('q', [None, 5, 'abcd', [0.0], np.zeros(5), {}, [[0.0]]])
def test_what_is_no_configuration(robot, q):
    try:
        assert not accept(problem(robot), q).accepted
    except IKError:
        pass


def test_a_list_is_a_configuration(robot):
    assert accept(problem(robot), Q.tolist()).accepted


def test_followers_limits_count(small):
    robot = small('mimic_chain')
    q = np.array([0.41, 0.0])    # then c is at -0.31, its limit -0.3
    asked = IKProblem(robot, [PoseTarget('tip', Configuration(robot, q).transform('tip'))])
    assert names(accept(asked, q)) == ["joint 'a'"]


def test_quaternions_of_any_length_are_judged_as_the_rotation_they_are(small):
    robot = small('one_link', 'freeflyer')
    q = np.array([0.1, 0.2, 0.3, 0, 0, 0.6, 0.8])
    asked = IKProblem(robot, [PoseTarget('body', Configuration(robot, q).transform('body'))])
    assert accept(asked, q).accepted
    try:
        assert not accept(asked, np.zeros(7)).accepted
    except IKError:
        pass


@settings(max_examples=200)
@given(seed=st.integers(0, 2**32), scale=st.sampled_from([1e-6, 1e-5, 3e-5, 1e-4, 1e-2]),
       weights=st.lists(st.sampled_from([0, 1, 5]), min_size=6, max_size=6).filter(any))
def test_agrees_with_the_judge(robot, seed, scale, weights):
    generator = np.random.default_rng(seed)
    judge, q = TreeJudge(SCARA), robot.random_q(generator) * 1.1
    T = judge.transform(robot.to_joints(q), 'tip')
    T_target = T @ pose(generator.normal(size=3) * scale, generator.normal(size=3) * scale)
    asked = IKProblem(robot, [PoseTarget('tip', T_target, weights=weights)])
    position, orientation = pose_error(T, T_target, weights)
    expected = (position <= 1e-5 and orientation <= 1e-4
                and judge.outside(robot.to_joints(q)) == [])
    verdict = accept(asked, q)
    assert verdict.accepted is expected
    assert verdict.errors[0].position == pytest.approx(position, abs=1e-12)
    assert verdict.errors[0].orientation == pytest.approx(orientation, abs=1e-12)


def test_several_targets_must_all_hold(small):
    robot = small('two_arms')
    q = robot.random_q(np.random.default_rng(0))
    at = Configuration(robot, q)
    good = PoseTarget('left_hand', at.transform('left_hand'))
    bad = PoseTarget('right_hand', at.transform('right_hand') @ pose((0, 0, 1e-3)))
    assert accept(IKProblem(robot, [good], start=q), q).accepted
    verdict = accept(IKProblem(robot, [good, bad]), q)
    assert names(verdict) == ["position error of 'right_hand'"]
    assert [error.tip for error in verdict.errors] == ['left_hand', 'right_hand']
    assert "'right_hand'" in str(verdict.violations[0]) and '0.001' in str(verdict.violations[0])


# -- constraints ------------------------------------------------------------------------------

P, A, B = (0.03, -0.02, 0.11), (0.2, -0.1, 2), (1, -0.2, 0.4)
TURNED = pose((0.1, -0.2, 0.4), (0.5, -0.9, 0.7))


def balls():
    """Give a checker of the two arms with a ball in each hand and one on the chest."""
    robot = Robot.from_urdf(SMALL['two_arms'])
    scene = Scene(robot)
    for link in ('left_hand', 'right_hand', 'chest'):
        scene = scene.attach(SceneObject(f'ball of {link}', [Sphere(0.05)]), link)
    return collision_checker(robot, scene)


# kind, and form: arguments of one
KINDS = {
    'angle_between_vectors': ('left_hand', A, B, 'right_b'),
    'angle_between_vectors vector': ('left_hand', A, B, 'right_b', 'vector'),
    'angle_between_vectors chord': ('left_hand', A, B, 'right_b', 'chord'),
    'center_of_mass': (),
    'frame_orientation': ('left_hand', TURNED, 'right_b'),
    **{f'frame_orientation {form}': ('left_hand', TURNED, None, None, 'xyz', form)
       for form in ('angle', 'chord', 'euler')},
    'frame_pose': ('left_hand', TURNED), 'frame_position': ('left_hand', P, 'right_b'),
    'gaze_angle': ('left_hand', P, A, B),
    'gaze_angle vector': ('left_hand', P, A, B, None, 'vector'),
    'polyhedron': ('left_hand', [P, A], [[*A, *B]]),
    'region_distance': ('left_hand', P, [[0, 0, *A, *B, 0], [1, 1, *P, *A, 0.2]]),
    'joint_coupling': (['left_1', 'right_2'], [[1, -0.5], [0.3, 1]]),
    'joint_positions': (['left_1', 'right_2'], {'right_2': 0.1}),
    'manipulability': ('left_hand',),
    'minimum_distance': (balls(), 10.0, 3),
    'pair_distance': (balls(), 'ball of left_hand', 'ball of chest'),
    'point_to_line_distance': ('left_hand', P, A, B, 'right_b'),
    'point_to_plane': ('left_hand', P, A, B), 'point_to_point_distance': ('left_hand', P, A),
    'support_polygon': ([P, A, B],),
    'user_function': (lambda at: at.q[1:3], ['one [m]', 'two [rad]']),
}


def test_every_kind_is_judged():
    assert set(function_kinds()) <= set(KINDS)


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('tolerance', [1e-6, 1e-3])
def test_just_inside_and_outside_of_each_row(small, kind, tolerance):
    robot = small('two_arms')
    function = function_kinds()[kind.partition(' ')[0]](*KINDS[kind]).bind(robot)
    q = robot.random_q(np.random.default_rng(8)) * 0.7
    f = function.value(Configuration(robot, q))
    for row, label in enumerate(function.labels):
        for side in (-1, 1):
            for share, passes in ((0.999, True), (1.001, False)):
                bounds = np.array([np.full(len(f), -np.inf), np.full(len(f), np.inf)])
                bounds[int(side > 0), row] = f[row] - side * tolerance * share
                constraint = Constraint(function, *bounds, 'asked', tolerance)
                verdict = accept(IKProblem(robot, constraints=[constraint], start=q), q)
                assert verdict.accepted is passes
                assert names(verdict) == ([] if passes else [f'asked: {label.split(" [")[0]}'])
                if not passes:
                    violation = verdict.violations[0]
                    assert violation.kind == 'constraint' and violation.value == f[row]
                    assert violation.amount == pytest.approx(tolerance * share, rel=1e-6)
                    assert violation.unit == label.partition(' [')[2].rstrip(']')
                    assert 'asked' in str(violation)


@pytest.mark.parametrize('kind', KINDS)
def test_zero_width_of_each_row(small, kind):
    robot = small('two_arms')
    function = function_kinds()[kind.partition(' ')[0]](*KINDS[kind])
    q = robot.random_q(np.random.default_rng(9)) * 0.7
    function.joints(robot)
    f = function.value(Configuration(robot, q))
    assert accept(IKProblem(robot, constraints=[Constraint(function, f, f)], start=q), q).accepted
    for row in range(len(f)):
        for off in (-1e-4, 1e-4):
            bound = f + off * np.eye(len(f))[row]
            asked = IKProblem(robot, constraints=[Constraint(function, bound, bound)], start=q)
            verdict = accept(asked, q)
            assert len(verdict.violations) == 1
            assert verdict.violations[0].lower == verdict.violations[0].upper == bound[row]


def test_all_constraints_and_targets_must_hold(small):
    robot = small('two_arms')
    q = robot.random_q(np.random.default_rng(0)) * 0.5
    at = Configuration(robot, q)
    position = function_kinds()['frame_position']('left_hand')
    x = position.value(at)
    good, bad = Constraint(position, x, x, 'good'), Constraint(position, x + 1, x + 2, 'bad')
    target = PoseTarget('right_hand', at.transform('right_hand'))
    off = PoseTarget('right_hand', at.transform('right_hand') @ pose((0, 0, 1e-3)))
    assert accept(IKProblem(robot, [target], start=q, constraints=[good, good]), q).accepted
    verdict = accept(IKProblem(robot, [off], start=q, constraints=[good, bad]), q)
    assert names(verdict) == ["position error of 'right_hand'", 'bad: x', 'bad: y', 'bad: z']
    assert [v.kind for v in verdict.violations] == ['target'] + 3 * ['constraint']


def test_costs_are_told_and_decide_nothing(small):
    robot = small('two_arms')
    position = function_kinds()['frame_position']('left_hand')
    costs = [LeastSquares(position, 100.0, 1e6), ScalarCost(lambda at: -3.0)]
    verdict = accept(IKProblem(robot, costs=costs), robot.neutral)
    assert verdict.accepted and verdict.violations == ()
    x = Configuration(robot, robot.neutral).transform('left_hand')[:3, 3]
    assert verdict.costs == pytest.approx((0.5e6 * ((x - 100)**2).sum(), -3.0))


@pytest.mark.parametrize('joint_limits', [True, False])
def test_limits_count_unless_they_are_off(robot, joint_limits):
    q = np.array([2.5, 0, 0, 0])     # the limit is 2
    position = function_kinds()['frame_position']('tip')
    asked = IKProblem(robot, constraints=[Constraint(position, -5, 5)], joint_limits=joint_limits)
    assert accept(asked, q).accepted is not joint_limits


def test_locked_joints_without_limits_stay_exact(robot):
    position = function_kinds()['frame_position']('tip')
    asked = IKProblem(robot, start=Q, constraints=[Constraint(position, -5, 5)],
                      locked=['wrist'], joint_limits=False)
    q = Q.copy()
    assert accept(asked, q).accepted
    q[3] += 1e-15
    assert names(accept(asked, q)) == ["locked joint 'wrist'"]


def test_a_user_who_asks_something_on_the_way(robot):
    """What is judged after that is judged at the same configuration."""
    position = function_kinds()['frame_position']('tip')
    at_q = position.value(Configuration(robot, Q))
    inner = IKProblem(robot, constraints=[Constraint(position)])

    def busy(at):
        accept(inner, robot.neutral)
        return 0.0
    user = Constraint(function_kinds()['user_function'](busy), 0, 1)
    exact = Constraint(position, at_q, at_q)
    for constraints in ([user, exact], [exact, user]):
        assert accept(IKProblem(robot, constraints=constraints), Q).accepted
    costs = [ScalarCost(busy), LeastSquares(position, at_q)]
    assert accept(IKProblem(robot, costs=costs), Q).costs[1] == pytest.approx(0, abs=1e-20)
