"""What docs/velocity.md says is so: its example runs and arrives, its names are there."""

from pathlib import Path
import re

import numpy as np

import ros2_ik.core

EXAMPLES = Path(__file__).parents[1] / 'examples/velocity'
PAGE = (Path(__file__).parents[1] / 'docs/velocity.md').read_text(encoding='utf-8')


def test_the_example_arrives_within_its_limits():
    names = {}
    for block in re.findall(r'```python\n(.*?)```', PAGE, re.S):
        exec(compile(block, 'velocity.md', 'exec'), names)
    step, panda = names['step'], names['panda']
    assert step.success and np.abs(step.errors['panda_hand_tcp']).max() < 1e-3
    assert (step.q >= panda.lower).all() and (step.q <= panda.upper).all()


def test_all_names_are_there_and_none_is_missing():
    table = PAGE[PAGE.index('## Tasks'):PAGE.index('- **Gain.**')]
    named = set(re.findall(r'`(\w+_task)`', table))
    assert named == {name for name in dir(ros2_ik.core) if name.endswith('_task')}
    for name in re.findall(r'`([A-Z]\w+(?:Limit|Barrier))`', PAGE):
        assert hasattr(ros2_ik.core, name), name


def test_each_example_names_the_peers_that_the_table_says():
    table = PAGE[PAGE.index('## Examples'):PAGE.index('## Coming from Pink')]
    rows = [[cell.strip() for cell in line.strip('|').split('|')]
            for line in table.splitlines() if line.startswith('| [')]
    files = {path.stem: path for path in EXAMPLES.glob('*.py')}
    assert {re.match(r'\[(\w+)\]', cells[0])[1] for cells in rows} == set(files)
    for cells in rows:
        name, link = re.fullmatch(r'\[(\w+)\]\((.*)\)', cells[0]).groups()
        assert (EXAMPLES.parents[1] / 'docs' / link).resolve() == files[name].resolve()
        about = ' '.join(files[name].read_text(encoding='utf-8').split('"""')[1].split())
        for peer in filter(None, ', '.join(cells[1:3]).split(', ')):
            assert re.search(rf'(?<![\w/]){re.escape(peer)}(?!\w)', about), (name, peer)
