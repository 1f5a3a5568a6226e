"""Import of MFOTL formulas: each is compared with a rule written by hand, and refusals name the place."""

import random
from collections.abc import Callable

import pytest

from lawtrace.runs.audit.monpoly.mfotl import Reading, import_mfotl
from lawtrace.runs.audit.monpoly.mfotl_signature import parse_signature
from lawtrace.schemas.errors import FormulaError, InputError
from lawtrace.schemas.events import Event
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.logic.type_check import check_formula
from lawtrace.solver.monitoring.first_order import FirstOrderMonitor, FirstOrderRule
from tests.support.published import published_text

SIGNATURE = parse_signature("""
order(c:string, o:int)      # a customer's order
pay(card:string, sum:float)
ship(int) cancel(o:int)
limit(card:string, sum:float)
hold(card:string)
release(card:string)
""")

TRANSLATIONS = {
    # Precedence: NOT, AND, OR, IMPLIES, EQUIV, temporal operators, SINCE
    "ship(x) AND ONCE cancel(x) AND order(_, x)": (
        "violations",
        "forall x: G !(ship(x1 == x) & O(cancel(o == x) & order(o == x)))",
    ),
    "ship(x) AND NOT cancel(x) SINCE order(y, x)": (
        "violations",
        "forall x, y: G !((ship(x1 == x) & !cancel(o == x)) S order(c == y and o == x))",
    ),
    "ship(x) OR cancel(x) AND order(_, x) IMPLIES ONCE order(_, x) EQUIV TRUE": (
        "policy",
        "forall x: G((ship(x1 == x) | cancel(o == x) & order(o == x)) -> O(order(o == x) <-> true))",
    ),
    "hold(x) AND (NOT EXISTS y. pay(x, y) SINCE limit(x, z))": (
        "violations",
        "forall x, z: G !(hold(card == x) & !(exists y: pay(card == x and sum == y)) S limit(card == x and sum == z))",
    ),
    # Readings
    "NOT (EXISTS x. ship(x) AND NOT ONCE order(_, x))": (
        "policy",
        "G !(exists x: ship(x1 == x) & !O order(o == x))",
    ),
    "ALWAYS FORALL x. ship(x) IMPLIES ONCE order(_, x)": ("policy", "G(forall x: ship(x1 == x) -> O order(o == x))"),
    "ALWAYS (ship(x) IMPLIES ONCE order(_, x))": ("policy", "forall x: G(ship(x1 == x) -> O order(o == x))"),
    "ship(x) IMPLIES ONCE order(_any, x)": ("policy", "forall x: G(ship(x1 == x) -> O order(o == x))"),
    # Windows
    "ship(x) AND NOT ONCE[2,3) order(_, x)": (
        "violations",
        "forall x: G !(ship(x1 == x) & !O[>= 2d, < 3d] order(o == x))",
    ),
    "ship(x) AND NOT EVENTUALLY(1h,90m] cancel(x)": (
        "violations",
        "forall x: G !(ship(x1 == x) & !F[> 1h, <= 90min] cancel(o == x))",
    ),
    "ship(x) AND PREV[30s,*) cancel(x)": ("violations", "forall x: G !(ship(x1 == x) & Y[>= 30s] cancel(o == x))"),
    "ship(x) AND (NOT cancel(x) UNTIL[0,1] hold(\"a\"))": (
        "violations",
        'forall x: G !(ship(x1 == x) & !cancel(o == x) U[<= 1d] hold(card == "a"))',
    ),
    "ship(x) AND NEXT[1,1] (cancel(x) RELEASE hold(\"a\"))": (
        "violations",
        'forall x: G !(ship(x1 == x) & X[>= 1d, <= 1d] (cancel(o == x) R hold(card == "a")))',
    ),
    "ship(x) AND (NOT cancel(x) TRIGGER NOT ship(x))": (
        "violations",
        "forall x: G !(ship(x1 == x) & !(!!cancel(o == x) S !!ship(x1 == x)))",
    ),
    "ship(x) AND PAST_ALWAYS[0,1] NOT cancel(x)": (
        "violations",
        "forall x: G !(ship(x1 == x) & H[<= 1d] !cancel(o == x))",
    ),
    # Names: primes, names of arguments, the same name twice
    "EXISTS x, x'. ship(x) AND ship(x') AND NOT x = x'": (
        "policy",
        "G(exists x, x_: ship(x1 == x) & ship(x1 == x_) & !x == x_)",
    ),
    "order(c, o) AND NOT (EXISTS c. ONCE order(c, o))": (
        "violations",
        "forall c_, o_: G !(order(c == c_ and o == o_) & !(exists c_2: O order(c == c_2 and o == o_)))",
    ),
    # Terms and built-in predicates
    'pay("a", x) AND (x + 1.5) * 2 > 10 AND x != 7': (
        "violations",
        'forall x: G !(pay(card == "a" and sum == x) & (x + 1.5) * 2 > 10 & x != 7)',
    ),
    "ship(x) AND tp(i) AND i > 3 AND ONCE (order(_, x) AND ts(t)) AND ts(t2)": (
        "violations",
        "forall x, i, t, t2: G !(ship(x1 == x) & i == position & i > 3 & "
        "O((order(o == x) & t == now) & t2 == now))",
    ),
    "ship(x) AND tpts(i, t) AND t >= 2": (
        "violations",
        'forall x, i, t: G !(ship(x1 == x) & (i == position & t == now) & t >= "1970-01-03T00:00:00")',
    ),
    'order(x, _) AND x MATCHES r"^C-1\\."': ("violations", 'forall x: G !(order(c == x) & x startswith "C-1.")'),
    # Aggregations
    "(s <- SUM a; u ONCE[0,30] pay(u, a) AND tp(i)) AND s > 100": (
        "violations",
        "forall s, u: G !(((exists a, i: O[<= 30d] (pay(card == u and sum == a) & i == position)) & "
        "s == sum(a for a, i: O[<= 30d] (pay(card == u and sum == a) & i == position))) & s > 100)",
    ),
    "(n <- CNT x; ONCE ship(x)) AND n > 2": ("violations", "forall n: G !(n == count(for x: O ship(x1 == x)) & n > 2)"),
    "(a <- MAX(a; u; ONCE pay(u, a))) AND pay(u, a)": (
        "violations",
        "forall a, u: G !(((exists a_2: O pay(card == u and sum == a_2)) & "
        "a == max(a_2 for a_2: O pay(card == u and sum == a_2))) & pay(card == u and sum == a))",
    ),
    # LET
    "LET late(x) = ship(x) AND NOT ONCE[0,1] order(_, x) IN LET bad(x) = late(x) AND cancel(x) IN bad(y)": (
        "violations",
        "forall y: G !((ship(x1 == y) & !O[<= 1d] order(o == y)) & cancel(o == y))",
    ),
    "LET pair(a, b) = ONCE order(a, b) IN pair(_, 3) AND ship(3)": (
        "policy",
        "G((exists a: O order(c == a and o == 3)) & ship(x1 == 3))",
    ),
    # Symbols of related tools, comments
    "(* every order *) ∀x. (∃y. order(y, x)) → ◊[0,5] ship(x) # in time": (
        "policy",
        "G(forall x: (exists y: order(c == y and o == x)) -> F[<= 5d] ship(x1 == x))",
    ),
    "ship(x) ∧ ¬ ⧫ cancel(x) && !(● hold(\"a\"))": (
        "violations",
        'forall x: G !(ship(x1 == x) & !O(cancel(o == x) & !Y hold(card == "a")))',
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", TRANSLATIONS)
def test_translations(text: str) -> None:
    reading, expected = TRANSLATIONS[text]
    found = import_mfotl(text, SIGNATURE, time_unit=86_400)
    assert (found.reading, str(found.rule)) == (reading, str(parse(expected)))
    check_formula(found.rule, SIGNATURE.tools)


@pytest.mark.parametrize(
    ("reading", "rule"), [("policy", "G(exists x: ship(x1 == x))"), ("violations", "G !(exists x: ship(x1 == x))")]
)
def test_the_reading_can_be_given(reading: Reading, rule: str) -> None:
    assert str(import_mfotl("EXISTS x. ship(x)", SIGNATURE, reading=reading).rule) == str(parse(rule))


REFUSALS = {
    "ship(x, y)": "line 1, column 1: `ship` has 1 argument(s) in the signature, not 2",
    "ship(x) AND\n  shp(x)": "line 2, column 3: unknown predicate `shp`: did you mean `ship`?",
    'ship("a")': "line 1, column 6: the argument `x1` of `ship` is a number, not a string",
    "ship(x) AND x = \"a\"": "line 1, column 13: a number is compared with a string",
    "ship(x) AND": "line 1, column 12: the text ends too early",
    "ship(x) $": "line 1, column 9: `$` does not begin",
    "ship(x) AND ONCE[3,1] cancel(x)": "line 1, column 17: the window [>= 3s, <= 1s] contains no distance",
    "ship(x) AND ONCE[0,1.5] cancel(x)": "`1.5`: the ends of an interval are whole numbers",
    "FREX[0,3] (ship(x) ship(x))": "line 1, column 1: `FREX`: regular expressions over time points",
    "LETPAST p(x) = ship(x) IN p(x)": "recursive predicates",
    "LET p(x) = order(y, x) IN p(x)": "`y` is neither a parameter of `p` nor bound",
    "m <- MED a; u pay(u, a)": "line 1, column 6: `MED` has no counterpart",
    "s <- SUM a; v pay(u, a)": "`v` does not occur free",
    "ONCE EVENTUALLY ship(x)": "line 1, column 1: `F` looks at the future",
    "NOT ship(x)": "does not say which values `x` has",
    "ship(x) AND YEAR(x) = 3": "the function `YEAR` has no counterpart",
    "ship(x) AND x MOD 2 = 0": "`MOD` has no counterpart",
    "ship(x) AND _ = 0": "`_` stands for any value",
    'order(x, _) AND x MATCHES r"a.*b"': "only plain text",
    "ship(x) AND ts(t) AND t > x": "a timestamp is compared with a computed number",
    "(" * 300 + "NOT " * 300 + "ship(1)" + ")" * 300: "nests its operators",
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSALS)
def test_refusals_name_the_place(text: str) -> None:
    with pytest.raises(FormulaError) as caught:
        import_mfotl(text, SIGNATURE)
    assert REFUSALS[text] in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pay(card:string, sum:money)", "signature, line 1: expected a predicate"),
        ("ship(int)\npay(card:string\nship(int)", "signature, line 2: expected a predicate"),
        ("pay(int)\npay(string)", "line 2: the predicate `pay` is there twice"),
        ("# nothing", "declares no predicate"),
    ],
)
def test_signatures_that_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_signature(text)
    assert message in str(caught.value)


