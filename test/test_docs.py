"""docs/constraints.md matches the registry of functions, and its examples succeed."""

from dataclasses import MISSING
from pathlib import Path
import re
import runpy

from judge import FileJudge, inverse
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ros2_ik.cli.goal_file import BOUNDS
from ros2_ik.core import Configuration, InverseKinematics, load_scene, Robot
from ros2_ik.core.internals import function_kinds, shape_kinds, spec_fields, written_kinds

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / 'docs/constraints.md').read_text(encoding='utf-8')
MATLAB = ['PoseTarget', 'PositionTarget', 'OrientationTarget', 'Aiming', 'CartesianBounds',
          'JointBounds', 'DistanceBounds', 'FixedJoint', 'RevoluteJoint', 'PrismaticJoint']
TARGET = np.array([[1, 0, 0, 0.45], [0, -1, 0, 0.1], [0, 0, -1, 0.3], [0, 0, 0, 1]])


def section(title):
    """Return the text below a heading, up to the next heading."""
    return re.search(rf'^#+ {re.escape(title)}$(.*?)(?=^#|\Z)', PAGE, re.M | re.S)[1]


def rows(text):
    """Return the cells of all table rows in a text, without the header rows."""
    lines = [line for line in text.splitlines() if line.startswith('|')]
    return [[cell.strip() for cell in line.strip('|').split('|')] for line in lines
            if not line.startswith('|---')][1:]


def code_blocks(text):
    return re.findall(r'```python\n(.*?)```', text, re.S)


@pytest.fixture(scope='module')
def results():
    """Run the code blocks of the page in order; return the variables after each section."""
    variables, results = {}, {}
    for title in re.findall(r'^#+ (.+)$', PAGE, re.M):
        for block in code_blocks(section(title)):
            variables.pop('solution', None)
            exec(compile(block, f'constraints.md, {title}', 'exec'), variables)
            results[title] = dict(variables)
    return results


def test_functions_table_lists_every_function_kind():
    assert [cells[0].strip('`') for cells in rows(section('Functions'))] == sorted(
        function_kinds())


@pytest.mark.parametrize('kind', function_kinds())
def test_functions_table_names_class_and_formula_of_a_kind(kind):
    _, name, formula, _, *peers = next(cells for cells in rows(section('Functions'))
                                       if cells[0] == f'`{kind}`')
    assert name == function_kinds()[kind].__name__ and formula and len(peers) == 4


def test_every_function_kind_has_a_sketch():
    script = runpy.run_path(str(ROOT / 'docs/sketches.py'))
    assert list(script['SKETCHES']) == sorted(function_kinds())
    assert (ROOT / 'docs/sketches.svg').read_text(encoding='utf-8') == script['picture']()


def test_drake_section_names_every_add_method():
    text = section('From Drake')
    methods = {name for name in dir(InverseKinematics) if name.startswith('add_')}
    assert set(re.findall(r'`(add_\w+)`', text)) == methods
    for method in set(re.findall(r'Add\w+', section('Functions'))):
        assert method in text or method in ('AddCouplerConstraint', 'AddLinearConstraint')


def test_ros_table_lists_the_fields_of_every_function_kind():
    first, second = (table for table in re.split(r'\n\n', section('In ROS'))
                     if table.startswith('|'))
    found = {kind.strip('`'): fields.split(', ') for kind, fields in rows(first)}
    assert list(found) == list(written_kinds())
    for kind, function in written_kinds().items():
        fields = {name: field for name, field in spec_fields(function).items()
                  if not field.type.supplied}
        for cell, (name, field) in zip(found[kind], fields.items(), strict=True):
            assert cell.strip('*').split(' (')[0] == name, kind
            assert cell.startswith('**') is (field.default_argument is MISSING), kind
    bounds = ' '.join(cells[0] for cells in rows(second))
    assert set(re.findall(r'`(\w+)`', bounds)) == set(BOUNDS)


def test_matlab_section_covers_every_constraint():
    assert re.findall(r'^### constraint(\w+)$', PAGE, re.M) == MATLAB
    assert all(code_blocks(section(f'constraint{name}')) for name in MATLAB)


def test_examples_on_the_constraints_page_succeed(results):
    for title, variables in results.items():
        assert variables['solution'].success, f'{title}: {variables["solution"].explain()}'
    assert {f'constraint{name}' for name in MATLAB} <= set(results)


@pytest.fixture(scope='module')
def link_pose():
    judges = {name: FileJudge(Robot.load(name).urdf) for name in ('panda', 'baxter')}

    def transform(variables, frame, relative_to=None, robot='panda'):
        return judges[robot].transform(variables['solution'].joints, frame, relative_to)
    return transform


