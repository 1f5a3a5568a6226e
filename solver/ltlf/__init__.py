"""LTLf with past over tool calls: formulas, their minimal automata, and monitors. Start at
`lawtrace.solver.ltlf.syntax`."""

from lawtrace.solver.ltlf.alphabet import Alphabet, World
from lawtrace.solver.ltlf.automaton import Automaton, Verdict
from lawtrace.solver.ltlf.compiler import compile_formula
from lawtrace.solver.ltlf.conditions import Condition, Scalar
from lawtrace.solver.ltlf.dot import to_dot
from lawtrace.solver.ltlf.language import (
    Witness,
    complement,
    equivalent,
    product,
    shortest_accepted,
    shortest_difference,
    shortest_rejected,
)
from lawtrace.solver.ltlf.monitor import Ending, Monitor, RuleStatus
from lawtrace.solver.ltlf.names import check_names
from lawtrace.solver.ltlf.parser import parse
from lawtrace.solver.ltlf.quantifier import instance, quantified, renamed
from lawtrace.solver.ltlf.semantics import holds, holds_on, occurring, true_atoms
from lawtrace.solver.ltlf.syntax import (
    Always,
    And,
    Atom,
    Bottom,
    Eventually,
    ForAll,
    Formula,
    Historically,
    Iff,
    Implies,
    Next,
    Not,
    Once,
    Or,
    Release,
    Since,
    Top,
    Until,
    WeakNext,
    WeakUntil,
    Yesterday,
    atoms_of,
    is_propositional,
)
from lawtrace.solver.ltlf.templates import InstructionAdherence, OperationalRestriction, Template, match_template

__all__ = [
    "Alphabet",
    "Always",
    "And",
    "Atom",
    "Automaton",
    "Bottom",
    "Condition",
    "Ending",
    "Eventually",
    "ForAll",
    "Formula",
    "Historically",
    "Iff",
    "Implies",
    "InstructionAdherence",
    "Monitor",
    "Next",
    "Not",
    "Once",
    "OperationalRestriction",
    "Or",
    "Release",
    "RuleStatus",
    "Scalar",
    "Since",
    "Template",
    "Top",
    "Until",
    "Verdict",
    "WeakNext",
    "WeakUntil",
    "Witness",
    "World",
    "Yesterday",
    "atoms_of",
    "check_names",
    "compile_formula",
    "complement",
    "equivalent",
    "holds",
    "holds_on",
    "instance",
    "is_propositional",
    "match_template",
    "occurring",
    "parse",
    "product",
    "quantified",
    "renamed",
    "shortest_accepted",
    "shortest_difference",
    "shortest_rejected",
    "to_dot",
    "true_atoms",
]
