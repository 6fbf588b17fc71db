"""
Fill the tables of benchmarks.md from results/*.json; draw the plots of this page and README.

    tools/run python docs/benchmarks.py

The results are written by benchmarks/all.py.
"""

from collections.abc import Iterator
import json
import math
from pathlib import Path
import re
import statistics
from typing import Any
from xml.sax.saxutils import escape

FOLDER = Path(__file__).parent
PAGE, SUMMARY = FOLDER / 'benchmarks.md', FOLDER / 'results/summary.svg'
COLOURS = ('#1b9e77', '#d95f02', '#7570b3')
TITLES = {'pose_ik': 'one pose', 'whole_body_ik': 'several poses',
          'constrained_ik': 'constraints and costs', 'collision_ik': 'among obstacles'}
STARTS = {'random': 'random start', 'near': 'near start'}
LABELS, WIDTH, BAR, GAP = 260, 860, 13, 9      # [px]
TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def ratios(found: dict[str, Any]) -> list[tuple[str, dict[str, float]]]:
    """Return for each kind of problem the ratios of the peers' mean times to ours."""
    rows = []
    for row in found['rows']:
        ours, *peers = row['solvers']
        mean = row['solvers'][ours]['mean_ms']
        rows.append((label(row), {peer: row['solvers'][peer]['mean_ms'] / mean
                                  for peer in peers}))
    return rows


def label(row: dict[str, Any]) -> str:
    return f'{row["kind"]}, {STARTS[row["start"]]}'.replace('_', ' ')


def picture(found: dict[str, Any]) -> str:
    """Draw the ratios of one benchmark, as SVG."""
    return bars(ratios(found))


def summary(found: dict[str, dict[str, Any]]) -> str:
    """Draw the geometric means of the ratios for each benchmark and peer, as SVG."""
    rows: dict[str, dict[str, float]] = {}
    for name, words in TITLES.items():
        for start, of_start in STARTS.items():
            for peer, mean in geometric_means(found[name], start).items():
                rows.setdefault(f'{words}: {peer}', {})[of_start] = mean
    return bars([*rows.items()])


def bars(rows: list[tuple[str, dict[str, float]]]) -> str:
    """Draw ratios as bars on a logarithmic scale, as SVG."""
    peers = list(dict.fromkeys(peer for _, values in rows for peer in values))
    colours = dict(zip(peers, COLOURS, strict=False))
    every = [value for _, values in rows for value in values.values()]
    least, most = min(0.9, *every) / 1.15, max(1.2, *every) * 1.15
    scale = (WIDTH - LABELS - 70) / math.log(most / least)

    def x(value: float) -> float:
        return LABELS + scale * math.log(value / least)
    parts, y = [], 34
    for name, values in rows:
        height = BAR * max(1, len(values))
        parts.append(text(LABELS - 8, y + height / 2 + 4, name, 'end'))
        for peer, value in values.items():
            left, right = sorted((x(1), x(value)))
            parts.append(f'<rect x="{left:.1f}" y="{y}" width="{right - left:.1f}" '
                         f'height="{BAR - 2}" fill="{colours[peer]}"/>')
            parts.append(text(right + 4, y + BAR - 3, f'{value:.2g}' if value < 10
                              else f'{value:.0f}'))
            y += BAR
        y += GAP if len(values) else BAR + GAP
    for tick in TICKS:
        if least <= tick <= most:
            stroke = '#000' if tick == 1 else '#ddd'
            parts.insert(0, f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="28" y2="{y}" '
                         f'stroke="{stroke}"/>')
            parts.append(text(x(tick), y + 14, f'{tick:g}', 'middle'))
    at = 8
    for peer in peers:
        parts.append(f'<rect x="{at}" y="8" width="11" height="11" fill="{colours[peer]}"/>')
        parts.append(text(at + 16, 18, peer))
        at += 30 + 8 * len(peer)
    parts.append(text(LABELS, 18, 'mean time relative to ros2_ik (above 1: ros2_ik is faster)'))
    return '\n'.join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y + 24}" '
        'font-family="sans-serif" font-size="12">', '<rect width="100%" height="100%" '
        'fill="#fff"/>', *parts, '</svg>', ''])


