"""The definitions of messages and of the goal, as the interface files have them."""

from functools import lru_cache
from pathlib import Path
import re
from typing import Any, NamedTuple

import yaml

from ros2_ik.cli.question import BadQuestion

GOAL = 'SolveConstrainedIK'
_FIELD = re.compile(r'^([\w/]+)(\[(?:<=)?\d*\])?\s+([a-z]\w*)(?:\s+(?!=)(.+))?$')


class Field(NamedTuple):
    """
    A field: its type, whether it is an array, its default.

    An array has `size` items (None: any number), `most` at most (None: as many as there are).
    """

    type: str
    array: bool
    size: int | None
    most: int | None
    default: Any


@lru_cache(maxsize=128)
def fields(kind: str) -> dict[str, Field]:
    """
    Return the fields of a message such as 'geometry_msgs/Pose', or of the goal, by name.

    Raises BadQuestion for one that is not known.
    """
    package, _, name = kind.rpartition('/')
    if kind in FOREIGN:
        text = FOREIGN[kind]
    elif name == GOAL:
        text = _text(f'action/{name}.action').partition('\n---\n')[0]
    elif package == 'ros2_ik':
        text = _text(f'msg/{name}.msg')
    else:
        text = _text(f'{package}/msg/{name}.msg')
    found = {}
    for line in text.splitlines():
        if match := _FIELD.match(line.partition('#')[0].strip()):
            type, array, field, default = match.groups()
            if type[0].isupper():    # of the same package
                type = f'{package}/{type}'
            found[field] = Field(type, array is not None, *_sizes(array),
                                 None if default is None else yaml.safe_load(default))
    return found


def is_message(type: str) -> bool:
    """Return whether a type is a message, not a number, a truth value or a text."""
    return '/' in type


def _text(name: str) -> str:
    """
    Return an interface file.

    All are installed into ros2_ik/interfaces; in a checkout ours stand beside the package, those
    of other packages in interfaces/ there. Raises BadQuestion.
    """
    package = Path(__file__).parents[1]
    installed = package / 'interfaces'
    for folder in (installed, package.parent, package.parent / 'interfaces'):
        if (folder / name).is_file():
            return (folder / name).read_text('utf-8')
    raise BadQuestion(f'the installation is broken: no file {installed / name}')


def _sizes(array: str | None) -> tuple[int | None, int | None]:
    """Return the number of items, and the largest: [4] has both, [<=3] the latter, [] neither."""
    number = (array or '[]')[1:-1]
    if number.startswith('<='):
        return None, int(number[2:])
    return (int(number), int(number)) if number else (None, None)


# Messages of other packages that a goal is made of, for where ROS is not installed. Those of
# moveit_msgs and object_recognition_msgs are not here: the folder interfaces/ has them.
FOREIGN = {
    'builtin_interfaces/Duration': 'int32 sec\nuint32 nanosec',
    'builtin_interfaces/Time': 'int32 sec\nuint32 nanosec',
    'diagnostic_msgs/KeyValue': 'string key\nstring value',
    'geometry_msgs/Point': 'float64 x\nfloat64 y\nfloat64 z',
    'geometry_msgs/Point32': 'float32 x\nfloat32 y\nfloat32 z',
    'geometry_msgs/Polygon': 'Point32[] points',
    'geometry_msgs/Pose': 'Point position\nQuaternion orientation',
    'geometry_msgs/PoseStamped': 'std_msgs/Header header\nPose pose',
    'geometry_msgs/Quaternion': 'float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1',
    'geometry_msgs/Transform': 'Vector3 translation\nQuaternion rotation',
    'geometry_msgs/Twist': 'Vector3 linear\nVector3 angular',
    'geometry_msgs/Vector3': 'float64 x\nfloat64 y\nfloat64 z',
    'geometry_msgs/Wrench': 'Vector3 force\nVector3 torque',
    'sensor_msgs/JointState': 'std_msgs/Header header\nstring[] name\nfloat64[] position\n'
                              'float64[] velocity\nfloat64[] effort',
    'sensor_msgs/MultiDOFJointState': 'std_msgs/Header header\nstring[] joint_names\n'
                                      'geometry_msgs/Transform[] transforms\n'
                                      'geometry_msgs/Twist[] twist\n'
                                      'geometry_msgs/Wrench[] wrench',
    'shape_msgs/Mesh': 'MeshTriangle[] triangles\ngeometry_msgs/Point[] vertices',
    'shape_msgs/MeshTriangle': 'uint32[3] vertex_indices',
    'shape_msgs/Plane': 'float64[4] coef',
    'shape_msgs/SolidPrimitive': 'uint8 type\nfloat64[<=3] dimensions\n'
                                 'geometry_msgs/Polygon polygon',
    'std_msgs/Header': 'builtin_interfaces/Time stamp\nstring frame_id',
    'trajectory_msgs/JointTrajectory': 'std_msgs/Header header\nstring[] joint_names\n'
                                       'JointTrajectoryPoint[] points',
    'trajectory_msgs/JointTrajectoryPoint': 'float64[] positions\nfloat64[] velocities\n'
                                            'float64[] accelerations\nfloat64[] effort\n'
                                            'builtin_interfaces/Duration time_from_start',
}
