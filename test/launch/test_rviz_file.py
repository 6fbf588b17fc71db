"""
The file for RViz has only what RViz reads: it passes over what it does not know.

Classes, properties and words are those of rviz_common and rviz_default_plugins 14.1 (Jazzy); in
11.2 (Humble) they are the same.
"""

from pathlib import Path

import pytest
import yaml

from ros2_ik.core import Robot

FILE = Path(__file__).parents[2] / 'config' / 'ros2_ik.rviz'
CONTENT = yaml.safe_load(FILE.read_text(encoding='utf-8'))
SHOWN = CONTENT['Visualization Manager']
OWN = {'Class', 'Name', 'Enabled', 'Value'}     # of every display
WORDS = {'History Policy': {'Keep Last', 'Keep All', 'System Default'},
         'Reliability Policy': {'Reliable', 'Best Effort', 'System Default'},
         'Durability Policy': {'Transient Local', 'Volatile', 'System Default'}}
DISPLAYS = {
    'Grid': {'Reference Frame', 'Plane Cell Count', 'Normal Cell Count', 'Cell Size',
             'Line Style', 'Color', 'Alpha', 'Plane', 'Offset'},
    'RobotModel': {'Visual Enabled', 'Collision Enabled', 'Mass Properties', 'Update Interval',
                   'Alpha', 'Description Source', 'Description File', 'Description Topic',
                   'TF Prefix', 'Links'},
    'MarkerArray': {'Topic', 'Namespaces'},
    'InteractiveMarkers': {'Interactive Markers Namespace', 'Show Descriptions', 'Show Axes',
                           'Show Visual Aids', 'Enable Transparency'},
}


@pytest.mark.parametrize('display', SHOWN['Displays'], ids=lambda display: display['Name'])
def test_displays(display):
    package, _, kind = display['Class'].partition('/')
    assert package == 'rviz_default_plugins' and display['Enabled']
    assert display.keys() - OWN <= DISPLAYS[kind]
    for topic in (display.get('Topic'), display.get('Description Topic')):
        if topic:
            assert topic.keys() == {'Value', 'Depth', *WORDS}
            assert all(topic[name] in words for name, words in WORDS.items())
            assert topic['Durability Policy'] == 'Transient Local'  # RViz comes late
            assert topic['Value'] in ('/robot_description', '/ros2_ik/scene_markers',
                                      '/ros2_ik/goals/ghost')


def test_what_is_shown():
    kinds = [display['Class'].partition('/')[2] for display in SHOWN['Displays']]
    assert sorted(kinds) == ['Grid', 'InteractiveMarkers', 'MarkerArray', 'MarkerArray',
                             'RobotModel']
    goals, = (each for each in SHOWN['Displays'] if each['Class'].endswith('InteractiveMarkers'))
    assert goals['Interactive Markers Namespace'] == '/ros2_ik/goals'
    assert {tool['Class'] for tool in SHOWN['Tools']} >= {'rviz_default_plugins/Interact'}


def test_the_rest():
    assert CONTENT.keys() == {'Panels', 'Visualization Manager', 'Window Geometry'}
    assert {panel['Class'] for panel in CONTENT['Panels']} == {
        'rviz_common/Displays', 'rviz_common/Views'}
    assert SHOWN.keys() == {'Class', 'Global Options', 'Displays', 'Tools', 'Views'}
    assert SHOWN['Global Options'].keys() == {'Background Color', 'Fixed Frame', 'Frame Rate'}
    assert SHOWN['Global Options']['Fixed Frame'] == Robot.load('panda').root_frame
    view = SHOWN['Views']['Current']
    assert view['Class'] == 'rviz_default_plugins/Orbit'
    assert view.keys() - OWN <= {'Distance', 'Focal Point', 'Pitch', 'Yaw', 'Target Frame'}