def test_arguments_get_names_that_rules_can_use() -> None:
    signature = parse_signature("tp(int)  p(int, string)\nq(result:int, in:int, a':int, a_:int) r()")
    named = {name: predicate.arguments for name, predicate in signature.predicates.items()}
    assert named == {"p": ("x1", "x2"), "q": ("result_", "in_", "a_", "a__"), "r": ()}


# What imported formulas find, against direct computations on random logs

AGGREGATE_SIGNATURE = parse_signature("withdraw(u:string, a:float) limit(u:string, a:float) on(string) off(string)")
SUM = "(s <- SUM a;u ONCE[0,4] withdraw(u,a) AND tp(i))"
Log = list[tuple[int, list[tuple[str, tuple[str | float, ...]]]]]
Found = set[tuple[int, tuple[str | float, ...]]]


def random_log(seed: int) -> Log:
    draw = random.Random(seed)
    time, log = 0, Log()
    for _ in range(25):
        time += draw.choice((0, 1, 1, 2, 6))
        events: list[tuple[str, tuple[str | float, ...]]] = []
        for _ in range(draw.randrange(4)):
            name, user = draw.choice(("withdraw", "withdraw", "limit", "on", "off")), draw.choice("ab")
            events.append((name, (user, float(draw.randrange(1, 5))) if name in ("withdraw", "limit") else (user,)))
        log.append((time, events))
    return log


