"""An automaton as a Graphviz text, for people."""

from lawtrace.solver.ltlf.automaton import Automaton


def to_dot(automaton: Automaton) -> str:
    """The automaton in the DOT language: one node a state with its verdict, one edge for all letters that share it.

    An edge that is taken by every step that the other edges do not name is labelled `otherwise`, because letters are
    many and what they do is mostly the same.
    """
    title = "" if automaton.formula is None else str(automaton.formula)
    lines = [
        "digraph automaton {",
        "  rankdir=LR;",
        f"  label={_quoted(title)};",
        "  start [shape=point];",
        "  start -> 0;",
    ]
    for state, verdict in enumerate(automaton.verdicts):
        shape = "doublecircle" if state in automaton.accepting else "circle"
        lines.append(f"  {state} [shape={shape}, label={_quoted(f'{state} {verdict}')}];")
    for state, row in enumerate(automaton.table):
        otherwise = row[0]  # where the letter 0 leads: a step of which the formula names nothing
        for successor in dict.fromkeys(row):
            letters = [letter for letter, target in zip(automaton.letters, row, strict=True) if target == successor]
            label = "otherwise" if successor == otherwise else " | ".join(map(automaton.alphabet.text, letters))
            lines.append(f"  {state} -> {successor} [label={_quoted(label)}];")
    return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
