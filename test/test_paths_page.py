"""What docs/paths.md says is so: its example runs, its names are there."""

from pathlib import Path
import re

import ros2_ik.core

PAGE = (Path(__file__).parents[1] / 'docs/paths.md').read_text(encoding='utf-8')


def test_the_example_moves_along_its_path():
    names = {}
    for block in re.findall(r'```python\n(.*?)```', PAGE, re.S):
        exec(compile(block, 'paths.md', 'exec'), names)
    path, motion = names['path'], names['motion']
    assert path.success and motion.duration > 0.6 / 0.1
    assert abs(motion.goal - path.q[-1]).max() < 1e-9


def test_all_kinds_of_paths_have_a_row():
    rows = set(re.findall(r'`(\w+)\(', PAGE[PAGE.index('| path |'):PAGE.index('Poses are')]))
    kinds = {name for name, kind in vars(ros2_ik.core).items() if isinstance(kind, type)
             and issubclass(kind, ros2_ik.core.ToolPath)} - {'ToolPath'}
    assert rows == kinds
