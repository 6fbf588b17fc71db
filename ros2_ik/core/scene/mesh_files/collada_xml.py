"""The XML of a COLLADA file, and what is found in it by id."""

from typing import TYPE_CHECKING
from xml.etree.ElementTree import TreeBuilder
from xml.parsers import expat

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_DEEPEST = 1000
_FOUND = ('effect', 'geometry', 'material', 'node', 'visual_scene')


class ColladaIds:
    """What is referred to by its id; those that are there twice cannot be found."""

    def __init__(self, root: 'Element') -> None:
        self._found: dict[tuple[str, str], list[Element]] = {}
        for element in root.iter():
            if element.tag in _FOUND and element.get('id'):
                self._found.setdefault((element.tag, element.get('id', '')), []).append(element)

    def find(self, kind: str, url: str) -> 'Element':
        """Return what a url in the same file names; raises ValueError."""
        found = self._found.get((kind, url.removeprefix('#')), []) if url[:1] == '#' else []
        if len(found) != 1:
            raise ValueError(f"it has {len(found)} <{kind}> that '{url}' names; valid: one")
        return found[0]


def children(element: 'Element', tag: str) -> list['Element']:
    """Return the elements of that name directly in an element."""
    return element.findall(tag)


def parse_collada(content: bytes) -> 'Element':
    """Return the root, names without their prefixes; no entities; raises ValueError."""
    builder, parser, depth = TreeBuilder(), expat.ParserCreate(), 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise ValueError(f'it has elements {_DEEPEST} deep in each other')
        builder.start(name.rpartition(':')[2], attributes)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(name.rpartition(':')[2])

    def refuse(*_: object) -> None:
        raise ValueError('it declares a DOCTYPE, which can expand without bound')

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.buffer_text = builder.data, True
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise ValueError(f'it is not well-formed XML: {error}') from None
    root = builder.close()
    if root.tag != 'COLLADA':
        raise ValueError(f'its root element is <{root.tag}>; valid: <COLLADA>')
    return root
