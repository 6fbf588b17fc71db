"""The parameters of the node, and those whose names depend on others: controllers and joints."""

from collections.abc import Iterable, Iterator, Sequence
import os
import re

from ros2_ik.core import solver_names
from ros2_ik.core.internals import Defaults
from ros2_ik.node.controllers.controller import controller_kinds
from ros2_ik.node.parameters.spec import ParameterError, Spec

USUAL = Defaults()


PARAMETERS = (
    Spec('robot_description', '',
         'URDF of the robot. The topic robot_description is read as well; the newer one counts.',
         read_only=True),
    Spec('robot_description_semantic', '',
         'SRDF of the robot. The topic robot_description_semantic is read as well.',
         read_only=True),
    Spec('root_joint', 'fixed', 'How the root link stands in the world.',
         choices=('fixed', 'planar', 'freeflyer'), read_only=True),
    Spec('base_source', 'parameter',
         'Where the pose of a planar or freeflyer base comes from when a request does not give '
         'it: parameter (base_pose) or tf.', choices=('parameter', 'tf'), read_only=True),
    Spec('base_pose', [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
         "Pose of the root link in the robot's root frame, x y z qx qy qz qw.", 'm'),
    Spec('tf_timeout', 5.0, 'Frames of TF whose newest transform is older are refused, in '
         'questions and for the scene; what /tf_static tells has no age; 0: any age will do.',
         's', 0, 1e6),
    Spec('execute_tf_timeout', 0.5, 'The same for requests with execute.', 's', 0, 1e6),
    Spec('joint_state_timeout', 1.0,
         'Joint values older than this count as unknown; 0: any age will do.', 's', 0),
    Spec('joint_state_speed', 1.5,
         'Readings of a joint that show it faster than this times its velocity limit contradict '
         'each other: nothing is moved by them; 0: whatever they show is believed.', '', 0, 1e6),
    Spec('scene', '',
         'Scene file (YAML), or name of a shipped scene, that the node starts with.',
         read_only=True),
    Spec('meshes', 'exact',
         'What stands for the meshes of the robot, and for those in messages. exact: their '
         'triangles and what is inside of them; distances are those of convex parts, which are '
         'made in the background, and of the convex hull until then. hull: the convex hull, which '
         'closes holes, and also stands for meshes of more than 100 000 triangles in messages, '
         'as the answer says.', choices=('exact', 'hull'), read_only=True),
    Spec('missing_meshes', 'refuse',
         "When one of the robot's collision elements cannot be read, or its mesh not be found: "
         'refuse requests that avoid collisions, or leave it out and say so in each answer.',
         choices=('refuse', 'skip'), read_only=True),
    Spec('default_group', '',
         'Group of requests that name none, if it moves all tips, frames and links, and has all '
         'joints, that they name. Empty: that of the shipped robot of this name; where none '
         'will do, the joints that these depend on.'),
    Spec('default_tip', '',
         'Tip of requests that name none. Empty: that of the shipped robot of this name, else '
         'the only tip of the group. Requests for another group take the only tip of that.'),
    Spec('default_timeout', USUAL.default_timeout,
         'Time for a search when the request gives none.', 's', 1e-4, 3600),
    Spec('max_timeout', 10.0, 'Requests for a longer search are refused.', 's', 1e-4, 3600),
    Spec('position_tolerance', USUAL.position_tolerance, 'Used when the request gives none.',
         'm', 1e-12, 10),
    Spec('orientation_tolerance', USUAL.orientation_tolerance,
         'Used when the request gives none.', 'rad', 1e-12, 4),
    Spec('default_solver', USUAL.default_solver, 'Used when the request names none.',
         choices=('auto', *solver_names())),
    Spec('default_select', USUAL.default_select, 'Used when the request says nothing.',
         choices=('first', 'nearest')),
    Spec('max_solutions', 64, 'Requests for more solutions are refused.', '', 1, 10_000),
    Spec('random_state', USUAL.random_state,
         'Start of the random numbers of each search, so that equal requests get equal answers; '
         '-1: different each time.', '', -1, 2**32 - 1),
    Spec('moveit_names', False,
         "Offer MoveIt's services compute_ik, compute_fk, compute_cartesian_path, "
         'check_state_validity, get_planning_scene and apply_planning_scene, and topic '
         'monitored_planning_scene, in their types and by their names, where no move_group does.',
         read_only=True),
    Spec('workers', max(1, (os.cpu_count() or 2) - 1), 'Worker processes for long searches. As '
         'many goals of the action are searched for at a time, the others wait; what has taken '
         'least time comes first.', '', 1, 256, read_only=True),
    Spec('controllers', [''],
         'Names of the controllers that may move the robot; for each, parameters <name>.kind, '
         '<name>.group and <name>.topic. Empty: nothing is ever moved.', read_only=True),
    Spec('while_executing', 'refuse',
         'A motion that is asked for while another one moves its joints: is refused, or replaces '
         'the other, which is braked before.', choices=('refuse', 'replace')),
    Spec('velocity_scaling', 0.1, 'Part of the velocity limits that motions use, when the '
         'request gives none.', '', 1e-3, 1),
    Spec('acceleration_scaling', 0.1, 'Part of the acceleration and jerk limits that motions '
         'use.', '', 1e-3, 1),
    Spec('default_max_velocity', 1.0, 'Of joints for which neither the URDF nor joint_limits '
         'has one.', 'rad/s or m/s', 1e-6, 1e6),
    Spec('default_max_acceleration', 3.0, 'Of joints for which joint_limits has none.',
         'rad/s^2 or m/s^2', 1e-6, 1e6),
    Spec('default_max_jerk', 60.0, 'Of joints for which joint_limits has none.',
         'rad/s^3 or m/s^3', 1e-6, 1e9),
    Spec('execute_state_timeout', 0.5, 'Before a motion, and while it runs, joint_states of the '
         'moved joints must not be older.', 's', 0.01, 60),
    Spec('path_resolution', 0.01, 'Largest move of a joint between two checks for collisions on '
         'the way of a motion.', 'rad or m', 1e-4, 0.1),
    Spec('start_tolerance', 0.01, 'The joints may be so far from where a motion starts when it '
         'is sent.', 'rad or m', 1e-6, 10),
    Spec('goal_tolerance', 1e-3, 'The robot has arrived when each moved joint is so near to '
         'its goal.', 'rad or m', 1e-6, 10),
    Spec('arrival_timeout', 2.0, 'The robot may arrive so long after the end of the motion as '
         'it was planned.', 's', 0.05, 600),
    Spec('max_tracking_error', 0.2, 'A motion is stopped when a moved joint is farther from all '
         'that it was commanded from 0.3 s ago to 0.06 s ahead; 0: never.', 'rad or m', 0, 1e6),
    Spec('max_jump', 1.0, 'With execute, joints may move so far to a solution, unless the request '
         'has a max_joint_change of its own; 0: not bounded. ~/execute has its own bound.',
         'rad or m', 0, 1e6),
    Spec('servo_rate', 250.0, 'Steps a second while the servo is on.', 'Hz', 20, 1000),
    Spec('servo_velocity_scaling', 0.25, 'Part of the velocity limits that the servo uses, when '
         'the request gives none.', '', 1e-3, 1),
    Spec('servo_acceleration_scaling', 0.5, 'Part of the acceleration limits that the servo '
         'uses.', '', 1e-3, 1),
    Spec('servo_linear_velocity', 0.25, 'Fastest that the servo moves the tip.', 'm/s', 1e-3, 10),
    Spec('servo_angular_velocity', 0.8, 'Fastest that the servo turns the tip.', 'rad/s', 1e-3,
         20),
    Spec('servo_control_dimensions', [True] * 6, 'Which of x y z rx ry rz the tip follows, unless '
         'the request says it.'),
    Spec('servo_command_timeout', 0.1, 'Commands of the servo that are older do not count: the '
         'arm comes to rest.', 's', 0.02, 10),
    Spec('servo_margin', 0.01, 'The servo keeps so far from everything.', 'm', 1e-4, 1),
    Spec('command_period', 0.01, 'Time between two commands of a controller of kind position or '
         'joint_state.', 's', 0.001, 0.05, read_only=True),
)


_LIMITS = {'velocity': 'rad/s or m/s', 'acceleration': 'rad/s^2 or m/s^2',
           'jerk': 'rad/s^3 or m/s^3'}
_LIMIT = re.compile(r'joint_limits\.(.+)\.(max_(\w+)|has_(\w+)_limits)')   # MoveIt's names

LIMITS = tuple(f'joint_limits.<joint>.{name}' for kind in _LIMITS
               for name in (f'max_{kind}', f'has_{kind}_limits'))


def controller_specs(names: Sequence[str]) -> Iterator[Spec]:
    """Yield the parameters of the controllers `names`; raises ParameterError for bad names."""
    for name in names:
        if not re.fullmatch('[A-Za-z][A-Za-z0-9_]*', name) or names.count(name) > 1:
            why = 'twice' if names.count(name) > 1 else 'which is no name'
            raise ParameterError(f"controllers has '{name}' {why}; valid: names such as "
                                 'arm_controller, each once')
        yield Spec(f'{name}.kind', 'joint_trajectory', f"What controller '{name}' listens to.",
                   choices=controller_kinds(), read_only=True)
        yield Spec(f'{name}.group', '', f"Group that controller '{name}' moves. Empty: all "
                   'joints.', read_only=True)
        yield Spec(f'{name}.topic', '', f"Topic, or action, of controller '{name}', in the "
                   "node's namespace unless it begins with /. Empty: the usual one of its kind.",
                   read_only=True)


def joint_limit_specs(given: Iterable[str]) -> Iterator[Spec]:
    """Yield the parameters joint_limits.<joint>.* among the names that were given."""
    for name in given:
        found = _LIMIT.fullmatch(name)
        joint, _, most, has = found.groups() if found else ('', '', '', '')
        if most in _LIMITS:
            yield Spec(name, 1.0, f"Largest {most} of joint '{joint}' in motions; the URDF's "
                       'velocity is not exceeded.', _LIMITS[most], 1e-6, 1e9)
        elif has in _LIMITS:
            yield Spec(name, True, f'Whether joint_limits.{joint}.max_{has} counts.')


def limited_joints(names: Iterable[str]) -> set[str]:
    """Return the joints whose limits are among parameters called `names`."""
    return {found.group(1) for name in names if (found := _LIMIT.fullmatch(name))}
