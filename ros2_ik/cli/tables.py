"""Aligned text."""

from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Lay out rows of text under a header: columns of numbers to the right, others to the left."""
    body = [tuple(row) for row in rows]
    columns = [_column(title, [row[i] for row in body]) for i, title in enumerate(header)]
    return '\n'.join('  '.join(line).rstrip() for line in zip(*columns, strict=True))


def number(value: float, digits: int = 4) -> str:
    """Return a fixed-point number, a zero without a sign."""
    text = f'{value:.{digits}f}'
    return text[1:] if text.startswith('-') and not text.strip('-0.') else text


def small(value: float | None) -> str:
    """Return an error: its order of magnitude is what matters."""
    return '-' if value is None else f'{value:.1e}'


def _column(title: str, cells: Sequence[str]) -> list[str]:
    width = max(len(text) for text in (title, *cells))
    numeric = bool(cells) and all(_is_number(text) for text in cells)
    return [text.rjust(width) if numeric else text.ljust(width) for text in (title, *cells)]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text in ('', '-')
    return True
