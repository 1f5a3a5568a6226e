"""MonPoly logs: what is read, what is refused, and the verdicts on them."""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lawtrace.runs.audit.monpoly.log_audit import LogAuditor, prepare_rules
from lawtrace.runs.audit.monpoly.logs import LogStep, is_monpoly_log, parse_monpoly_log
from lawtrace.runs.audit.monpoly.mfotl import import_mfotl
from lawtrace.runs.audit.monpoly.mfotl_signature import LogSignature, parse_signature
from lawtrace.schemas.audit_rows import AuditRow
from lawtrace.schemas.errors import FormulaError, InputError
from lawtrace.solver.rules import Rule
from tests.support.published import DATA, published_text
from tests.support.shell import Shell

SIGNATURE_TEXT = "pay(card:string, cents:int, rate:float)\nlogin(string)\nlogout(user:string)\ntick()\n"
SIGNATURE = parse_signature(SIGNATURE_TEXT)

LOG = """# two users
@10 login("ada") tick();
7|@10 login(bob)("eve, \\"the\\" (third)")
@12
     pay ( "C-1" , 5,
        2.5 ) login("ada")
@13 ; @20 tick() tick()
> pause <
@21
"""


def steps_of(text: str, time_unit: int = 1) -> list[LogStep]:
    return list(parse_monpoly_log(text.splitlines(keepends=True), SIGNATURE, time_unit=time_unit))


def test_all_forms_of_a_log_are_read() -> None:
    steps = steps_of(LOG)
    assert [(step.line, step.time) for step in steps] == [(2, 10), (3, 10), (4, 12), (7, 13), (7, 20), (9, 21)]
    assert [[(event.tool, dict(event.arguments)) for event in step.events] for step in steps] == [
        [("login", {"x1": "ada"}), ("tick", {})],
        [("login", {"x1": "bob"}), ("login", {"x1": 'eve, "the" (third)'})],
        [("pay", {"card": "C-1", "cents": 5, "rate": 2.5}), ("login", {"x1": "ada"})],
        [],
        [("tick", {}), ("tick", {})],
        [],
    ]
    assert all(event.time == step.time for step in steps for event in step.events)


