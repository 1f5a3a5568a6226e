"""Parsing and printing of formulas, and parse errors."""

from pathlib import Path

import pytest

import lawtrace.solver.logic.parser
from lawtrace.schemas.errors import FormulaError
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.parser import MAX_NESTING, parse

A, B, C = map(s.Atom, "abc")


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("a", A),
        ("a & b & c", s.And(A, B, C)),
        ("(a & b) & c", s.And(s.And(A, B), C)),
        ("a | b & c", s.Or(A, s.And(B, C))),
        ("! a U b", s.Until(s.Not(A), B)),
        ("a U b & c", s.And(s.Until(A, B), C)),
        ("a & b -> c", s.Implies(s.And(A, B), C)),
        ("a <-> X b", s.Iff(A, s.Next(B))),
        ("a SINCE b", s.Since(A, B)),
        ("a -> (b -> c)", s.Implies(A, s.Implies(B, C))),
        ("Fa", s.Atom("Fa")),
        ("x_1", s.Atom("x_1")),
    ],
)
def test_precedence(text: str, formula: s.Formula) -> None:
    assert parse(text) == formula


@pytest.mark.parametrize(
    ("words", "symbols"),
    [
        ("NOT ((NOT CheckAuthorization) UNTIL PayBill)", "!(!CheckAuthorization U PayBill)"),
        ("ALWAYS (PayBill IMPLIES EVENTUALLY(RecordAuditEvent))", "G(PayBill -> F RecordAuditEvent)"),
        ("NEXT a AND WEAK_NEXT b OR N c", "X a & WX b | WX c"),
        ("(a RELEASE b) IFF (a WEAK_UNTIL b)", "a R b <-> a W b"),
        ("YESTERDAY a AND ONCE b AND HISTORICALLY c", "Y a & O b & H c"),
        ("TRUE OR FALSE", "true | false"),
        ("((!((a))))", "!a"),
        ("attempted( PayBill ( amount>1e3 ) )", "attempted(PayBill(amount > 1000.0))"),
        ('P(not (a.b == 1 or "x" in result.0.y) and z)', 'P(not (a.b == 1 or "x" in result.0.y) and z)'),
        ("P(F == U and X.G in [1, true, \"é\"])", 'P(F == U and X.G in [1, true, "é"])'),
    ],
)  # fmt: skip
def test_words_and_symbols_print_alike(words: str, symbols: str) -> None:
    assert str(parse(words)) == symbols
    assert str(parse(symbols)) == symbols


