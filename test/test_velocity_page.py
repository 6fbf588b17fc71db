"""What docs/velocity.md says is so: its example runs and arrives, its names are there."""

from pathlib import Path
import re

import numpy as np

import ros2_ik.core

PAGE = (Path(__file__).parents[1] / 'docs/velocity.md').read_text(encoding='utf-8')


def test_the_example_arrives_within_its_limits():
    names = {}
    for block in re.findall(r'```python\n(.*?)```', PAGE, re.S):
        exec(compile(block, 'velocity.md', 'exec'), names)
    step, panda = names['step'], names['panda']
    assert step.success and np.abs(step.errors['panda_hand_tcp']).max() < 5e-3
    assert (step.q >= panda.lower).all() and (step.q <= panda.upper).all()


def test_all_names_are_there_and_none_is_missing():
    table = PAGE[PAGE.index('## Tasks'):PAGE.index('- **Gain.**')]
    named = set(re.findall(r'`(\w+_task)`', table))
    assert named == {name for name in ros2_ik.core.__all__ if name.endswith('_task')}
    for name in re.findall(r'`([A-Z]\w+(?:Limit|Barrier))`', PAGE):
        assert hasattr(ros2_ik.core, name), name
