"""Joint values along a path of the tool, and the options of their search."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Event

import numpy as np

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import between, flag, positive, whole
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.path.tool_paths import ToolPath
from ros2_ik.core.problem import IKProblem, JointChange, largest_change
from ros2_ik.core.status import Status

# two samples farther apart [m] have configurations too far apart to find one between
LARGEST_SPACING = 0.1


@dataclass(frozen=True)
class PathOptions:
    """
    Options of `solve_path`; raises InvalidOptionError.

    The tool's path is sampled at a `spacing` [m] (a radian of rotation counts as 0.2 m). From one
    configuration of the answer to the next no joint moves by more than `max_joint_step` [rad, m],
    and halfway the tool is within `max_deviation` [m] and `max_rotation` [rad] of its path:
    configurations are added where needed. `starts` is how many configurations at the first pose
    are tried; with `hold_start` the path starts at the seed, and nowhere else. Between
    configurations contacts are checked each time a joint has moved by `resolution` [rad, m].
    With `advice` a path that breaks is searched for anew, with other starts and with axes freed.
    `timeout` [s] is that of the whole search; `random_state` a number: the same number gives the
    same answer, unless the time runs out. `cancel` is an event or callable.
    """

    spacing: float = 0.01
    max_joint_step: float = 0.2
    max_deviation: float = 1e-3
    max_rotation: float = 1e-2
    starts: int = 16
    hold_start: bool = False
    resolution: float = 0.01
    advice: bool = True
    timeout: float = 30.0
    random_state: int = 0
    cancel: Event | Callable[[], bool] | None = None

    def __post_init__(self) -> None:
        between(self.spacing, 'spacing', 1e-6, LARGEST_SPACING, InvalidOptionError)
        for name in ('max_joint_step', 'max_deviation', 'max_rotation', 'resolution',
                     'timeout'):
            positive(getattr(self, name), name, InvalidOptionError)
        whole(self.starts, 'starts', InvalidOptionError, most=1000)
        whole(self.random_state, 'random_state', InvalidOptionError, 0)
        flag(self.hold_start, 'hold_start', InvalidOptionError)
        flag(self.advice, 'advice', InvalidOptionError)


@dataclass(frozen=True)
class PathBreak:
    """
    The place at which a path ends early, and the reason.

    `parameter` [m] and `pose` (4, 4) are those of the first sample that is not reached, `index`
    is the number of the last configuration (-1: none). `reason` is 'contact', 'joint limit',
    'reach', 'singularity', 'constraint', 'step', 'start' or 'time'; `text` says more, and `advice`
    what would help, or ''.
    """

    index: int
    parameter: float
    pose: Array = field(repr=False)
    reason: str
    text: str
    advice: str = ''


@dataclass(frozen=True, eq=False)
class Path:
    """
    Joint values along a path of the tool.

    `q` (n, nq) are the configurations, `parameters` (n,) [m] their places on `tool_path`.
    `fraction`, from 0 to 1, is how much of the path's length they reach. With status SUCCESS all
    of the path is reached, each configuration was accepted, and from one to the next no joint
    moves farther than the options allow. Otherwise they end where `broken_at` says.
    """

    status: Status
    message: str
    q: Array = field(repr=False)
    parameters: Array = field(repr=False)
    tool_path: ToolPath = field(repr=False)
    problem: IKProblem = field(repr=False)
    options: PathOptions = field(repr=False)
    broken_at: PathBreak | None = None
    seconds: float = 0.0

    def __bool__(self) -> bool:
        return self.success

    @property
    def success(self) -> bool:
        """True if the whole path is reached."""
        return self.status is Status.SUCCESS

    @property
    def fraction(self) -> float:
        """The part of the path's length that is reached."""
        return float(self.parameters[-1]) / self.tool_path.length if len(self.q) else 0.0

    @property
    def joints(self) -> Mapping[str, Array]:
        """Values (n,) of the joints that may move, by name."""
        robot = self.problem.robot
        return {name: self.q[:, robot.joint(name).index] for name in self.problem.joint_names}

    @property
    def poses(self) -> Array:
        """The tool's poses at the configurations, (n, 4, 4)."""
        return np.array([self.tool_path.pose(s) for s in self.parameters]).reshape(-1, 4, 4)

    @property
    def largest_step(self) -> JointChange | None:
        """The largest change of a joint from one configuration to the next."""
        changes = [largest_change(self.problem.active, before, after)
                   for before, after in zip(self.q, self.q[1:], strict=False)]
        return max((change for change in changes if change), key=lambda change: change.change,
                   default=None)
