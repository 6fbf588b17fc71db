"""Joint values along a tool path, and the options of the search for them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Event

from ros2_ik.core.arrays import Array
from ros2_ik.core.checks import between, check_cancel, flag, positive, whole
from ros2_ik.core.errors import InvalidOptionError
from ros2_ik.core.path.tool_paths import ToolPath
from ros2_ik.core.problem import IKProblem
from ros2_ik.core.status import Status

# largest valid spacing [m]; farther apart, descents between two samples fail too often
LARGEST_SPACING = 0.1


@dataclass(frozen=True)
class PathOptions:
    """
    Options of `solve_path`.

    - `spacing` [m]: distance of the samples of the tool path; 1 rad of rotation counts as 0.2 m.
    - `max_joint_step` [rad, m]: largest change of a joint between consecutive configurations.
    - `max_deviation` [m]: largest distance of the tool from the path halfway between consecutive
      configurations; 1 rad of rotation counts as 0.2 m. Configurations are added as necessary.
    - `starts`: number of configurations at the first pose that are tried.
    - `hold_start`: True starts the path at the seed only.
    - `resolution` [rad, m]: largest joint change between two collision checks.
    - `timeout` [s]: time limit of the whole search.
    - `cancel`: an event, or a callable that returns True to cancel the search.

    Raises InvalidOptionError.
    """

    spacing: float = 0.01
    max_joint_step: float = 0.2
    max_deviation: float = 1e-3
    starts: int = 16
    hold_start: bool = False
    resolution: float = 0.01
    timeout: float = 30.0
    cancel: Event | Callable[[], bool] | None = None

    def __post_init__(self) -> None:
        between(self.spacing, 'spacing', 1e-6, LARGEST_SPACING, InvalidOptionError)
        for name in ('max_joint_step', 'max_deviation', 'resolution', 'timeout'):
            positive(getattr(self, name), name, InvalidOptionError)
        whole(self.starts, 'starts', InvalidOptionError, most=1000)
        flag(self.hold_start, 'hold_start', InvalidOptionError)
        if self.cancel is not None:
            check_cancel(self.cancel, InvalidOptionError)


@dataclass(frozen=True, eq=False)
class Path:
    """
    Joint values along a tool path; true in a condition if the whole path is reached.

    `q` (n, nq) are the configurations at the `parameters` (n,) [m] of `tool_path`. With status
    SUCCESS they cover the whole path, each was accepted, and consecutive ones are within
    `max_joint_step`. Otherwise they end before `broken_at` [m], the parameter of the first sample
    that is not reached (None for a whole path). `reason` is then 'contact', 'joint limit',
    'reach', 'singularity', 'constraint', 'step', 'start' or 'time'. The message has the details
    and, if `solve_path` finds one, a change of the problem with which the path gets farther.
    """

    status: Status
    message: str
    q: Array = field(repr=False)
    parameters: Array = field(repr=False)
    tool_path: ToolPath = field(repr=False)
    problem: IKProblem = field(repr=False)
    options: PathOptions = field(repr=False)
    broken_at: float | None = None
    reason: str = ''
    seconds: float = 0.0

    def __bool__(self) -> bool:
        return self.success

    @property
    def success(self) -> bool:
        """True if the whole path is reached."""
        return self.status is Status.SUCCESS

    @property
    def fraction(self) -> float:
        """The reached share of the length of the path, in [0, 1]."""
        return float(self.parameters[-1]) / self.tool_path.length if len(self.q) else 0.0

    @property
    def joints(self) -> Mapping[str, Array]:
        """Values (n,) of the active joints, by name."""
        robot = self.problem.robot
        return {name: self.q[:, robot.joint(name).index] for name in self.problem.joint_names}

    @property
    def not_checked(self) -> tuple[str, ...]:
        """Sentences on what the collision check of the path left out."""
        return self.problem.not_checked
