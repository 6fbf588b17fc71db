"""Sessions as the command line makes them, and what people type in on their pages."""

from argparse import Namespace
from typing import Any

from ros2_ik.cli.view import make_session

TIP = 'panda_hand_tcp'
# what is typed in for each kind, and its bounds
TYPED = {
    'angle_between_vectors': ({'vector': '[1, 0, 0]', 'other_vector': '[0, 0, 1]'},
                              {'upper': '2.0'}),
    'center_of_mass': ({'axes': 'xy'}, {'lower': '-1', 'upper': '[1, 1]'}),
    'frame_orientation': ({'form': 'angle', 'reference': '[3.1416, 0, 0]'}, {'upper': '3.14'}),
    'frame_pose': ({'reference': '[0.4, 0, 0.4, 3.1416, 0, 0]'}, {'lower': '-4', 'upper': '4'}),
    'frame_position': ({'point': '[0, 0, 0.1]', 'axes': 'z'}, {'lower': '0'}),
    'gaze_angle': ({'axis': '[0, 0, 1]', 'target': '[0.5, 0, 0]'}, {'upper': '1e0'}),
    'joint_coupling': ({'names': '[panda_joint1, panda_joint2]', 'ratios': '[[1, -1]]'},
                       {'lower': '-4', 'upper': '4'}),
    'joint_positions': ({'names': '[panda_joint1]', 'reference': '[0]'},
                        {'lower': '-1', 'upper': '1'}),
    'manipulability': ({'rows': 'position'}, {'lower': '0.001'}),
    'minimum_distance': ({'influence': '0.1'}, {'lower': '0.001'}),
    'pair_distance': ({'first': 'panda_hand', 'second': 'table'}, {'lower': '0.01'}),
    'point_to_line_distance': ({'line_direction': '[0, 0, 1]'}, {'upper': '2'}),
    'point_to_plane': ({'normal': '[0, 0, 1]'}, {'lower': '0'}),
    'point_to_point_distance': ({'other_point': '[0, 0, 0]'}, {'upper': '2'}),
    'polyhedron': ({'points': '[[0, 0, 0]]', 'A': '[[0, 0, 1]]'}, {'lower': '0'}),
    'support_polygon': ({'corners': '[[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]]'},
                        {'lower': '0'}),
}

TURN_AND_SLIDE = """<robot name="bare"><link name="base"/><link name="arm"/><link name="tip"/>
  <joint name="turn" type="continuous"><parent link="base"/><child link="arm"/>
    <axis xyz="{axis}"/></joint>
  <joint name="slide" type="prismatic"><parent link="arm"/><child link="tip"/>
    <axis xyz="1 0 0"/><limit lower="0.1" upper="1" velocity="1" effort="1"/></joint>
  </robot>"""


def session_of(robot: str = 'panda', scene: str | None = 'table', tips: tuple[str, ...] = (),
               problem: str | None = None, root_joint: str | None = None) -> Any:
    """Return the session of a command line."""
    return make_session(Namespace(robot=robot, srdf=None, package_dir=[], xacro_arg=[],
                                  root_joint=root_joint,
                                  tip=list(tips), scene=scene, problem=problem))
