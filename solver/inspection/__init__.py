"""What is wrong or suspicious in a declaration, with a remedy for each: what a newcomer should see before a run.

    for flaw in inspect(environment, rules, regulation):
        print(flaw.place, flaw.what, flaw.remedy)

What makes a declaration meaningless is refused when it is built (`lawtrace.environments.coherence`). Here is what
would make it useless, or quietly wrong. A claim that something can never be is proved; where there is no proof, nothing
is said.
"""

from collections.abc import Iterator, Sequence

from lawtrace.environments.declaration import Environment
from lawtrace.environments.regulation import Regulation
from lawtrace.solver.analysis import analyse
from lawtrace.solver.inspection.constants import inspect_constants
from lawtrace.solver.inspection.flaws import Flaw, FlawKind
from lawtrace.solver.inspection.lists import inspect_law, inspect_lists, inspect_words
from lawtrace.solver.inspection.populations import inspect_states, inspect_traces
from lawtrace.solver.inspection.refusals import inspect_refusals
from lawtrace.solver.inspection.wordings import inspect_wordings
from lawtrace.solver.rules import Rule

__all__ = ["Flaw", "FlawKind", "inspect"]


def inspect(environment: Environment, rules: Sequence[Rule], regulation: Regulation) -> tuple[Flaw, ...]:
    """Every flaw found. Where the initial states themselves are unsound, nothing that begins with one is asked.

    Args:
        environment: as declared.
        rules: its curated rule set, as `lawtrace.solver.rules.check_rules` lets it pass.
        regulation: what the rules rest on.
    """
    states = tuple(inspect_states(environment))
    said = (
        *inspect_words(environment),
        *inspect_lists(environment, rules, regulation),
        *inspect_law(environment, rules, regulation),
        *inspect_constants(environment, rules),
    )
    if states:  # everything else begins with an initial state
        return (*states, *said)
    return (
        *_reachability(environment, rules),
        *inspect_refusals(environment),
        *inspect_wordings(environment),
        *said,
        *inspect_traces(environment, rules),
    )


def _reachability(environment: Environment, rules: Sequence[Rule]) -> Iterator[Flaw]:
    """What the analysis of the rule set says, as flaws: tools that no compliant trace can call before all."""
    for finding in analyse(environment, rules).findings:
        if finding.kind == "unreachable":
            yield Flaw(
                kind="unreachable tool",
                place=f"tool {finding.tool!r}",
                what=finding.message,
                remedy="add a tool that looks up what it refers to, or loosen the rules that are named",
                proof=finding.proof,
            )
        else:
            yield Flaw(
                kind="rule",
                place=f"rule {', '.join(finding.rules)}",
                what=f"{finding.kind}: {finding.message}",
                remedy="change or drop one of the rules named; `lawtrace rules check` shows more",
                proof=finding.proof,
            )
