"""Minimal automata: known sizes, alphabets of calls, verdicts, distances, witnesses, limits."""

import pickle

import pytest

from lawtrace.schemas.errors import FormulaError
from lawtrace.schemas.events import Event
from lawtrace.schemas.violations import Verdict
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.automata.operations import equivalent, product
from lawtrace.solver.logic.parser import MAX_NESTING, parse
from lawtrace.solver.logic.syntax import And, Atom
from tests.support.semantics import fact, of_facts

OPERATIONS = ("TransferFunds", "PayBill", "GetAccountStatement")
SEVEN_RULES = (
    *(f"NOT ((NOT CheckAuthorization) UNTIL {tool})" for tool in OPERATIONS),
    *(f"ALWAYS ({tool} IMPLIES EVENTUALLY(RecordAuditEvent))" for tool in OPERATIONS),
    "NOT ((NOT SearchPayee) UNTIL PayBill)",
)


def at_least(count: int) -> str:
    return "F a" if count == 1 else f"F(a & X {at_least(count - 1)})"


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("G(a -> F b)", 2),
        ("!(!a U b)", 3),
        ("G(a -> WX b)", 3),
        ("G(a -> X(!a U b))", 3),
        ("!(F a & F b)", 4),
        (f"!({at_least(2)})", 3),
        ("true", 1),
        ("G X a", 2),
        ("a", 3),
        *((f"{at_least(k)} & !{at_least(k + 1)}", k + 2) for k in (1, 3, 8)),
    ],
)
def test_known_numbers_of_states(text: str, states: int) -> None:
    assert len(compile_formula(parse(text)).table) == states


def test_the_seven_banking_rules_apart_and_together() -> None:
    assert [len(compile_formula(parse(rule)).table) for rule in SEVEN_RULES] == [3, 3, 3, 2, 2, 2, 3]
    together = compile_formula(And(*map(parse, SEVEN_RULES)))
    assert len(together.table) == 7
    assert len(together.letters) == 7


def test_letters_of_calls_have_atoms_of_one_tool() -> None:
    automaton = compile_formula(parse("G(Pay(x > 1) & attempted(Pay) & Pay -> F (Audit | attempted(Audit(y))))"))
    letters = {automaton.alphabet.text(letter) for letter in automaton.letters}
    assert letters == {
        "-",
        "Pay & Pay(x > 1) & attempted(Pay)",
        "Pay & attempted(Pay)",
        "attempted(Pay)",
        "Audit",
        "Audit & attempted(Audit(y))",
        "attempted(Audit(y))",
    }


def test_a_step_has_one_call() -> None:
    both = parse("F(a & b)")
    assert compile_formula(both).verdicts == ("violated",)
    assert compile_formula(of_facts(both)).verdicts == ("open", "satisfied")
    with pytest.raises(KeyError):
        compile_formula(both).step(0, 0b11)


def test_four_verdicts_and_distances() -> None:
    automaton = compile_formula(parse("!(!Check U Pay) & G(Pay -> F Audit)"))

    def after(*tools: str) -> tuple[Verdict, int | None]:
        masks = [mask for tool in tools if (mask := automaton.alphabet.tool_letter(tool)) is not None]
        state = automaton.run(masks)
        return automaton.verdicts[state], automaton.distances[state]

    assert after() == ("holding", 0)
    assert after("Other") == ("holding", 0)
    assert after("Pay") == ("violated", None)
    assert after("Check", "Pay") == ("open", 1)
    assert after("Check", "Pay", "Audit") == ("holding", 0)
    assert compile_formula(parse("F(a & X F b)")).distances == (2, 1, 0)


def test_masks() -> None:
    automaton = compile_formula(parse("G(attempted(Pay) -> F Audit(ok)) | Check"))
    names = {str(atom): 1 << bit for bit, atom in enumerate(automaton.atoms)}
    assert (
        automaton.alphabet.tool_letter("Pay")
        == automaton.alphabet.tool_letter("Pay", completed=False)
        == names["attempted(Pay)"]
    )
    assert automaton.alphabet.tool_letter("Check") == names["Check"]
    assert automaton.alphabet.tool_letter("Check", completed=False) == 0
    assert automaton.alphabet.tool_letter("Audit") is None
    assert automaton.alphabet.tool_letter("Elsewhere") == 0
    assert automaton.alphabet.event_letter(Event("Audit", {"ok": True})) == names["Audit(ok)"]
    assert automaton.alphabet.event_letter(Event("Audit", {"ok": True}, "failed")) == 0
    assert automaton.alphabet.event_letter(Event("Pay", {}, "raised")) == names["attempted(Pay)"]


