"""Public names of core, and their groups in its help."""

import re
from types import ModuleType

from ros2_ik import core


def test_help_lists_each_public_name_in_a_group():
    public = {name for name, value in vars(core).items()
              if not name.startswith('_') and not isinstance(value, ModuleType)}
    groups = re.findall(r'^[A-Z][^\n]*\n((?:    [^\n]+\n)+)', core.__doc__, re.MULTILINE)
    shown = [name.strip() for group in groups for name in group.split(',')]
    assert sorted(shown) == sorted(public)
    assert len(groups) == 7 and len(public) <= 120


def test_moved_names_are_still_importable():
    from ros2_ik.core import error_norm, InvalidOptionError, Search
    assert issubclass(InvalidOptionError, core.IKError)
    assert Search.__name__ == 'Search' and callable(error_norm)
    assert not hasattr(core, 'no_such_name')
