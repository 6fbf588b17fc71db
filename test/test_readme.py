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


@pytest.mark.parametrize('line', COMMANDS)
def test_a_command(line, capsys, monkeypatch):
    monkeypatch.chdir(Path(__file__).parents[1])
    words = [word for word in shlex.split(line)[2:] if word != '--execute']
    if words[0] == 'call':              # what the demo's node is asked is asked without it
        words = ['solve', 'panda', *words[1:]]
    elif words[0] == 'constrained':
        words += ['--robot', 'panda']
    assert main(words) == 0
    out = capsys.readouterr().out
    assert out and (words[0] == 'robots' or 'SUCCESS' in out)


def test_links_lead_somewhere():
    for link in re.findall(r'\]\(([^)#]+)\)', README):
        assert (Path(__file__).parents[1] / link).exists(), link
