"""
The loop on the mock robot: ask ComputeIK for a pose with `execute`, have the arm move, compare.

    tools/run python benchmarks/motion_loop.py [--robot panda] [--count 200] [--scene table]

Starts the mock robot and a node that moves it as fast as the limits let it, and asks for random
poses that some configuration reaches untouched in the scene, each from where the arm stands. All
motions are recorded from joint_states (100 Hz, reliable) and judged by what shares no code with
the node (benchmarks/motion/motion_judge.py): arrived within 1e-3 rad of the solution, or blocked,
with what touches and where; positions, velocities and accelerations within their limits; nothing
touched on the way. After three blocks in a row the arm goes home by ~/execute.

Exits with 1 if a judge has anything to say.
"""

import argparse
from collections import Counter
from collections.abc import Iterable
import os
from pathlib import Path
import sys
import tempfile

os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / 'test/node'))   # shared with the tests

from motion.pose_tour import Leg, Tour, toured  # noqa: E402

from ros2_ik.core import Status  # noqa: E402
from ros2_ik.demo.domain import unused_domain  # noqa: E402


def tell(number: int, leg: Leg) -> None:
    """Print a leg that a judge, or the node, had something against."""
    if leg.complaints or leg.kind == 'refused':
        print(f'{number}: {leg.kind}, status {leg.status}: {leg.message}', flush=True)
    for text in leg.complaints:
        print(f'{number}:   JUDGE: {text}', flush=True)
    if number % 20 == 0:
        print(f'{number} poses', flush=True)


def spread(values: Iterable[float], unit: str) -> str:
    found = np.array(list(values))
    if not len(found):
        return '-'
    return (f'median {np.median(found):.4g}, p95 {np.percentile(found, 95):.4g}, '
            f'max {found.max():.4g} {unit}')


def rows(done: Tour) -> Iterable[tuple[str, str]]:
    """Yield the table."""
    tour = done.tour
    legs = {kind: [leg for leg in tour.legs if leg.kind == kind]
            for kind in ('arrived', 'blocked', 'refused', 'return')}
    confirmed = [leg for leg in legs['blocked'] if not leg.complaints]
    worst = tour.extremes
    yield 'arrived within 1e-3 rad', f'{len(legs["arrived"])}'
    yield 'blocked', f'{len(legs["blocked"])}'
    yield '  confirmed by python-fcl', (f'{len(confirmed)}, of these on raw triangles, too: '
                                        f'{sum(leg.raw for leg in confirmed)}')
    yield 'refused otherwise', f'{len(legs["refused"])}'
    for status, count in Counter(leg.status for leg in legs['refused']).items():
        yield f'  {Status(status).name}', f'{count}'
    yield 'motions on the way home', f'{len(legs["return"])}'
    yield 'states judged', f'{tour.states}'
    yield 'off the solution', spread((leg.off for leg in legs['arrived']), 'rad')
    yield 'worst position', f'{max(worst.beyond, 0.0):.2g} rad beyond its limit'
    yield 'worst velocity, of its limit', (f'{worst.steps:.4f} by positions, '
                                           f'{worst.speeds:.4f} told')
    yield 'worst acceleration, of its limit', f'{worst.accelerations:.4f}'
    yield 'motions', spread((leg.motion_seconds for leg in legs['arrived']), 's')
    yield 'answers after the motion', spread(
        (leg.seconds - leg.motion_seconds for leg in legs['arrived']), 's')
    yield 'answers where blocked', spread((leg.seconds for leg in legs['blocked']), 's')
    yield "'defect:' in the mock's log", f'{done.mock_log.count("defect:")}'
    yield 'complaints of judges', f'{len(tour.complaints)}'


def main() -> int:
    """Run the loop and print the table; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--robot', choices=('panda', 'ur5'), default='panda')
    parser.add_argument('--count', type=int, default=200)
    parser.add_argument('--scene', default='table', help="name or file; '' for none")
    parser.add_argument('--seed', type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        done = toured(unused_domain(), Path(folder), arguments.robot, arguments.scene,
                      arguments.count, arguments.seed, tell)
    print(f'\n{arguments.robot}, scene {arguments.scene or "empty"}, {arguments.count} poses')
    for name, text in rows(done):
        print(f'{name:34s} {text}')
    return int(bool(done.tour.complaints or 'defect:' in done.mock_log))


if __name__ == '__main__':
    sys.exit(main())
