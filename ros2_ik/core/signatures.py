"""Signatures as help() shows them."""

from dataclasses import is_dataclass
import inspect
from typing import get_type_hints

from ros2_ik.core.arrays import Array

_SHORT = (('collections.abc.', ''), ('typing.', ''), (str(Array).replace('typing.', ''), 'Array'))


def show_plain_types(kind: type) -> None:
    """Let help() show the types of a dataclass' fields without what `Annotated` adds to them."""
    if not is_dataclass(kind):
        return
    # not signature(kind): a subclass of a registered class inherits __signature__
    signature, types = inspect.signature(kind.__init__), get_type_hints(kind)
    kind.__signature__ = signature.replace(parameters=[     # type: ignore[attr-defined]
        each.replace(annotation=_text(types.get(each.name, each.annotation)))
        for each in list(signature.parameters.values())[1:]])


def _text(annotation: object) -> str:
    text = inspect.formatannotation(annotation)
    for long, short in _SHORT:
        text = text.replace(long, short)
    return text
