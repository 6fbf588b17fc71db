"""What all subcommands share: help, speed, exit codes, and the small parts in-process."""

import json
import os
import subprocess
import sys

import pytest

from ros2_ik.cli import main
from ros2_ik.cli.answer import Answer, answer_json, Check, number, print_answer, table

HEAVY = {'numpy', 'scipy', 'pinocchio', 'rclpy', 'ros2_ik.core', 'yaml', 'xml.etree.ElementTree'}
MAIN = 'import sys; from ros2_ik.cli import main; sys.exit(main(sys.argv[1:]))'


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


@pytest.mark.parametrize('name', ['solve', 'constrained', 'fk', 'robots', 'call'])
def test_help_says_that_json_is_for_answers_alone(command, name):
    text = ' '.join(command(name, '--help').out.split())
    assert 'of a bad question (exit code 2) nothing is printed but the reason, on stderr' in text
    refused = command(name, '--json', *{'robots': ['pand'], 'fk': ['pand']}.get(name, []))
    if name in ('robots', 'fk'):
        assert "did you mean 'panda'" in refused.refused()


@pytest.mark.parametrize(('words', 'said'), [
    (['call', '--exec'], "arguments: --exec; did you mean '--execute'?"),
    (['call', '--ex', '--xyz', 1, 2, 3], "did you mean '--execute'?"),
    (['solve', 'panda', '--allow-colisions'], "did you mean '--allow-collisions'?"),
    (['call', '--fk', '--tip', 'a', 'b'], 'several tips are written --tip a --tip b'),
    (['fk', 'panda', 'ur5'], 'unrecognized arguments: ur5')])
def test_options_are_taken_whole(command, words, said):
    """What is completed may be what nobody meant: --exec would have moved a robot."""
    assert command(*words).refused().endswith(said)


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
    process = subprocess.Popen([sys.executable, '-c', MAIN, 'robots', 'baxter'],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.close()   # what `| head` does
    assert 'Traceback' not in process.communicate(timeout=60)[1]


@pytest.mark.parametrize('unbuffered', ['', '1'])
def test_a_full_disk_is_told(unbuffered):
    with open('/dev/full', 'w') as full:
        run = subprocess.run([sys.executable, '-c', MAIN, 'robots'], stdout=full,
                             stderr=subprocess.PIPE, text=True, timeout=60,
                             env=os.environ | {'PYTHONUNBUFFERED': unbuffered})
    assert (run.returncode, run.stderr) == (
        2, 'ros2_ik: nothing more can be written: No space left on device\n')


def test_defects_are_not_called_bad_questions(monkeypatch):
    from ros2_ik.cli import robots
    monkeypatch.setattr(robots, '_list', lambda as_json: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main(['robots'])


@pytest.mark.parametrize(('found', 'code'), [(2e-6, 0), (0.2, 1)])
def test_an_answer_is_what_forward_kinematics_says(capsys, found, code):
    answer = Answer('SUCCESS', 'found', True, {'lift': 0.1}, [Check('tip', 1.5e-6, 0.0)],
                    [Check('tip', found, 0.0)], alternatives=[{'lift': 0.2}])
    content = json.loads(answer_json(answer))
    print_answer(answer, None)
    lines = capsys.readouterr().out.splitlines()
    assert answer.exit == code and content['success'] == (not code)
    assert (content['joints'] is None) == bool(code)
    if code:
        assert lines[0].startswith('WRONG_ANSWER: SUCCESS was answered, but')
        assert lines[1].endswith('tip: 1.5e-06 m 0.0e+00 rad claimed, 2.0e-01 m 0.0e+00 rad found')
        assert content['notes'] == [lines[1]] and 'answer 2, not re-checked:' in lines
    else:
        assert lines[0] == 'SUCCESS: found' and content['notes'] == []
        assert 'solution 2:' in lines


def test_tables():
    lines = table(('joint', 'value', ''), [('a', number(-0.00001), ''), ('bb', '12.5', 'x')])
    assert lines.splitlines() == ['joint   value', 'a      0.0000', 'bb       12.5  x']
    assert number(-1.25, 1) == '-1.2'
    assert table(('a', 'b'), []) == 'a  b'
