"""
Run the benchmarks of docs/benchmarks.md, and write the results for this page.

    tools/run pip install pytracik eaik roboticstoolbox-python drake yourdfpy python-fcl trimesh
    python -m venv placo && placo/bin/pip install placo
    taskset -c 0 tools/run python benchmarks/all.py --placo-python placo/bin/python
    tools/run python docs/benchmarks.py

The last command draws the page's plots and fills its tables.
"""

import argparse
from pathlib import Path
import subprocess
import sys

FOLDER = Path(__file__).parent
RESULTS = FOLDER.parent / 'docs/results'
RUNS = {
    'pose_ik': ['--count', '1000', '--cpu'],
    'whole_body_ik': ['--count', '500'],
    'constrained_ik': ['--count', '100', '--cpu'],
    'collision_ik': ['--count', '100', '--cpu'],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--only', nargs='+', default=list(RUNS), choices=list(RUNS),
                        metavar='NAME', help=', '.join(RUNS))
    parser.add_argument('--placo-python', metavar='PATH', help='an interpreter that has placo')
    parser.add_argument('--count', help='number of problems of each kind, for a short run')
    parser.add_argument('--folder', type=Path, default=RESULTS, help='folder of the results')
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.only:
        arguments = [*RUNS[name], '--json', str(options.folder / f'{name}.json')]
        if options.count:
            arguments += ['--count', options.count]
        if name == 'whole_body_ik' and options.placo_python:
            arguments += ['--placo-python', options.placo_python]
        print(f'{name}.py {" ".join(arguments)}', flush=True)
        subprocess.run([sys.executable, FOLDER / f'{name}.py', *arguments], check=True)


if __name__ == '__main__':
    main()
