"""What all subcommands share: help, speed, exit codes, and the small parts in-process."""

import subprocess
import sys

import pytest

from ros2_ik.cli import main
from ros2_ik.cli.tables import number, table

HEAVY = {'numpy', 'scipy', 'pinocchio', 'rclpy', 'ros2_ik.core', 'yaml', 'xml.etree.ElementTree'}


@pytest.mark.parametrize('words', [[], ['solve'], ['constrained'], ['fk'], ['robots'],
                                   ['call'], ['stop']])
def test_help_has_an_example_and_imports_nothing_heavy(words):
    code = ('import sys; from ros2_ik.cli import main\n'
            f'try: main({[*words, "--help"]})\n'
            f'except SystemExit as end: print("END", end.code, set(sys.modules) & {HEAVY})')
    out = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                         timeout=60).stdout
    assert f'ros2_ik {" ".join(words)}' in out
    assert 'ros2_ik solve' in out or 'example' in out
    assert out.splitlines()[-1] == 'END 0 set()'


def test_refusals_of_a_real_process(process):
    assert 'COMMAND' in process().refused()
    assert 'unknown robot' in process('solve', 'pand', '--xyz', 1, 2, 3).refused()


def test_version(command):
    assert command('--version').out.startswith('ros2_ik 0.')


@pytest.mark.parametrize('missing, words, remedy', [
    ('rclpy', ['call', '--xyz', '1', '2', '3'], 'tools/run'),
    ('pinocchio', ['fk', 'panda'], 'pip install pin'),
])
def test_what_is_missing_is_named_with_its_remedy(missing, words, remedy):
    code = (f'import sys; sys.modules[{missing!r}] = None\n'
            'from ros2_ik.cli import main; sys.exit(main(sys.argv[1:]))')
    run = subprocess.run([sys.executable, '-c', code, *words], capture_output=True, text=True,
                         timeout=60)
    assert run.returncode == 2
    assert 'Traceback' not in run.stderr
    assert f'{missing} is missing' in run.stderr and remedy in run.stderr


def test_output_may_be_cut_off():
    code = 'import sys; from ros2_ik.cli import main; sys.exit(main(sys.argv[1:]))'
    process = subprocess.Popen([sys.executable, '-c', code, 'robots', 'baxter'],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.close()   # what `| head` does
    assert 'Traceback' not in process.communicate(timeout=60)[1]


def test_defects_are_not_called_bad_questions(monkeypatch):
    from ros2_ik.cli import robots
    monkeypatch.setattr(robots, '_list', lambda as_json: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main(['robots'])


def test_tables():
    lines = table(('joint', 'value', ''), [('a', number(-0.00001), ''), ('bb', '12.5', 'x')])
    assert lines.splitlines() == ['joint   value', 'a      0.0000', 'bb       12.5  x']
    assert number(-1.25, 1) == '-1.2'
    assert table(('a', 'b'), []) == 'a  b'