def sums(log: Log, position: int) -> dict[str | float, float]:
    """The sum of each user's different withdrawals, a time point counted once, of the last 4 units."""
    now = log[position][0]
    counted = {
        (user, amount, index)
        for index, (time, events) in enumerate(log[: position + 1])
        if now - time <= 4
        for name, (user, *rest) in events
        if name == "withdraw"
        for amount in rest
    }
    return {user: sum(float(str(amount)) for other, amount, _ in counted if other == user) for user, _, _ in counted}


def over_limit(log: Log, position: int) -> Found:
    return {(position, (user, total)) for user, total in sums(log, position).items() if total > 6}


def over_limit_while_on(log: Log, position: int) -> Found:
    def on(user: str | float) -> bool:
        state = False
        for _, events in log[: position + 1]:
            state = (state and ("off", (user,)) not in events) or ("on", (user,)) in events
        return state

    return {(at, values) for at, values in over_limit(log, position) if on(values[0])}


def over_own_limit(log: Log, position: int) -> Found:
    def limits(user: str | float) -> set[str | float]:
        found: set[str | float] = set()
        for _, events in log[: position + 1]:
            new = {values[1] for name, values in events if name == "limit" and values[0] == user}
            found = new or found
        return found

    return {
        (position, (limit, user, total))
        for user, total in sums(log, position).items()
        for limit in limits(user)
        if not total <= float(str(limit))
    }


