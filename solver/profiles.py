"""What a trace is to be about, as automata like any rule.

``tasks``: something changes, and each compliance tool is called at most once, so that every compliance call is needed
and deleting it is caught. ``coverage``: everything that is legal is allowed. The two have different ceilings of
adjacent-tool coverage, so a coverage figure always names its profile.
"""

from typing import Literal

from environments.declaration import Environment
from solver.ltlf import Automaton, compile_formula, parse

__all__ = ["Profile", "profile_automata", "profile_formulas"]

Profile = Literal["tasks", "coverage"]


def profile_formulas(environment: Environment, profile: Profile) -> tuple[str, ...]:
    """The formulas of a profile, over the tools of the environment."""
    if profile == "coverage":
        return ()
    something_changes = "F(" + " | ".join(sorted(environment.changing_tools)) + ")"
    once = [f"G({tool} -> WX G !{tool})" for tool in sorted(environment.compliance_tools)]
    return (something_changes, *once)


def profile_automata(environment: Environment, profile: Profile) -> tuple[Automaton, ...]:
    return tuple(compile_formula(parse(formula)) for formula in profile_formulas(environment, profile))
