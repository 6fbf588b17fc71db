"""YAML in which a key that is there twice is a mistake, and every mistake is a ValueError."""

import re
from typing import Any

import yaml


class _Loader(yaml.SafeLoader):  # type: ignore[misc]   # PyYAML has no types
    """Tells every value that cannot be made with its line."""

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        # what PyYAML lets through: 2020-99-99, !!bool perhaps, !!int "", !!timestamp soon
        except (ValueError, OverflowError, LookupError, AttributeError) as error:
            raise yaml.MarkedYAMLError(
                problem=f'this is no {node.tag.rpartition(":")[2]}: {error}',
                problem_mark=node.start_mark) from None


def _mapping(loader: _Loader, node: Any) -> dict[Any, Any]:
    if not isinstance(node, yaml.MappingNode):   # another kind that is tagged as one
        raise yaml.MarkedYAMLError(problem='this is no mapping', problem_mark=node.start_mark)
    seen: set[str] = set()
    for key, _ in node.value:
        name = str(key.value)
        if name in seen:
            raise yaml.MarkedYAMLError(problem=f"the key '{name}' is there twice",
                                       problem_mark=key.start_mark)
        seen.add(name)
    return dict(yaml.SafeLoader.construct_mapping(loader, node, deep=True))


def _whole_number(loader: _Loader, node: Any) -> int:
    number = int(loader.construct_yaml_int(node))
    str(number)   # ValueError where it has more digits than Python writes, as 0xfff... may
    return number


_Loader.add_constructor('tag:yaml.org,2002:map', _mapping)
_Loader.add_constructor('tag:yaml.org,2002:int', _whole_number)


class _ExponentLoader(_Loader):
    """Reads 1e-3 as a number."""


_ExponentLoader.add_implicit_resolver(
    'tag:yaml.org,2002:float', re.compile(r'^[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$'),
    list('-+.0123456789'))


def read_yaml(text: str, exponents: bool = False) -> Any:
    """
    Read a text; with `exponents`, 1e-3 is a number, which YAML 1.1 takes for a text.

    Raises ValueError, which says what is wrong and in which line.
    """
    try:
        return yaml.load(text, Loader=_ExponentLoader if exponents else _Loader)
    except yaml.YAMLError as error:
        raise ValueError(' '.join(str(error).split())) from None
    except RecursionError:
        raise ValueError('it is nested too deeply') from None
