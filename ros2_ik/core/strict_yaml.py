"""YAML in which a key that is there twice is a mistake, and every mistake is a ValueError."""

from collections.abc import Hashable
import re
from typing import Any

import yaml


class _Loader(yaml.SafeLoader):  # type: ignore[misc]   # PyYAML has no types
    """Refuses keys that are given twice."""


def _mapping(loader: _Loader, node: yaml.Node) -> dict[Hashable, object]:
    seen: set[str] = set()
    for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
        name = str(key.value)
        if name in seen:
            raise yaml.MarkedYAMLError(problem=f"the key '{name}' is there twice",
                                       problem_mark=key.start_mark)
        seen.add(name)
    return dict(yaml.SafeLoader.construct_mapping(loader, node, deep=True))


_Loader.add_constructor('tag:yaml.org,2002:map', _mapping)


class _ExponentLoader(_Loader):
    """Reads 1e-3 as a number, which YAML 1.1 takes for a text."""


_ExponentLoader.add_implicit_resolver(
    'tag:yaml.org,2002:float', re.compile(r'^[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$'),
    list('-+.0123456789'))


def read_yaml(text: str, exponents: bool = False) -> Any:
    """Read a text; if `exponents`, 1e-3 is a number. Raises ValueError with the reason."""
    try:
        return yaml.load(text, Loader=_ExponentLoader if exponents else _Loader)
    # PyYAML lets the other ones through: 2020-99-99, !!bool perhaps, !!int ""
    except (yaml.YAMLError, ValueError, OverflowError, LookupError, AttributeError) as error:
        place = str(error).replace(' in "<unicode string>",', ' at')     # callers name the file
        raise ValueError(' '.join(place.split())) from None
    except RecursionError:
        raise ValueError('it is nested too deeply') from None
