"""Signatures of registered classes, shortened for help()."""

from dataclasses import is_dataclass
import inspect
from typing import get_type_hints

from ros2_ik.core.arrays import Array

# replacements in signatures: (text, shorter text)
_SHORT = (('collections.abc.', ''), ('typing.', ''), (str(Array).replace('typing.', ''), 'Array'))


def show_plain_types(kind: type) -> None:
    """Set a dataclass's `__signature__` so that help() shows plain types, not `Annotated`."""
    if not is_dataclass(kind):
        return
    # inspect.signature(kind) would return an inherited __signature__
    signature, types = inspect.signature(kind.__init__), get_type_hints(kind)
    kind.__signature__ = signature.replace(parameters=[     # type: ignore[attr-defined]
        each.replace(annotation=_text(types.get(each.name, each.annotation)))
        for each in list(signature.parameters.values())[1:]])


def _text(annotation: object) -> str:
    text = inspect.formatannotation(annotation)
    for long, short in _SHORT:
        text = text.replace(long, short)
    return text
