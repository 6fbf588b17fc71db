"""Times and successes of solvers: printed, and written as JSON for docs/benchmarks.py."""

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
import json
import os
from pathlib import Path
import platform
import time
from typing import Any

import numpy as np

CPU, WALL = "CPU time of the solver's process", 'wall clock'


class Record:
    """Times, successes and false claims of one solver on one kind of problem."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.good: list[bool] = []     # success was claimed, and the judge agrees
        self.wrong: list[str] = []     # the judge's rejections of claims of success

    def add(self, seconds: float, answer: Any, judge: Callable[[Any], str]) -> None:
        """Add the answer to one problem, or None; `judge` returns '' if it accepts an answer."""
        rejection = '' if answer is None else judge(answer)
        self.seconds.append(seconds)
        self.good.append(answer is not None and not rejection)
        if rejection:
            self.wrong.append(rejection)

    def summary(self, limits: Sequence[float]) -> dict[str, Any]:
        """
        Return counts, percentages and times [ms].

        `success` has the percentage solved within each of the time limits [s], under the limit in
        milliseconds, and the percentage solved at all, under 'all'.
        """
        times, solved = np.array(self.seconds), np.array(self.good, dtype=bool)
        success = {f'{1e3 * limit:g}': 100 * float(np.mean(solved & (times <= limit)))
                   for limit in limits}
        return {'count': len(times), 'success': success | {'all': 100 * float(np.mean(solved))},
                'wrong': len(self.wrong), 'mean_ms': 1e3 * float(times.mean()),
                'median_ms': 1e3 * float(np.median(times)),
                'p99_ms': 1e3 * float(np.percentile(times, 99))}


class Results:
    """
    Results of one benchmark: for each kind of problem a summary of each solver, ours first.

    `now` is its clock [s]; `limits` are the time limits of its success rates [s].
    """

    def __init__(self, benchmark: str, cpu: bool, turn: int, packages: Sequence[str],
                 limits: Sequence[float]) -> None:
        self.now = time.process_time if cpu else time.perf_counter
        self._head = {
            'benchmark': benchmark, 'clock': CPU if cpu else WALL,
            'turns': f'{turn} problem{"s" if turn > 1 else ""} each',
            'date': time.strftime('%Y-%m-%d'), 'machine': machine(),
            'versions': {'python': platform.python_version(), **versions(packages)}}
        self._limits, self._rows = limits, list[dict[str, Any]]()

    def add(self, kind: str, start: str, records: Mapping[str, Record]) -> None:
        """Print and store the solvers' records, by name, of one kind of problem."""
        print(f'{kind}, {start} start:')
        solvers = {name: record.summary(self._limits) for name, record in records.items()}
        ours = next(iter(solvers.values()))['mean_ms']
        for name, row in solvers.items():
            print(f'    {name:15s} {_text(row)}   mean / ours {row["mean_ms"] / ours:6.2f}',
                  flush=True)
        for name, record in records.items():
            for text in record.wrong[:3]:
                print(f'    {name}: {text}')
        self._rows.append({'kind': kind, 'start': start, 'solvers': solvers})

    def add_versions(self, found: dict[str, str]) -> None:
        self._head['versions'] |= found

    def write(self, path: str | None) -> None:
        if path:
            text = json.dumps(self._head | {'rows': self._rows}, indent=1)
            Path(path).write_text(text + '\n', encoding='utf-8')


def _text(row: dict[str, Any]) -> str:
    rates = '  '.join(f'{limit} {share:6.2f} %' for limit, share in row['success'].items())
    return (f'success within ms: {rates}   wrong {row["wrong"]:3d}   mean {row["mean_ms"]:7.3f} '
            f'ms   median {row["median_ms"]:7.3f}   p99 {row["p99_ms"]:7.3f}')


def machine() -> str:
    """Return the processor's name and the number of cores that this process may use."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path('/proc/cpuinfo')
    if cpuinfo.exists():
        names = [line.split(':', 1)[1].strip() for line in cpuinfo.read_text().splitlines()
                 if line.startswith('model name')]
        model = names[0] if names else model
    count = len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count()
    return f'{model}, {count} core{"s" if count != 1 else ""} used, {platform.system()}'


def versions(packages: Sequence[str]) -> dict[str, str]:
    """Return the versions of those packages that are installed."""
    found = {}
    for name in ('ros2_ik', 'numpy', 'numba', 'pin', *packages):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            pass
    return found
