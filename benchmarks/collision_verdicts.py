"""
What collides, by the checker and by judges that share nothing with it.

    tools/run pip install python-fcl yourdfpy trimesh
    tools/run python benchmarks/collision_verdicts.py [--states 100000] [--robots ur5] [--seed 0]

Random scenes of all kinds of shapes, with up to three half-spaces and planes; things are moved,
added and removed. In each state `collides` (twice), `in_collision` and `distances` are held
against python-fcl pair by pair, closed forms for what has no end, and trimesh for what is wholly
inside a mesh. Half an hour for 100 000 states.
"""

import argparse
from collections import Counter
from pathlib import Path
import sys

import numpy as np
from peers import leave

from ros2_ik.core import compile_all, Robot

sys.path.insert(0, str(Path(__file__).parents[1] / 'test' / 'core'))
try:
    from all_shapes import differences
except ImportError as absent:
    leave(absent, __doc__, 'python-fcl yourdfpy trimesh')

EACH = 20      # states in each version of a scene, of which there are five


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--states', type=int, default=100_000, help='in all')
    parser.add_argument('--robots', nargs='+', default=['panda', 'ur5', 'baxter'])
    parser.add_argument('--seed', type=int, default=0)
    options = parser.parse_args()
    compile_all()
    generator, total, wrong = np.random.default_rng(options.seed), Counter(), []
    while total['states'] < options.states:
        for name in options.robots:
            counts, texts = differences(Robot.load(name), 1, EACH, generator)
            total += counts
            wrong += texts
            for text in texts[:3]:
                print(f'{name}: {text}', flush=True)
    print(f'{dict(total)}, wrong: {len(wrong)}')
    return bool(wrong)


if __name__ == '__main__':
    sys.exit(main())