def late_release(log: Log, position: int) -> Found:
    """Switched on, without being switched off within 3 units, known when a later time point is further away."""
    time, events = log[position]
    if log[-1][0] <= time + 3:
        return set()
    later = [event for at, others in log[position:] if at - time <= 3 for event in others]
    return {(position, values) for name, values in events if name == "on" and ("off", values) not in later}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{SUM} AND NOT (s <= 6.0)", over_limit),
        (f"{SUM} AND (NOT off(u) SINCE on(u)) AND NOT (s <= 6.0)", over_limit_while_on),
        (f"{SUM} AND (NOT EXISTS l'. limit(u,l') SINCE limit(u,l)) AND NOT (s <= l)", over_own_limit),
        ("on(u) AND NOT EVENTUALLY[0,3] off(u)", late_release),
    ],
)
def test_violations_on_random_logs(text: str, expected: Callable[[Log, int], Found]) -> None:
    rule = FirstOrderRule(import_mfotl(text, AGGREGATE_SIGNATURE).rule)
    seen = 0
    for seed in range(60):
        log = random_log(seed)
        monitor = FirstOrderMonitor(rule)
        for time, events in log:
            made = [
                Event(name, dict(zip(AGGREGATE_SIGNATURE.predicates[name].arguments, values, strict=True)), time=time)
                for name, values in events
            ]
            monitor.feed_step(time, made)
        found = {
            (violation.position, tuple(value for _, value in violation.values)) for violation in monitor.violations
        }
        by_hand = set[tuple[int, tuple[str | float, ...]]]().union(*(expected(log, at) for at in range(len(log))))
        assert {(at, _in_order(values)) for at, values in found} == {(at, _in_order(values)) for at, values in by_hand}
        seen += len(found)
    assert seen > 20


def _in_order(values: tuple[str | float, ...]) -> tuple[str, ...]:
    return tuple(sorted(map(str, values)))


@pytest.mark.parametrize(
    "text",
    [
        "(ship(x) OR cancel(x)) AND NOT ONCE order(_, x)",
        "ship(x) OR cancel(x)",
        "(ship(x) OR cancel(x)) AND NOT EVENTUALLY[0,5] order(_, x)",
    ],
)
def test_a_violation_of_one_time_point_counts_once(text: str) -> None:
    monitor = FirstOrderMonitor(FirstOrderRule(import_mfotl(text, SIGNATURE).rule))
    monitor.feed_step(1, [Event("ship", {"x1": 7}), Event("ship", {"x1": 7}), Event("cancel", {"o": 7})])
    monitor.feed_step(9, [])
    assert monitor.violation_count == 1
    assert [found.values for found in monitor.violations] == [(("x", 7),)]


