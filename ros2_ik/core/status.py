"""Status codes of solutions, with MoveIt's numbers, and exit flags of solvers."""

from enum import IntEnum


class Status(IntEnum):
    """Outcome of a request, with the numbers of moveit_msgs/MoveItErrorCodes."""

    SUCCESS = 1
    # not in MoveIt; returned only if the request allows an approximate solution
    APPROXIMATE = 2
    NO_IK_SOLUTION = -31
    TIMED_OUT = -6
    GOAL_IN_COLLISION = -12
    GOAL_CONSTRAINTS_VIOLATED = -14
    PREEMPTED = -7
    INVALID_ROBOT_STATE = -17
    ROBOT_STATE_STALE = -23
    FRAME_TRANSFORM_FAILURE = -21
    INVALID_LINK_NAME = -18
    INVALID_GROUP_NAME = -15
    INVALID_GOAL_CONSTRAINTS = -16
    INVALID_OBJECT_NAME = -19
    START_STATE_IN_COLLISION = -10
    INVALID_MOTION_PLAN = -2
    CONTROL_FAILED = -4
    COLLISION_CHECKING_UNAVAILABLE = -22
    FAILURE = 99999

    def __str__(self) -> str:
        """Return the name with the number, as in `SUCCESS (1)`."""
        return f'{self.name} ({self.value})'


class ExitFlag(IntEnum):
    """Reason why a descent ended, with the numbers of MATLAB's inverseKinematics."""

    # not in MATLAB
    NOT_RUN = 0
    # MATLAB also returns 1 for a local minimum away from the target
    CONVERGED = 1
    ITERATION_LIMIT = 2
    TIME_LIMIT = 3
    STEP_TOO_SMALL = 4
    ERROR_CHANGE_TOO_SMALL = 5
    # not in MATLAB
    CANCELLED = -1