def test_the_unit_multiplies_timestamps() -> None:
    assert [step.time for step in steps_of("@1 tick();\n@2 tick();", 86_400)] == [86_400, 172_800]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@5 tick();\n@4 tick();", "log, line 2: the timestamp 4 is before the last one, 5"),
        ("tick();", "log, line 1: `tick()` stands before any timestamp"),
        ("@5 tock();", "log, line 1: the signature has no predicate `tock`"),
        ('@5 login("a", "b");', 'log, line 1: `("a", "b")` is not a list of 1 value(s), as `login` takes'),
        ("@5 tick();\n\n@6 pay(C, many, 1);", "log, line 3: the argument `cents` of `pay` is a whole number"),
        ("@5 pay(C, 1, nan);", "the argument `rate` of `pay` is a number in the signature, not `nan`"),
        ("@1.5 tick();", "the timestamp `1.5` is not a whole number"),
        ("@1 tick() ??;", "log, line 1: `??;` is neither an event nor a timestamp"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        steps_of(text)
    assert message in str(caught.value)


def test_the_format_is_recognised_by_its_content(tmp_path: Path) -> None:
    for text, expected in ((LOG, True), ("12|@3 p()", True), ('{"conversation": "1"}', False), ("", False)):
        path = tmp_path / "log"
        path.write_text(text, encoding="utf-8")
        assert is_monpoly_log(path) is expected
    assert not is_monpoly_log(tmp_path / "none")


def verdicts(
    formulas: dict[str, str],
    log: str,
    signature: LogSignature = SIGNATURE,
    time_unit: int = 1,
    *,
    complete: bool = False,
) -> AuditRow:
    rules = [
        Rule(id=name, formula=str(import_mfotl(text, signature, time_unit=time_unit).rule))
        for name, text in formulas.items()
    ]

    def read() -> Iterator[LogStep]:
        return parse_monpoly_log(log.splitlines(keepends=True), signature, time_unit=time_unit)

    return LogAuditor(signature, rules, time_unit=time_unit, complete=complete).judge("log", "log", read)


def outcomes(row: AuditRow) -> dict[str, tuple[str, int, int]]:
    """By rule: verdict, number of violations, number of open ones."""
    assert row.log is not None
    verdicts = {
        rule.rule: "undetermined" if rule.undetermined else "kept" if rule.kept else "broken" for rule in row.rules
    }
    return {rule: (verdict, row.log.violations[rule], row.log.open[rule]) for rule, verdict in verdicts.items()}


def test_open_deadlines_at_the_end_are_undetermined() -> None:
    log = "@1 login(a);\n@3 logout(a) login(b);\n@5 tick();"
    formulas = {
        "in-time": "login(u) AND NOT EVENTUALLY[0,10] logout(u)",
        "late": "login(u) AND NOT EVENTUALLY[0,1] logout(u)",
        "some-day": "login(u) IMPLIES EVENTUALLY logout(u)",
        "no-third": "logout(u) AND NOT ONCE login(u)",
    }
    audit = verdicts(formulas, log)
    assert audit.log is not None
    assert (audit.outcome, audit.log.time_points, audit.log.events) == ("unlawful", 3, 4)
    assert outcomes(audit) == {
        "in-time": ("undetermined", 0, 1),
        "late": ("broken", 2, 0),
        "some-day": ("undetermined", 0, 1),
        "no-third": ("kept", 0, 0),
    }
    first = {rule.rule: [(one.step, one.time, one.values) for one in rule.violations] for rule in audit.rules}
    assert first["late"] == [(0, 1, {"u": "a"}), (1, 3, {"u": "b"})]
    assert first["in-time"] == [(1, 3, {"u": "b"})]

    # The row has the events that the violations name, each with its time point.
    assert [(event.tool, event.message) for event in audit.events] == [("login", "0"), ("logout", "1"), ("login", "1")]
    late = audit.rules[1]
    assert (late.call, late.at) == ("t0", 0)
    assert late.explanation.startswith('@1 (1 s): for u = "a": time point 0 is login')
    assert late.explanation.endswith("; 1 more")

    ended = verdicts(formulas, log, complete=True)
    assert [*outcomes(ended).values()] == [("broken", 1, 0), ("broken", 2, 0), ("broken", 1, 0), ("kept", 0, 0)]


def test_events_of_one_time_point_happen_together() -> None:
    """ONCE and EVENTUALLY include the time point itself, in any order; time points of one timestamp stay apart."""
    formulas = {"before": "logout(u) AND NOT ONCE login(u)", "strictly": "logout(u) AND NOT PREV[0,0] login(u)"}
    together = verdicts(formulas, "@1 logout(a) login(a);")
    apart = verdicts(formulas, "@1 login(a);\n@1 logout(a);")
    assert [rule.kept for rule in together.rules] == [True, False]
    assert [rule.kept for rule in apart.rules] == [True, True]


def test_rules_have_to_fit_the_signature() -> None:
    for formula, message in (
        ("G !logon", "unknown tool `logon`"),
        ("forall u: G(login(x1 == u) -> F !logout(user == u) & H tick(a == u))", "no argument `a`"),
    ):
        with pytest.raises(FormulaError, match=message):
            prepare_rules([Rule(id="r", formula=formula)], SIGNATURE)


def test_import_and_audit_by_command(lawtrace: Shell, tmp_path: Path) -> None:
    (tmp_path / "late.mfotl").write_text("login(u) AND NOT EVENTUALLY[0,1] logout(u)", encoding="utf-8")
    (tmp_path / "known.mfotl").write_text("ALWAYS (logout(u) IMPLIES ONCE login(u))", encoding="utf-8")
    (tmp_path / "log").write_text("@1 login(ada);\n@4 tick();", encoding="utf-8")
    (tmp_path / "log.sig").write_text(SIGNATURE_TEXT, encoding="utf-8")
    files = (tmp_path / "late.mfotl", tmp_path / "known.mfotl")
    options = ("--signature", tmp_path / "log.sig", "--time-unit", "1h", "--out", tmp_path / "rules.jsonl")
    code, out, err = lawtrace("rules", "import", "mfotl", *files, *options, "--json")
    assert code == 0, err
    assert json.loads(out.splitlines()[-1])["readings"] == {"late": "violations", "known": "policy"}

    options = ("--rules", tmp_path / "rules.jsonl", "--time-unit", "1h", "--out", tmp_path / "audit.jsonl")
    words = ("audit", tmp_path / "log", "--tools", tmp_path / "log.sig", *options)
    code, out, err = lawtrace(*words, "--json")
    assert code == 1, err
    assert 'late (time point 0): @1 (3600 s): for u = "ada": time point 0 is login' in " ".join(err.split())
    result: dict[str, Any] = json.loads(out.splitlines()[-1])
    assert (result["conversations"], result["calls"], result["outcomes"]) == (1, 2, {"unlawful": 1})
    assert [rule["broken"] for rule in result["rules"].values()] == [1, 0]
    (row,) = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text(encoding="utf-8").splitlines()]
    assert row["log"] == {
        "time_points": 2,
        "events": 2,
        "violations": {"late": 1, "known": 0},
        "open": {"late": 0, "known": 0},
    }
    (first,) = row["rules"][0]["violations"]
    assert (first["step"], first["time"], first["values"], first["certain"]) == (0, 3600, {"u": "ada"}, 1)
    assert [(found["role"], found["steps"]) for found in first["evidence"]] == [("occasion", [0]), ("missing", [])]
    assert (first["evidence"][1]["start"], first["evidence"][1]["end"]) == (3600, 7200)


