"""What the README shows works."""

from pathlib import Path
import re
import shlex

import pytest

from ros2_ik.cli import main

README = (Path(__file__).parents[1] / 'README.md').read_text(encoding='utf-8')
COMMANDS = [line for block in re.findall(r'```bash\n(.*?)```', README, re.S)
            for line in block.splitlines() if line.startswith('tools/run ros2_ik')]


def test_the_library_examples():
    names = {}
    for block in re.findall(r'```python\n(.*?)```', README, re.S):
        exec(block, names)
        if 'solution' in names:
            assert names['solution'].success, names['solution'].explain()
        if 'right_gripper' in block:
            assert names['solution'].errors[1].tip == 'right_gripper'
    assert names['ik'].solve().success


@pytest.mark.parametrize('line', [line for line in COMMANDS if ' call ' not in line])
def test_a_command(line, capsys):
    assert main(shlex.split(line)[2:]) == 0
    assert capsys.readouterr().out


def test_the_call_is_a_question_the_demo_can_answer(capsys):
    call = next(line for line in COMMANDS if ' call ' in line)
    assert main(['solve', 'panda', *shlex.split(call)[3:]]) == 0
    assert 'SUCCESS' in capsys.readouterr().out


def test_links_lead_somewhere():
    for link in re.findall(r'\]\(([^)#]+)\)', README):
        assert (Path(__file__).parents[1] / link).exists(), link