def test_equivalence_over_the_atoms_of_both() -> None:
    one, other = compile_formula(parse("!(!a U b)")), compile_formula(parse("(!b) W a"))
    assert equivalent(one, other)
    free_one, free_other = (compile_formula(of_facts(parse(text))) for text in ("!(!a U b)", "(!b) W a"))
    difference = product(free_one, free_other, lambda left, right: left != right)
    assert difference.accepts([{fact("a"), fact("b")}])
    assert len(difference.shortest_completion(difference.initial)) == 1
    assert equivalent(compile_formula(parse("a | !a")), compile_formula(parse("b -> b")))
    assert not equivalent(compile_formula(parse("G !a")), compile_formula(parse("G !b")))


def test_conditions_on_one_tool_are_combined() -> None:
    large, any_payment = compile_formula(parse("F Pay(x > 9)")), compile_formula(parse("F Pay"))
    difference = product(large, any_payment, lambda left, right: left != right)
    assert difference.accepts([{Atom("Pay")}])
    assert equivalent(compile_formula(parse("F Pay & F Pay(x > 9)")), large)


def test_an_automaton_is_empty_if_it_accepts_no_trace() -> None:
    assert not compile_formula(parse("G X a")).is_empty
    assert compile_formula(parse("G X a & F true")).is_empty
    assert compile_formula(parse("F a & G !a")).is_empty


def test_an_automaton_is_a_value() -> None:
    automaton = compile_formula(parse("G(a -> F b)"))
    assert automaton == compile_formula(parse("!F(a & G !b)"))
    assert hash(automaton) == hash(compile_formula(parse("G(!a | F b)")))
    assert pickle.loads(pickle.dumps(automaton)) == automaton
    assert compile_formula(parse("G(a->F b)")) is automaton


@pytest.mark.parametrize(
    "text",
    [
        "G(" + " & ".join(f"(P(x{i}) | F Q)" for i in range(13)) + ")",
        " & ".join(f"G(p{i} -> F q{i})" for i in range(16)),
        "F(" + " & ".join(f"(F p{i} | X q{i})" for i in range(16)) + ")",
        "F(" + " & ".join(f"(F p{i} | X q{i})" for i in range(4)) + ")",
    ],
    ids=["letters", "states", "combinations", "clauses"],
)
def test_formulas_beyond_the_limits_are_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lawtrace.solver.automata.automaton.MAXIMUM_STATES", 500)
    monkeypatch.setattr("lawtrace.solver.automata.progression.MAX_TOTAL_CLAUSES", 500)
    monkeypatch.setattr("lawtrace.solver.automata.progression.MAX_CLAUSES", 500)
    with pytest.raises(FormulaError, match="rules"):
        compile_formula(parse(text))


def test_nested_equivalences_do_not_explode() -> None:
    text = "a"
    for _ in range(90):
        text = f"(b <-> X {text})" if len(text) < 40 else f"(b <-> {text})"
    assert len(compile_formula(parse(f"G {text}")).table) < 50


@pytest.mark.slow
def test_the_deepest_formula_compiles() -> None:
    deepest = "G " * 50 + "F " * (MAX_NESTING - 50) + "a"
    assert equivalent(compile_formula(parse(deepest)), compile_formula(parse("G F a")))


def test_a_hundred_thousand_events_without_recursion() -> None:
    automaton = compile_formula(parse("G(a -> F b) & G(c -> O a)"))
    letters = [automaton.alphabet.letter({Atom("ab"[step % 2])}) for step in range(100_000)]
    assert automaton.verdicts[automaton.run(letters)] == "holding"


def test_too_many_conditions_are_named() -> None:
    parts = " & ".join(f"!Pay(amount == {n}) & !Pay(payee == 'p{n}', amount > {n})" for n in range(9))
    with pytest.raises(FormulaError, match=r"Pay has 18 conditions, 18 of them on `amount`; compare it fewer times"):
        compile_formula(parse(f"G({parts})".replace("'", '"')))
