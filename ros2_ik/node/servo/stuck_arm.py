"""An arm that does not follow the servo: what holds it, and when it follows again."""

import numpy as np

from ros2_ik.core import Array
from ros2_ik.node.controllers.controller import MOST_LATE

STUCK = 0.25    # part of max_tracking_error that is too far for a joint that stands,
TRIAL = 0.05    # and by which the arm is moved to see whether it follows again
PAUSE = 0.5     # before each of these trials [s]


class StuckArm:
    """
    Notices an arm that does not follow, and tries whether it does again.

    `reason` says which joint does not follow, '' where all do. No command is to be followed
    while `holds`. What pushes the arm is to be taken back as soon as it stands: `begin` hears
    where. From there it is moved a bit now and then, and is free when it follows that.

    `ahead` is how long before joints are to be somewhere that is told [s].
    """

    def __init__(self, joints: tuple[str, ...], ahead: float) -> None:
        self._joints, self._patience = joints, MOST_LATE + ahead
        self.reason, self.holds = '', False
        self._since = 0.0                   # when it was told to stand, or to move a bit [s]
        self._base: Array | None = None     # where it stood

    @property
    def pushes(self) -> bool:
        """Whether it is still told to be where it could not go."""
        return self.holds and self._base is None

    def begin(self, base: Array, now: float) -> None:
        """Take down where it is told to stand from now on, (n,)."""
        self._base, self._since, self.holds = base, now, True

    def look(self, error: Array, told: Array, apart: Array, stood: Array, most: float,
             now: float) -> bool:
        """
        Return whether it is to be told to stand where it is measured.

        Joints (n,) have an `error`, as in `Tracking`, of `most` at most [rad, m]. They are `told`
        to be somewhere, and are `apart` from there; they `stood` for so long [s].
        """
        stands, trial = stood > self._patience, TRIAL * most
        if not self.reason and not self._notice(error, np.where(stands, STUCK, 1.0) * most):
            return False
        moved = np.inf if self._base is None else float(np.abs(told - self._base).max())
        if moved <= trial:
            self.holds = self.holds and now < self._since + PAUSE
            return False
        if float(np.abs(apart).max()) <= min(moved / 2, trial):
            self.reason, self.holds, self._base = '', False, None
            return False
        if not self.holds:
            self.holds, self._since = True, now
        late = self._base is None or now > self._since + self._patience
        return bool(late and stands.all())

    def _notice(self, error: Array, bound: Array) -> bool:
        k = int(np.argmax(error / bound))
        if error[k] > bound[k]:
            self.reason = (f"joint '{self._joints[k]}' does not follow: it is {error[k]:.3g} from "
                           'where it was told to be; the arm goes on from where it stands, when '
                           'it follows again')
            self.holds = True
        return self.holds