@pytest.mark.parametrize(
    ("text", "line", "column", "said"),
    [
        ("a -> b -> c", 1, 8, "`->` does not chain"),
        ("a <-> b -> c", 1, 9, "`->` does not chain"),
        ("a U b U c", 1, 7, "`U` does not chain"),
        ("G(a U b R c)", 1, 9, "`R` does not chain"),
        ("", 1, 1, "the text ends where a formula was expected"),
        ("a &", 1, 4, "the text ends where a formula was expected"),
        ("a\n & | b", 2, 4, "found `|` where a formula was expected"),
        ("(a", 1, 3, "the text ends where `)` was expected"),
        ("a b", 1, 3, "found `b` where an operator"),
        ("a Ub", 1, 3, "found `Ub` where an operator"),
        ("X U", 1, 3, "`U` is an operator"),
        ("a)", 1, 2, "found `)`"),
        ("a $ b", 1, 3, "`$` does not begin"),
        ("P(x = 1)", 1, 5, "equality is `==`"),
        ("P(x <)", 1, 6, "found `)` where a value was expected"),
        ("P(1)", 1, 4, "found `)` where a comparison was expected"),
        ("P(x indeed)", 1, 5, "found `indeed`"),
        ("G(P(x > 3 -> F b)", 1, 11, "found `->` where `and` or `or` or `)` was expected"),
        ("P(x == 1e999)", 1, 8, "cannot be read"),
        ('P(x == "\\q")', 1, 8, "cannot be read"),
        (f"P(x == {'9' * 5000})", 1, 8, "cannot be read"),
        ("a & Y F b", 1, 5, "`F` looks at the future and stands inside `Y`"),
        ("a S (b & X c)", 1, 3, "`X` looks at the future and stands inside `S`"),
    ],
)
def test_an_error_names_the_position_and_the_expected_token(text: str, line: int, column: int, said: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse(text)
    first, excerpt, caret = str(caught.value).split("\n")
    assert first.startswith(f"line {line}, column {column}: ")
    assert said in first
    assert excerpt.strip() in text
    if column <= 50:
        assert caret == " " * (4 + column - 1) + "^"


def test_a_long_line_is_shortened_around_the_position() -> None:
    with pytest.raises(FormulaError) as caught:
        parse(" & ".join(["Tool"] * 100) + " & & b")
    _, excerpt, caret = str(caught.value).split("\n")
    assert len(excerpt) <= 104
    assert excerpt[caret.index("^") :].startswith("& b")


@pytest.mark.slow
@pytest.mark.parametrize("opening", ["!", "G ", "Y ", "a U (", "a -> (", "attempted(", "P(not "])
def test_too_deep_formulas_are_an_error(opening: str) -> None:
    text = opening * 20_000 + "a" + ")" * (20_000 * opening.count("("))
    with pytest.raises(FormulaError):
        parse(text)


def test_parentheses_and_long_chains_are_allowed() -> None:
    assert parse("(" * 20_000 + "a" + ")" * 20_000) == A
    assert parse(" & ".join("a" * 5_000)) == s.And(*[A] * 5_000)
    deepest = parse("!" * MAX_NESTING + "a")
    assert parse(str(deepest)) == deepest


def test_the_grammar_spells_the_operators_as_the_syntax_does() -> None:
    grammar = Path(lawtrace.solver.logic.parser.__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    formulas, _ = grammar.split("// Windows")
    rules = "\n".join(line for line in formulas.splitlines() if not line.startswith("//"))
    assert set(rules.split('"')[1::2]) - {"(", ")", ":", ","} == s.RESERVED
    assert s.ATTEMPTED in s.RESERVED


@pytest.mark.parametrize("name", ["U", "NOT", "true", "attempted", "two words", "9", "files.read", "now", "count"])
def test_an_atom_has_a_name_that_can_be_read_back(name: str) -> None:
    assert str(s.Atom(name)) == f"`{name}`"
    assert parse(str(s.Atom(name))) == s.Atom(name)
    with pytest.raises(FormulaError):
        s.Atom(f"`{name}`")


def test_and_joins_two_or_more() -> None:
    with pytest.raises(FormulaError):
        s.And(A)


def test_a_bare_string_is_searched_in_the_words() -> None:
    assert parse('user("Yes")') == parse('user("yes" in words)')
    assert parse('user("go ahead" or not "stop")') == parse(
        'user("go" in words and "ahead" in words or not "stop" in words)'
    )
    assert parse(str(parse('F user("go ahead")'))) == parse('F user("go ahead")')
    with pytest.raises(FormulaError, match="needs a word to look for"):
        parse('user("!")')


@pytest.mark.parametrize(
    "text",
    [
        "F[<= 72h] a", "G[< 5min] a", "a U[> 1d, <= 30d] b", "O[>= 1h, < 2h] a", "H[<= 2 calendar days] a",
        "X[<= 3s] a",
        "Y[<= 1 business day] a", "a S[<= 1 calendar month] b", "a W[<= 2w] b", "a R[> 3 calendar years] b",
        "forall x, y: G(a(p == x and q == y) -> (exists z: b(p == z and q == x)))",
        "forall x: G(a(p == x) -> x + 1 < 3 & now - 3h > 5 & position == 2)",
        "G count(a(p > 1) [<= 1d] since b) <= 5", "G sum(p + q of a) < 10", "G count(distinct p of a [<= 1h]) == 3",
        'G last(result.state of a) == "open"', "G count(for x: O a(p == x)) < 3",
        "G sum(x for x, y: O a(p == x and q == y)) < 3",
        "G a(any f in result.rows: f.date < now and f.n > 1)", "G a(all f in rows: f == 1 or f == 2)",
        'G a(lower(p) == "x" and len(q) > 2 and p startswith "a" and p endswith "b" and p contains "c")',
        "G a((p + 1) * 2 - q / 3 > 24h)", "G attempted(a(p == 1))", 'G user("yes" in words)',
    ],
)  # fmt: skip
def test_every_construct_prints_as_it_is_read(text: str) -> None:
    assert parse(str(parse(text))) == parse(text)
    assert str(parse(text)) == text


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("F[<= 3 fortnights] a", 8, "`fortnights` is not a unit of time: write `calendar days`"),
        ("F[<= 3fortnights] a", 6, "`fortnights` is not a unit of time: write s, min, h, d, w, or `calendar days`"),
        ("F[<= -3h] a", 6, "a span of time is not negative"),
        ("F[<= 1.5 calendar days] a", 6, "a whole number of units"),
        ("F[> 3h, < 1h] a", 2, "contains no distance: its lower end is above its upper end"),
        ("F[< 0s] a", 2, "contains no distance"),
        ("F[<= 3h, < 4h] a", 10, "a window has one end with `>` or `>=`, and one with `<` or `<=`"),
        ("F[== 3h] a", 3, "a window has one end"),
        ("F[<= 9999999999999d] a", 6, "too long for a span of time"),
        ("G a(p > 2 calendar months)", 11, "found `calendar`"),
        ("forall x: F(a(p == x) & (exists x: b(p == x)))", 8, "`x` is bound again inside"),
        ("forall x, x: F a(p == x)", 8, "names a variable twice"),
        ("forall x: F a", 8, "no condition compares a field with `x`"),
        ("forall now: F a(p == now)", 8, "`now` cannot name the variable of a quantifier"),
        ("forall x: F a(x)", 8, "`x` stands alone"),
        ("forall x: F a(x.p == 1)", 8, "the variable `x` is one value and has no parts"),
        ("F a(size(p) == 1)", 5, "unknown function `size`"),
        ("F a(len(p, q) == 1)", 5, "`len` takes 1 value(s), not 2"),
        ("O F a", 1, "`F` looks at the future and stands inside `O`"),
        ("G(count(for x: F a(p == x)) < 3)", 3, "`F` looks at the future and stands inside `count`"),
        ("G(last(x for x: O a(p == x)) < 3)", 3, "`last` is about events"),
    ],
)
def test_bad_input_of_time_and_objects(text: str, column: int, said: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse(text)
    first, *_ = str(caught.value).split("\n")
    assert said in first
    assert first.startswith(f"line 1, column {column}: ")


def test_a_variable_that_is_not_bound_is_refused() -> None:
    with pytest.raises(FormulaError, match="line 1, column 3: `x` is not bound: begin with `forall x"):
        parse("G x > 3")


HABITS = {
    "P(x == 1) && Q": "`&` joins formulas", "P and Q": "`&` joins formulas", "P(x == 1 OR y)": "`or` joins conditions",
    "P(x == 1 || y)": "`or` joins conditions", "P || Q": "`|` joins formulas", "P(x == 1 -> y)": "stands between",
    "P => F Q": "`->` is implies", "P <=> Q": "`<->` if and only if", "P implies Q": "write `IMPLIES`",
    "P(x == 'yes')": '`"yes"`', "P(x ≥ 5)": "write `<=`, `>=`",
    'P(x in ("a", "b"))': "lists stand in brackets", "not P(x == 1)": "write `!`",
    "P(!x == 1)": "write `not`", "P(x not in [1])": "`not x in list`", "P(x == True)": "write `true`",
    "P(x == None)": "missing value", "F within 60 days P": "`F[<= 60d]`", "F<=60d P": "`F[<= 60d]`",
    "F[60 days] P": "write `60d`", "P & exists y: Q(x == y)": "in parentheses", "P(1 < x < 3)": "with `and`",
    "G forall y: P(x == y)": "in parentheses", "P(result[0] == 1)": "result.rows.0.id", "P(x <> 1)": "write `!=`",
}  # fmt: skip


@pytest.mark.parametrize("text", HABITS)
def test_an_error_says_what_to_write_instead(text: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse(text)
    assert HABITS[text] in str(caught.value).split("\n")[0]


def test_a_call_without_conditions_may_have_parentheses() -> None:
    assert parse("G(P() -> F attempted(Q()))") == parse("G(P -> F attempted(Q))")