def test_logs_are_divided_and_one_that_cannot_be_read_is_invalid(lawtrace: Shell, tmp_path: Path) -> None:
    (tmp_path / "log.sig").write_text(SIGNATURE_TEXT, encoding="utf-8")
    (tmp_path / "rules.toml").write_text("[[rules]]\nid = 'r'\nformula = 'G(login -> O tick)'\n", encoding="utf-8")
    (tmp_path / "logs").mkdir()
    for number, text in enumerate(("@1 tick() login(a);", "@1 login(a);", "@2 tick();\n@1 tick();")):
        (tmp_path / "logs" / f"{number}.log").write_text(text, encoding="utf-8")
    words = ("audit", "logs", "--tools", "log.sig", "--rules", "rules.toml")
    _, out, err = lawtrace(*words, "--out", "whole.jsonl", "--json")
    assert json.loads(out.splitlines()[-1])["outcomes"] == {"lawful": 1, "unlawful": 1, "invalid": 1}
    assert "line 2: the timestamp 1 is before the last one, 2" in err
    for number in (1, 2):
        lawtrace.json(*words, "--shard", f"{number}/2", "--out", f"shards/{number}.jsonl")
    lawtrace("merge", "shards", "--out", "merged.jsonl")
    assert Path("merged.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()
    code, _, err = lawtrace("audit", "logs/2.log", *words[2:], "--out", "other.jsonl")
    assert (code, "line 2: the timestamp 1 is before" in err) == (2, True)


# The published GDPR log, against a direct computation


@pytest.mark.shared
def test_the_gdpr_log_has_the_violations_that_a_direct_computation_finds() -> None:
    signature = parse_signature(published_text("temporal/gdpr_signature.sig"))
    names = ("gdpr_consent", "gdpr_deletion", "gdpr_lawfulness")
    formulas = {name: published_text(f"temporal/{name}.mfotl") for name in names}
    audit = verdicts(formulas, (DATA / "temporal" / "gdpr.log").read_text(encoding="utf-8"), signature, 86_400)
    by_hand = _gdpr_by_hand(published_text("temporal/gdpr.log"))
    assert audit.log is not None
    assert audit.log.violations == {name: len(found) for name, found in by_hand.items()}
    for rule in audit.rules:
        listed = [(one.step, (one.time or 0) // 86_400, tuple(one.values.values())) for one in rule.violations]
        assert listed == sorted(by_hand[rule.rule])[: len(listed)]
    assert all(rule.broken for rule in audit.rules)


def _gdpr_by_hand(log: str) -> dict[str, list[tuple[int, int, tuple[str, ...]]]]:
    """The violations of the three GDPR formulas: time point, day and values. Reads the log by splitting at quotes."""
    steps: list[tuple[int, list[tuple[str, tuple[str, ...]]]]] = []
    for line in log.splitlines():
        stamp, _, rest = line.partition("@")[2].partition(" ")
        pieces = rest.rstrip(";").split(")")[:-1]
        calls = [piece.strip().partition("(") for piece in pieces]
        steps.append((int(stamp), [(name, tuple(values.split('"')[1::2])) for name, _, values in calls]))
    consented = set[tuple[str, ...]]()
    ever, granted = set[tuple[str, ...]](), set[tuple[str, ...]]()
    deleted = defaultdict[tuple[str, ...], list[tuple[int, int]]](list)
    for position, (day, calls) in enumerate(steps):
        for name, values in calls:
            if name == "delete":
                deleted[values].append((position, day))
    found = {
        name: list[tuple[int, int, tuple[str, ...]]]() for name in ("gdpr_consent", "gdpr_deletion", "gdpr_lawfulness")
    }
    last = steps[-1][0]
    for position, (day, calls) in enumerate(steps):
        consented -= {values for name, values in calls if name == "ds_revoke"}
        new = {values for name, values in calls if name == "ds_consent"}
        granted |= {values for name, values in calls if name == "legal_grounds"}
        consented, ever = consented | new, ever | new
        for name, values in dict.fromkeys(calls):
            if name == "use":
                pair = (values[2], values[0])
                if pair not in granted | consented:
                    found["gdpr_consent"].append((position, day, values))
                if pair not in granted | ever:
                    found["gdpr_lawfulness"].append((position, day, values))
            late = not any(at >= position and other <= day + 30 for at, other in deleted[values])
            if name == "ds_deletion_request" and late and last > day + 30:
                found["gdpr_deletion"].append((position, day, values))
    return found
