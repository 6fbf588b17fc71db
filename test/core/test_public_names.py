"""Public names of core, and their groups in its help."""

import re

from ros2_ik import core
from ros2_ik.core import internals


def test_help_lists_each_public_name_in_a_group():
    groups = re.findall(r'^[A-Z][^\n]*\n((?:    [^\n]+\n)+)', core.__doc__, re.MULTILINE)
    shown = [name.strip() for group in groups for name in group.split(',')]
    assert sorted([*shown, 'fields']) == sorted(core.__all__)
    assert len(groups) == 7 and len(core.__all__) <= 120
    for module in (core, internals):
        assert all(hasattr(module, name) for name in module.__all__)
