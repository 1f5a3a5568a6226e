"""The public names are complete: what a module exports, the package does, or it is internal to the package."""

import solver.ltlf
from solver.ltlf import (
    alphabet,
    automaton,
    compiler,
    dot,
    language,
    monitor,
    names,
    parser,
    quantifier,
    semantics,
    syntax,
    templates,
)


def test_everything_that_users_need_is_exported() -> None:
    public = {
        name
        for module in (automaton, compiler, dot, language, monitor, names, quantifier, semantics, syntax, templates)
        for name in module.__all__
    }
    assert public <= set(solver.ltlf.__all__)
    assert {"Alphabet", "World"} <= set(alphabet.__all__) & set(solver.ltlf.__all__)
    assert "parse" in parser.__all__
    assert list(solver.ltlf.__all__) == sorted(solver.ltlf.__all__)
    assert all(hasattr(solver.ltlf, name) for name in solver.ltlf.__all__)
