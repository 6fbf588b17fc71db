"""A YAML reader that refuses duplicate keys and raises ValueError for all errors."""

from collections.abc import Hashable
import re
from typing import Any

import yaml


class _Loader(yaml.SafeLoader):  # type: ignore[misc]   # PyYAML has no types
    """SafeLoader that refuses duplicate keys and reads 1e-3 as a number (YAML 1.1: a string)."""


def _mapping(loader: _Loader, node: yaml.Node) -> dict[Hashable, object]:
    seen: set[str] = set()
    for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
        name = str(key.value)
        if name in seen:
            raise yaml.MarkedYAMLError(problem=f"the key '{name}' appears twice",
                                       problem_mark=key.start_mark)
        seen.add(name)
    return dict(yaml.SafeLoader.construct_mapping(loader, node, deep=True))


_Loader.add_constructor('tag:yaml.org,2002:map', _mapping)
_Loader.add_implicit_resolver(
    'tag:yaml.org,2002:float', re.compile(r'^[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$'),
    list('-+.0123456789'))


def read_yaml(text: str) -> Any:
    """Parse a YAML text; raises ValueError with the reason and, if known, the line and column."""
    try:
        return yaml.load(text, Loader=_Loader)
    # PyYAML 6 does not wrap the errors of some values: 2020-99-99, `!!bool perhaps`, `!!int ""`
    except (yaml.YAMLError, ValueError, OverflowError, LookupError, AttributeError) as error:
        # drop PyYAML's placeholder for the file name: callers name the file
        place = str(error).replace(' in "<unicode string>",', ' at')
        raise ValueError(' '.join(place.split())) from None
    except RecursionError:
        raise ValueError('it is nested too deeply') from None