def text(x: float, y: float, words: str, anchor: str = 'start') -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def table(found: dict[str, Any]) -> str:
    """Return a Markdown table with success, mean, p99 and false successes of each solver."""
    solvers = list(dict.fromkeys(name for row in found['rows'] for name in row['solvers']))
    limit = next(name for name in found['rows'][0]['solvers'][solvers[0]]['success'])
    versions = ', '.join(f'{name} {value}' for name, value in found['versions'].items())
    counts = {name: max(row['solvers'][name]['count'] for row in found['rows']
                        if name in row['solvers']) for name in solvers}
    count = counts[solvers[0]]
    fewer = ', '.join(f'{name}: only the first {some}' for name, some in counts.items()
                      if some < count)
    lines = [
        f'{found["date"]}; {found["machine"]}; {versions}. Times: {found["clock"]}. The solvers '
        f'take turns after {turn(found["turns"])}. Each row of the table has {count} problems'
        f'{f" ({fewer})" * bool(fewer)}. Cells: success within {limit} ms / at all, '
        'mean [ms], p99 [ms], false successes; in bold, the mean divided by that of ros2_ik.', '',
        f'| problem | {" | ".join(solvers)} |', f'|---{"|---" * len(solvers)}|']
    for row, (name, of) in zip(found['rows'], ratios(found), strict=True):
        cells = [cell(row['solvers'].get(solver), limit) for solver in solvers]
        cells[1:] = [f'{text}: **{of[peer]:.2f}**' if peer in of else ''
                     for text, peer in zip(cells[1:], solvers[1:], strict=True)]
        lines.append(f'| {name} | {" | ".join(cells)} |')
    return '\n'.join([*lines, '', *means(found)])


def turn(problems: str) -> str:
    """Return 'each problem' for '1 problem each', 'every 10 problems' for '10 problems each'."""
    count, noun, _ = problems.split()
    return f'every {count} {noun}' if count != '1' else f'each {noun}'


def means(found: dict[str, Any]) -> Iterator[str]:
    for start, words in STARTS.items():
        each = [f'{peer} {mean:.2f}' for peer, mean in geometric_means(found, start).items()]
        if each:
            yield f'Geometric mean of the ratios, {words}: {", ".join(each)}.'


def geometric_means(found: dict[str, Any], start: str) -> dict[str, float]:
    """Return for each peer the geometric mean of its ratios from these starts."""
    rows = [of for row, (_, of) in zip(found['rows'], ratios(found), strict=True)
            if row['start'] == start]
    return {peer: statistics.geometric_mean(of[peer] for of in rows if peer in of)
            for peer in dict.fromkeys(peer for of in rows for peer in of)}


def cell(found: dict[str, Any] | None, limit: str) -> str:
    if found is None:
        return ''
    success = ' / '.join(f'{share:.4g}' for share in (found['success'][limit],
                                                      found['success']['all']))
    return f'{success} %, {found["mean_ms"]:.3f}, {found["p99_ms"]:.2f}, {found["wrong"]}'


def filled(page: str, results: dict[str, dict[str, Any]]) -> str:
    """Return the page with new sections between the comments that name the benchmarks."""
    for name, found in results.items():
        body = f'![ratios of mean times](results/{name}.svg)\n\n{table(found)}'
        start, end = f'<!-- {name} -->\n', '<!-- end -->'
        page, count = re.subn(f'{start}.*?{end}',
                              lambda _, text=f'{start}{body}\n{end}': text, page, flags=re.S)
        if count != 1:
            raise SystemExit(f'{PAGE.name} has {count} sections for {name}; valid: 1')
    return page


def results() -> dict[str, dict[str, Any]]:
    return {path.stem: json.loads(path.read_text(encoding='utf-8'))
            for path in sorted((FOLDER / 'results').glob('*.json'))}


def main() -> None:
    found = results()
    for name, of in found.items():
        (FOLDER / f'results/{name}.svg').write_text(picture(of), encoding='utf-8')
    SUMMARY.write_text(summary(found), encoding='utf-8')
    PAGE.write_text(filled(PAGE.read_text(encoding='utf-8'), found), encoding='utf-8')


if __name__ == '__main__':
    main()