@pytest.mark.parametrize(
    "text", ["ship(x) AND hold(_)", "hold(_) AND ONCE ship(x)", "hold(_) AND (ONCE ship(x) OR cancel(x))"]
)
def test_violations_name_the_values_of_all_free_variables(text: str) -> None:
    monitor = FirstOrderMonitor(FirstOrderRule(import_mfotl(text, SIGNATURE).rule))
    ships = [Event("ship", {"x1": number}) for number in (7, 8)]
    monitor.feed_step(1, [*ships, Event("hold", {"card": "a"})])
    assert sorted(found.values for found in monitor.violations) == [(("x", 7),), (("x", 8),)]


def test_violations_do_not_count_values_of_inner_quantifiers() -> None:
    monitor = FirstOrderMonitor(FirstOrderRule(import_mfotl("EXISTS c. order(c, x)", SIGNATURE).rule))
    monitor.feed_step(1, [Event("order", {"c": customer, "o": 7}) for customer in ("ada", "bob")])
    assert [found.values for found in monitor.violations] == [(("x", 7),)]


def test_values_that_only_the_future_names_are_left_out_of_violations() -> None:
    rule = FirstOrderRule(import_mfotl("ship(x) AND EVENTUALLY[0,5] order(y, x)", SIGNATURE).rule)
    monitor = FirstOrderMonitor(rule)
    monitor.feed_step(1, [Event("ship", {"x1": 7})])
    monitor.feed_step(6, [Event("order", {"c": "ada", "o": 7})])
    assert [(found.position, found.values) for found in monitor.violations] == [(0, (("x", 7),))]


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "signature", "rule"),
    [
        (
            "gdpr_consent",
            "gdpr",
            "G !(exists data_, dataid_, dsid_: use(data == data_ and dataid == dataid_ and dsid == dsid_) & "
            "!(O legal_grounds(dsid == dsid_ and data == data_) | "
            "(!ds_revoke(dsid == dsid_ and data == data_)) S ds_consent(dsid == dsid_ and data == data_)))",
        ),
        (
            "gdpr_deletion",
            "gdpr",
            "G !(exists data_, dataid_, dsid_: "
            "ds_deletion_request(data == data_ and dataid == dataid_ and dsid == dsid_) & "
            "!F[<= 30d] delete(data == data_ and dataid == dataid_ and dsid == dsid_))",
        ),
        (
            "gdpr_lawfulness",
            "gdpr",
            "G !(exists data_, dataid_, dsid_: use(data == data_ and dataid == dataid_ and dsid == dsid_) & "
            "!O(ds_consent(dsid == dsid_ and data == data_) | legal_grounds(dsid == dsid_ and data == data_)))",
        ),
        (
            "agg_p1",
            "agg",
            "forall s, u_: G !(((exists a_, i: O[<= 30d] (withdraw(u == u_ and a == a_) & i == position)) & s == "
            "sum(a_ for a_, i: O[<= 30d] (withdraw(u == u_ and a == a_) & i == position))) & !(s <= 10000.0))",
        ),
        (
            "agg_p2",
            "agg",
            "forall s, u_: G !(((exists a_, i: O[<= 30d] (withdraw(u == u_ and a == a_) & i == position)) & s == "
            "sum(a_ for a_, i: O[<= 30d] (withdraw(u == u_ and a == a_) & i == position))) & "
            "(!limit_off(u == u_) S limit_on(u == u_)) & !(s <= 10000.0))",
        ),
        (
            "agg_p3",
            "agg",
            "forall s, u_, l: G !(((exists a_, i: O[<= 30d] (withdraw(u == u_ and a == a_) & i == position)) & s == "
            "sum(a_ for a_, i: O[<= 30d] (withdraw(u == u_ and a == a_) & i == position))) & "
            "(!(exists l_: limit(u == u_ and a == l_)) S limit(u == u_ and a == l)) & !(s <= l))",
        ),
    ],
)
def test_published_formulas(name: str, signature: str, rule: str) -> None:
    predicates = parse_signature(published_text(f"temporal/{signature}_signature.sig"))
    found = import_mfotl(published_text(f"temporal/{name}.mfotl"), predicates, time_unit=86_400)
    assert str(found.rule) == str(parse(rule))
