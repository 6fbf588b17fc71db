"""config/ros2_ik.rviz shows the topics of the node, with RViz's standard displays."""

from pathlib import Path

import yaml

from ros2_ik.core import Robot

FILE = Path(__file__).parents[2] / 'config' / 'ros2_ik.rviz'
CONFIG = yaml.safe_load(FILE.read_text(encoding='utf-8'))['Visualization Manager']


def test_rviz_displays_subscribe_to_the_topics_of_the_node():
    topics = {}
    for display in CONFIG['Displays']:
        package, _, kind = display['Class'].partition('/')
        assert package == 'rviz_default_plugins' and display['Enabled']
        topic = display.get('Topic', display.get('Description Topic'))
        if topic:
            assert topic['Durability Policy'] == 'Transient Local'    # RViz may start late
        topics.setdefault(kind, set()).add(topic and topic['Value'])
        if kind == 'InteractiveMarkers':
            assert display['Interactive Markers Namespace'] == '/ros2_ik/goals'
    assert topics == {'Grid': {None}, 'InteractiveMarkers': {None},
                      'RobotModel': {'/robot_description'},
                      'MarkerArray': {'/ros2_ik/scene_markers', '/ros2_ik/goals/ghost'}}


def test_rviz_file_has_the_interact_tool_and_the_root_frame_of_the_panda():
    assert {tool['Class'] for tool in CONFIG['Tools']} >= {'rviz_default_plugins/Interact'}
    assert CONFIG['Global Options']['Fixed Frame'] == Robot.load('panda').root_frame
