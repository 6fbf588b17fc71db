"""Whether a process that owes answers is at work, waits for its turn, or is stuck."""

from collections.abc import Iterator
import os
from pathlib import Path

AT_SEARCHES, AT_MAKING = 'ik_worker', 'ik_making'   # the names of the process
# Computing time [s] after which it is stuck, when all that time it has owed an answer.
COMPUTING = 3.0   # at searches, which look at the clock all the time
MAKING = 900.0    # while it makes geometry, which it cannot interrupt
STARTING = 60.0   # before the first sign of life
IDLE = 20         # looks in a row at which it neither computes nor would, if it had its turn
TICK = 1 / os.sysconf('SC_CLK_TCK')


class Pulse:
    """
    Judges by computing time, for the clock on the wall says nothing on a busy machine.

    Whoever owns it tells of each sign of life, and looks while answers are overdue.
    """

    def __init__(self, pid: int) -> None:
        self._folder = Path(f'/proc/{pid}')
        self.beat()

    def beat(self) -> None:
        """Hear a sign of life."""
        self._begun: tuple[str, float] | None = None   # at what, and its computing time then [s]
        self._last, self._idle = -1.0, 0

    @property
    def making(self) -> bool:
        """Whether it makes something for long."""
        try:
            return (self._folder / 'comm').read_text(errors='replace').strip() == AT_MAKING
        except OSError:   # it has ended
            return False

    def stuck(self, patience: float = COMPUTING) -> bool:
        """Look, every half a second or so; `patience` is for its computing time [s]."""
        try:
            name = (self._folder / 'comm').read_text(errors='replace').strip()
        except OSError:   # it has ended, as its pipe will tell
            return False
        seen = list(self._threads())
        seconds = sum(used for _, used in seen)
        if self._begun is None or self._begun[0] != name:
            self._begun = name, seconds
        # R waits for its turn, D for the disk
        waits = seconds <= self._last and not any(state in 'RD' for state, _ in seen)
        self._idle = self._idle + 1 if waits else 0
        self._last = seconds
        if name == AT_MAKING:
            patience = MAKING
        return seconds > self._begun[1] + patience or self._idle > IDLE

    def _threads(self) -> Iterator[tuple[str, float]]:
        """Yield the state and computing time [s] of each thread."""
        for path in self._folder.glob('task/*/stat'):
            try:
                fields = path.read_text(errors='replace').rpartition(')')[2].split()
            except OSError:   # it has just ended
                continue
            yield fields[0], (int(fields[11]) + int(fields[12])) * TICK