def test_matlab_targets_hold_in_yourdfpy(results, link_pose):
    T = link_pose(results['constraintPoseTarget'], 'panda_hand')
    assert np.linalg.norm(T[:3, 3] - TARGET[:3, 3]) <= 1e-3 + 1e-6
    assert Rotation.from_matrix(TARGET[:3, :3].T @ T[:3, :3]).magnitude() <= 1e-2 + 1e-6
    T = link_pose(results['constraintPositionTarget'], 'panda_hand')
    assert np.linalg.norm(T[:3, 3] - TARGET[:3, 3]) <= 0.01 + 1e-5
    T = link_pose(results['constraintOrientationTarget'], 'panda_hand')
    assert Rotation.from_matrix(TARGET[:3, :3].T @ T[:3, :3]).magnitude() <= 0.05 + 1e-5


def test_matlab_bounds_and_aiming_hold_in_yourdfpy(results, link_pose):
    T = link_pose(results['constraintAiming'], 'panda_hand')
    ray = np.array([0.6, 0.2, 0]) - T[:3, 3]
    assert T[:3, 2] @ ray / np.linalg.norm(ray) >= np.cos(0.02 + 1e-5)
    p = (inverse(TARGET) @ link_pose(results['constraintCartesianBounds'], 'panda_hand'))[:3, 3]
    assert (np.abs(p[:2]) <= np.array([0.05, 0.1]) + 1e-5).all() and -1e-5 <= p[2] <= 0.02 + 1e-5
    joints = results['constraintJointBounds']['solution'].joints
    assert abs(joints['panda_joint1']) <= 0.1 + 1e-5
    assert joints['panda_joint4'] == pytest.approx(-2, abs=1e-5)
    T = link_pose(results['constraintDistanceBounds'], 'panda_hand', 'panda_link2')
    assert 0.4 - 1e-5 <= np.linalg.norm(T[:3, 3]) <= 0.5 + 1e-5


@pytest.mark.parametrize('kind', ['Fixed', 'Revolute', 'Prismatic'])
def test_matlab_joints_between_two_grippers_hold_in_yourdfpy(results, link_pose, kind):
    variables = results[f'constraint{kind}Joint']
    left, right = (link_pose(variables, f'{side}_gripper', robot='baxter')
                   for side in ('left', 'right'))
    T = inverse(right @ variables['T_right']) @ left @ variables['T_left']
    assert np.abs(T[:2, 3]).max() <= 1e-5
    assert abs(T[2, 3]) <= (0.1 if kind == 'Prismatic' else 0) + 1e-5
    assert T[2, 2] >= np.cos(1e-4)
    about_z = np.arctan2(T[1, 0], T[0, 0])
    assert abs(about_z) <= (0.5 if kind == 'Revolute' else 0) + 1e-5


def test_moveit_constraints_hold_in_yourdfpy(results, link_pose):
    variables = results['From MoveIt']
    T = link_pose(variables, 'panda_hand')
    assert abs(variables['solution'].joints['panda_joint1'] - 0.2) <= 0.1 + 1e-5
    assert np.abs((inverse(TARGET) @ T @ [0, 0, 0.1, 1])[:3]).max() <= 0.02 + 1e-5
    # yaw is free: roll and pitch determine the direction of z
    z = (TARGET[:3, :3].T @ T[:3, :3])[:, 2]
    assert abs(np.arctan2(-z[1], z[2])) <= 0.05 + 1e-5 and abs(np.arcsin(z[0])) <= 0.05 + 1e-5


def test_scene_file_on_the_collisions_page_loads():
    text = (ROOT / 'docs/collisions.md').read_text(encoding='utf-8').partition('## Scene files')[2]
    content = text.partition('```yaml\n')[2].partition('```')[0]
    robot = Robot.load('panda')
    scene = load_scene(content, robot, Configuration(robot, robot.neutral))
    assert [*scene.attached] == ['pen'] and scene.padding == {'panda_hand': 0.01}
    named = text.partition('Shapes are ')[2].partition('\n\n')[0]
    assert {word for word in re.findall(r'\w+', named) if word in shape_kinds()} == {
        *shape_kinds()}


def test_architecture_page_lists_every_package_of_core_and_node():
    text = (ROOT / 'docs/architecture.md').read_text(encoding='utf-8')
    names = [cells[0].strip('`') for cells in rows(text) if '/' in cells[0] or len(cells[0]) < 8]
    assert {name for name in names if '/' in name} == {
        f'{path.parent.name}/{path.name}' for folder in ('core', 'node')
        for path in (ROOT / 'ros2_ik' / folder).iterdir() if (path / '__init__.py').exists()
        and path.name != 'parameters'}
