"""Results of benchmarks as JSON, for docs/benchmarks.py."""

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
import json
import os
from pathlib import Path
import platform
import time
from typing import Any

import numpy as np

CPU, WALL = "CPU time of the solver's process", 'wall clock'


def summary(seconds: Sequence[float], good: Sequence[bool], wrong: int,
            within: Sequence[float]) -> dict[str, Any]:
    """
    Summarize one solver's times [s] and successes, one for each problem.

    `success` has the percentages solved within so many seconds, by milliseconds, and in `all`.
    """
    times, solved = np.array(seconds), np.array(good, dtype=bool)
    success = {f'{1e3 * limit:g}': 100 * float(np.mean(solved & (times <= limit)))
               for limit in within}
    return {'count': len(times), 'success': success | {'all': 100 * float(np.mean(solved))},
            'wrong': int(wrong), 'mean_ms': 1e3 * float(times.mean()),
            'median_ms': 1e3 * float(np.median(times)),
            'p99_ms': 1e3 * float(np.percentile(times, 99))}


def table_row(found: dict[str, Any]) -> str:
    """Return a summary as text."""
    rates = '  '.join(f'{limit} {share:6.2f} %' for limit, share in found['success'].items())
    return (f'success by ms: {rates}   wrong {found["wrong"]:3d}   mean {found["mean_ms"]:7.3f} '
            f'ms   median {found["median_ms"]:7.3f}   p99 {found["p99_ms"]:7.3f}')


class Results:
    """What a benchmark found: for each kind of problem what each solver did, the first ours."""

    def __init__(self, benchmark: str, clock: str, turns: str, packages: Sequence[str]) -> None:
        self._head = {
            'benchmark': benchmark, 'clock': clock, 'turns': turns,
            'date': time.strftime('%Y-%m-%d'), 'machine': machine(),
            'versions': {'python': platform.python_version(), **versions(packages)}}
        self._rows: list[dict[str, Any]] = []

    def add(self, kind: str, start: str, solvers: dict[str, dict[str, Any]]) -> None:
        """Add what solvers did, summaries by name, on problems of a kind."""
        self._rows.append({'kind': kind, 'start': start, 'solvers': solvers})

    def add_versions(self, found: dict[str, str]) -> None:
        self._head['versions'] |= found

    def write(self, path: str | None) -> None:
        if path:
            text = json.dumps(self._head | {'rows': self._rows}, indent=1)
            Path(path).write_text(text + '\n', encoding='utf-8')


def machine() -> str:
    """Return the processor and how many cores of it this process may use."""
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
