"""Drawing of an automaton as SVG: states in a row by number, forward edges above, backward edges below."""

from collections.abc import Sequence

from markupsafe import Markup, escape

from lawtrace.solver.automata.automaton import Automaton

_RADIUS, _MARGIN = 34, 96
_LONGEST = 34
_LETTER = 7.5
"""Width of a character of a label."""

_LOOKS = {"satisfied": "kept", "holding": "kept", "open": "owed", "violated": "bad"}


def draw_automaton(automaton: Automaton) -> Markup:
    """A circle for each state with its verdict, doubled if accepting; one edge for all letters with the same target."""
    count = len(automaton.verdicts)
    jumps = [after - before for before, row in enumerate(automaton.table) for after in row]
    ahead, back = max(0, *jumps), max(0, *(-jump for jump in jumps))
    middle = _MARGIN + (50 * ahead if ahead > 1 else 0)
    height = middle + _RADIUS + 12 + (48 * back + 20 if back else 0)
    edges = [(before, after, label) for before in range(count) for after, label in _edges(automaton, before)]
    step = _step(edges)
    width = 2 * _MARGIN + step * (count - 1)
    parts = [
        f'<svg class="automaton" viewBox="0 0 {width} {height:g}" role="img" ',
        f'aria-label="{escape(_in_words(automaton))}">',
        '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z"/></marker></defs>',
        f'<path class="edge" d="M{_MARGIN - _RADIUS - 34} {middle:g} H{_MARGIN - _RADIUS}" marker-end="url(#head)"/>',
    ]
    parts += [_edge(*edge, middle, step) for edge in edges]
    for state, verdict in enumerate(automaton.verdicts):
        x = _MARGIN + step * state
        parts.append(f'<circle class="{_LOOKS[verdict]}" cx="{x}" cy="{middle:g}" r="{_RADIUS}"/>')
        if state in automaton.accepting:
            parts.append(f'<circle class="inner" cx="{x}" cy="{middle:g}" r="{_RADIUS - 4}"/>')
        parts.append(f'<text x="{x}" y="{middle - 3:g}">{state}</text>')
        parts.append(f'<text class="small" x="{x}" y="{middle + 12:g}">{verdict}</text>')
    return Markup("".join([*parts, "</svg>"]))  # noqa: S704 (labels are escaped above)


def _edges(automaton: Automaton, state: int) -> list[tuple[int, str]]:
    row = automaton.table[state]
    edges: list[tuple[int, str]] = []
    for after in dict.fromkeys(row):
        letters = [letter for letter, target in zip(automaton.letters, row, strict=True) if target == after]
        label = "any other call" if after == row[0] else " or ".join(map(automaton.alphabet.text, letters))
        if len(dict.fromkeys(row)) == 1:
            label = "any call"
        edges.append((after, label))
    return edges


def _step(edges: Sequence[tuple[int, int, str]]) -> float:
    """Distance between states: room for the longest label between neighbours, and for two adjacent self-loops."""
    between = [_LETTER * len(_short(label)) + 2 * _RADIUS + 24 for before, after, label in edges if after == before + 1]
    loops = [_LETTER * len(_short(label)) + 8 for before, after, label in edges if after == before]
    return max(130.0, *between, *loops)


def _short(label: str) -> str:
    return label if len(label) <= _LONGEST else label[: _LONGEST - 1] + "…"


def _edge(before: int, after: int, label: str, middle: float, step: float) -> str:
    x, y = _MARGIN + step * before, _MARGIN + step * after
    shown = _short(label)
    if before == after:
        foot, top = middle - _RADIUS + 3, middle - 90
        path = f"M{x - 12} {foot:g} C{x - 40} {top:g} {x + 40} {top:g} {x + 12} {foot:g}"
        place = (x, middle - 76)
    elif after == before + 1:
        path, place = f"M{x + _RADIUS} {middle:g} H{y - _RADIUS}", ((x + y) / 2, middle - 8)
    else:
        bend = -60 * (after - before) if after > before else 55 * (before - after) + 20
        side = -1 if after > before else 1
        start = middle + side * (_RADIUS - 4)
        peak = middle + bend * 1.6
        path = f"M{x} {start:g} Q{(x + y) / 2:g} {peak:g} {y} {start:g}"
        place = ((x + y) / 2, (start + peak) / 2 + (-6 if after > before else 14))  # beside the middle of the curve
    return (
        f'<g><title>{escape(label)}</title><path class="edge" d="{path}" marker-end="url(#head)"/>'
        f'<text class="label" x="{place[0]:g}" y="{place[1]:g}">{escape(shown)}</text></g>'
    )


def _in_words(automaton: Automaton) -> str:
    sentences = [
        f"From state {state} ({verdict}): "
        + "; ".join(f"{label} leads to {after}" for after, label in _edges(automaton, state))
        for state, verdict in enumerate(automaton.verdicts)
    ]
    return ". ".join(sentences)
