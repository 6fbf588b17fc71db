"""docs/benchmarks.md matches the recorded results; benchmarks run and name missing peers."""

from pathlib import Path
import re
import runpy
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

FOLDER = Path(__file__).parents[1] / 'benchmarks'
RUN = """
import runpy, sys
absent, folder, *sys.argv = sys.argv[1:]
sys.modules[absent] = None
sys.path.insert(0, folder)
runpy.run_path(f'{folder}/{sys.argv[0]}', run_name='__main__')
"""


def run_benchmark(missing, *arguments):
    return subprocess.run([sys.executable, '-c', RUN, missing, str(FOLDER), *arguments],
                          cwd=FOLDER.parent, capture_output=True, text=True, timeout=100)


def test_benchmark_without_its_peer_names_the_package_to_install():
    process = run_benchmark('yourdfpy', 'pose_ik.py')
    line, = process.stderr.splitlines()
    assert process.returncode == 1
    assert line.startswith('yourdfpy is not installed: tools/run pip install ')
    assert 'yourdfpy' in line.split('install ')[1].split()


def test_benchmark_runs_without_wrong_answers():
    process = run_benchmark('no_such_package', 'whole_body_ik.py', '--count', '1')
    assert process.returncode == 0 and process.stdout.count('wrong   0 ') == 6, process


ROOT = Path(__file__).parents[1]
PAGE = (ROOT / 'docs/benchmarks.md').read_text(encoding='utf-8')
SCRIPT = runpy.run_path(str(ROOT / 'docs/benchmarks.py'))
RESULTS = SCRIPT['results']()


def commands(text):
    """Yield the script and the options of each command in a text."""
    for script, arguments in re.findall(r'python ((?:benchmarks|docs)/\w+\.py)([^`\n]*)', text):
        yield script, re.findall(r'--[a-z-]+', arguments)


def test_commands_on_the_benchmarks_page_exist():
    found = list(commands(PAGE))
    assert {script for script, _ in found} >= {'benchmarks/all.py', 'docs/benchmarks.py'}
    for script, options in found:
        text = (ROOT / script).read_text(encoding='utf-8')
        for option in options:
            assert f"add_argument('{option}'" in text, f'{script} {option}'


def test_all_py_runs_existing_benchmarks_with_existing_options():
    runs = runpy.run_path(str(ROOT / 'benchmarks/all.py'))['RUNS']
    assert set(RESULTS) == set(runs) == set(re.findall(r'<!-- (\w+_ik) -->', PAGE))
    for name, options in runs.items():
        text = (ROOT / f'benchmarks/{name}.py').read_text(encoding='utf-8')
        for option in ('--json', *(word for word in options if word.startswith('--'))):
            assert f"add_argument('{option}'" in text, f'{name}.py {option}'


def test_benchmarks_page_matches_the_recorded_results():
    assert SCRIPT['filled'](PAGE, RESULTS) == PAGE


@pytest.mark.parametrize('name', RESULTS)
def test_plot_of_a_benchmark_matches_the_recorded_results(name):
    text = (ROOT / f'docs/results/{name}.svg').read_text(encoding='utf-8')
    assert text == SCRIPT['picture'](RESULTS[name])
    ratios = sum(len(values) for _, values in SCRIPT['ratios'](RESULTS[name]))
    bars = [rect for rect in ElementTree.fromstring(text).iter('{http://www.w3.org/2000/svg}rect')
            if rect.get('height') == str(SCRIPT['BAR'] - 2) and rect.get('y') != '8']
    assert len(bars) == ratios > 0


def test_readme_plot_matches_the_recorded_results():
    text = SCRIPT['SUMMARY'].read_text(encoding='utf-8')
    assert text == SCRIPT['summary'](RESULTS) and set(SCRIPT['TITLES']) == set(RESULTS)
    for name, title in SCRIPT['TITLES'].items():
        mean, = re.findall(r'random start: ([^,\n]*?) [\d.]+[,.]', SCRIPT['table'](RESULTS[name]))
        assert f'{title}: {mean}<' in text
