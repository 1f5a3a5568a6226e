"""What is frozen: each case writes files into the working folder, by the command line and the public API only.

A case names no module inside the product, so it holds while modules move. What a command prints goes into
`printed.txt`.
"""

import contextlib
import dataclasses
import io
import json
import os
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal, cast

import lawtrace
from lawtrace.runs.cli import main
from tests.support.openai_server import Answer, OpenAIServer, calling, serving
from tests.support.playing import play, role_of
from tests.support.released import tasks_of

ROOT = Path(__file__).parents[2]
INPUTS = Path(__file__).parent / "inputs"
ENVIRONMENTS = ("banking", "telehealth", "smart_home", "payments", "clinic", "privacy_desk")
DENSE = ("payments", "clinic", "privacy_desk")
SETTINGS = {"COLUMNS": "120", "LINES": "50", "NO_COLOR": "1", "TERM": "dumb", "TZ": "UTC"}


@dataclasses.dataclass(frozen=True)
class Case:
    """One frozen piece of behaviour.

    Attributes:
        write: writes the files, in the working folder.
        slow: whether it takes more than about three seconds.
        whole: files of at most so many characters are kept whole.
    """

    name: str
    write: Callable[[], None]
    slow: bool = True
    whole: int = 1_200


CASES: dict[str, Case] = {}


def case(*, slow: bool = True, whole: int = 1_200) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Enters a function as the case of its name."""

    def enter(write: Callable[[], None]) -> Callable[[], None]:
        name = write.__name__.replace("_", "-")
        CASES[name] = Case(name, write, slow, whole)
        return write

    return enter


@contextlib.contextmanager
def settings(values: Mapping[str, str]) -> Generator[None]:
    """Environment variables for a block."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def command(*words: object, code: int = 0) -> None:
    """Run the command in this process; it has to exit with ``code``."""
    said, complained, arguments = io.StringIO(), io.StringIO(), sys.argv
    ended: object = 0
    sys.argv = ["lawtrace", *map(str, words)]
    try:
        with settings(SETTINGS), contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
            main()
    except SystemExit as end:
        ended = end.code or 0
    finally:
        sys.argv = arguments
    line = " ".join(word.removeprefix(f"{ROOT}/") for word in map(str, words))
    assert ended == code, f"lawtrace {line} exited with {ended}, not {code}:\n{complained.getvalue()}"
    with Path("printed.txt").open("a", encoding="utf-8") as printed:
        printed.write(f"$ lawtrace {line}\n{said.getvalue()}exit code {code}\n")


def run(*words: object, out: str = "run") -> None:
    command("run", *words, "--out", out, "--json")


def sets(*pairs: str) -> list[str]:
    """``--set`` before each pair."""
    return [word for pair in pairs for word in ("--set", pair)]


@contextlib.contextmanager
def endpoint(answer: Answer) -> Generator[OpenAIServer]:
    """A server for models named `openai:...`."""
    with serving(answer) as server, settings(server.environment):
        yield server


def given(name: str) -> str:
    """A copy of an input in the working folder."""
    Path(name).write_bytes((INPUTS / name).read_bytes())
    return name


def drop_times(run: str) -> None:
    """Remove what shows the seconds that an endpoint took."""
    for path in (*Path(run).glob("tables/usage.*"), Path(run, "report.html")):
        path.unlink()


def first_tasks(environment: str, count: int) -> Path:
    """The first tasks of the release, as a task file of their own."""
    path = Path(f"{environment}.tasks.jsonl")
    with tasks_of(environment).open(encoding="utf-8") as lines:
        path.write_text("".join(islice(lines, count + 1)), encoding="utf-8")
    return path


# Runs


@case(slow=False)
def banking() -> None:
    """The default recipe, small: roles offline."""
    run("--set", "tasks.count=1", "--set", "tasks.spare=1")


@case()
def pairs() -> None:
    """The pairs of the demo, with their recorded solver."""
    models = (word for one in ("replay:pairs-privacy#solver", "baseline:habit") for word in ("--model", one))
    goals = sets('attempts.styles=["goal"]')
    run("--tasks", ROOT / "docs/tasks/2.2", "--env", "privacy_desk", "--limit", "6", *models, *goals)


@case()
def telehealth() -> None:
    run("--env", "telehealth", *sets("tasks.count=2", "tasks.spare=2"))


@case()
def smart_home() -> None:
    run(ROOT / "recipes" / "smart_home.toml", *sets("tasks.count=2", "tasks.spare=2"), "--mode", "tools")


@case()
def dialogue() -> None:
    run("--mode", "dialogue", "--shield", "warn", *sets("tasks.count=2", "tasks.spare=2"))


@case()
def payments() -> None:
    """One contrast pair with all baselines."""
    run(ROOT / "recipes" / "payments.toml", *sets("tasks.count=2", "tasks.spare=0"))


@case()
def ablation() -> None:
    run(ROOT / "recipes" / "ablation.toml", *sets("tasks.count=1", "tasks.spare=1"))


def play_paper(request: Mapping[str, Any]) -> str:
    """Writing roles play well; models under test differ by name."""
    if role_of(request) != "executor":
        return play(request)
    if "BankManager" in str(request["messages"]) and "programs" in str(request["messages"]):
        return json.dumps({"programs": ["BankManager.CheckAuthorization()\n" * 2] * 2})
    programs = ("pass", "no such (", "Unknown.Tool()", "BankManager.CheckAuthorization()")
    return f"```python\n{programs[sum(str(request['model']).encode()) % len(programs)]}\n```"


@case()
def paper() -> None:
    """The recipe of the first paper in one scenario, against scripted models."""
    with endpoint(play_paper):
        run(
            ROOT / "recipes" / "papers" / "logisafety.toml",
            *("--concurrency", "1"),  # the table of usage is in the order of the first answers
            *sets(
                "tasks.count=1",
                "tasks.spare=2",
                "prompts.source=ours",
                "ablation.environment=['banking', 'smart_home']",
            ),
        )
    drop_times("run")


class Countdown:
    """Two calls, then the end; every answer is different."""

    def __init__(self) -> None:
        self._number = 0

    def __call__(self, request: Mapping[str, Any]) -> str | Mapping[str, Any]:
        self._number += 1
        said = sum(message["role"] == "assistant" for message in request["messages"])
        if said < 2:
            return calling(("CheckAuthorization", {}), saying=f"call {self._number}")
        return f"Done, {self._number}."


@case()
def replay() -> None:
    """A run against an endpoint, and the same run from its log."""
    small = ("--mode", "tools", "--trials", "2", "--concurrency", "1", "--no-baselines")
    small = (*small, *sets("tasks.count=1", "tasks.spare=1", "rules.formalizers=[]"))  # authors of rules talk at once
    with endpoint(Countdown()):
        run("--model", "openai:m", *small, out="live")
    run("--model", "replay:live", *small, out="replayed")
    drop_times("live")
    command("messages", "replayed", "--json")


@case()
def shards() -> None:
    """Two shards of a run, merged, with a report and a comparison."""
    small = ("--model", "baseline:literal", "--baselines", *sets("tasks.count=2", "tasks.spare=1"))
    for number in (1, 2):
        run(*small, "--shard", f"{number}/2", out=f"shards/{number}")
    command("merge", "shards/1", "shards/2", "--out", "merged", "--json")
    command("compare", "merged", "--model", "baseline:literal", "--against", "baseline:reference")


# The release


def _release_case(environment: str) -> None:
    def write() -> None:
        tasks = first_tasks(environment, 2)
        command("tasks", "check", tasks, "--out", "quality.jsonl", "--json")
        run("--tasks", tasks, "--baselines", "--model", "baseline:literal")
        command("grade", "--tasks", tasks, "--programs", "run/attempts.jsonl", "--out", "verdicts.jsonl", "--json")

    name = f"release-{environment}"
    CASES[name] = Case(name, write)


for _environment in ENVIRONMENTS:
    _release_case(_environment)


# Traces


@case(slow=False)
def traces() -> None:
    command("traces", "synthesize", "--env", "smart_home", "--count", 3, "--out", "traces.jsonl", "--json")
    command("ltlf", "dfa", "G(PayBill -> O CheckAuthorization(result.authorized))")
    command("rules", "check", "--env", "telehealth")


# Audits


@case(slow=False)
def audit_chats() -> None:
    """Chats without times, in two shards and whole, with every export that needs no extra."""
    words = (given("chats.jsonl"), "--env", "payments", "--label", "reward", "--complete")
    formats = ("--format", "html", "--format", "csv", "--format", "sarif", "--format", "oscal")
    command("audit", *words, *formats, "--out", "audit.jsonl", code=1)
    for number in (1, 2):
        command("audit", *words, "--shard", f"{number}/2", "--out", f"shards/{number}.jsonl")
    command("merge", "shards", "--out", "merged.jsonl", "--json", code=1)


@case(slow=False)
def audit_events() -> None:
    """Plain events with times, not complete."""
    command("audit", given("events.jsonl"), "--env", "payments", "--out", "audit.jsonl", "--json", code=1)


LOG = '@1 login(ada) pay("C-1", 5, 2.5);\n@3 logout(ada) login(bob);\n@4 pay("C-1", 9, 1)(C2, 1, 1);\n@9 tick();\n'
SIGNATURE = "pay(card:string, cents:int, rate:float)\nlogin(string)\nlogout(user:string)\ntick()\n"
FORMULAS = {
    "late": "login(u) AND NOT EVENTUALLY[0,1] logout(u)",
    "known": "ALWAYS (logout(u) IMPLIES ONCE login(u))",
    "sum": "(s <- SUM c; k (ONCE[0,5] pay(k, c, r))) AND s > 9",
}


@case(slow=False, whole=12_000)
def monpoly() -> None:
    for name, text in {
        **{f"{name}.mfotl": text for name, text in FORMULAS.items()},
        "s.sig": SIGNATURE,
        "log": LOG,
    }.items():
        Path(name).write_text(text, encoding="utf-8")
    of_signature = ("--signature", "s.sig", "--time-unit", "1h", "--out", "rules.jsonl", "--json")
    command("rules", "import", "mfotl", *(f"{name}.mfotl" for name in FORMULAS), *of_signature)
    of_log = ("--rules", "rules.jsonl", "--tools", "s.sig", "--time-unit", "1h", "--out", "audit.jsonl", "--json")
    command("audit", "log", *of_log, code=1)


# The guard


RULES = """
[[rules]]
id = "approved"
formula = "forall c: G(close(case == c) -> O approve(case == c, result.granted))"
rationale = "A case is approved before it is closed."

[[rules]]
id = "told-in-time"
formula = "forall c: G(open(case == c) -> F[<= 2h] tell(case == c))"
rationale = "Who asked is told within two hours."

[[rules]]
id = "no-word-after-closing"
formula = "forall c: G(close(case == c) -> G !tell(case == c))"
rationale = "A closed case is closed."

[[rules]]
id = "three-at-most"
formula = "G(count(open) <= 3)"
rationale = "Three cases a day."
"""
CALLS: Sequence[tuple[int, str, Mapping[str, Any], Any]] = (
    (0, "open", {"case": "A"}, {}),
    (60, "open", {"case": "B"}, {}),
    (120, "close", {"case": "A"}, {}),
    (180, "approve", {"case": "A"}, {"granted": False}),
    (240, "approve", {"case": "A"}, {"granted": True}),
    (300, "close", {"case": "A"}, {}),
    (360, "tell", {"case": "A"}, {}),
    (420, "close", {"case": "A"}, {}),
    (480, "tell", {"case": "A"}, {}),
    (540, "open", {"case": "C"}, {}),
    (600, "open", {"case": "D"}, {}),
    (8000, "tell", {"case": "B"}, {}),
    (8060, "close", {"case": "B"}, {}),
    (8120, "approve", {"case": "B"}, None),
    (8180, "close", {"case": "B"}, {}),
)
"""Seconds, tool, arguments, and the result; None: no answer comes."""


def _plain(value: Any) -> object:
    """What JSON has no form for: a dataclass by its fields, a mapping that is no dict, anything else as text."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return {**cast("Mapping[str, object]", value)} if isinstance(value, Mapping) else str(value)


def _session(guard: lawtrace.Guard, calls: Iterator[tuple[int, str, Mapping[str, Any], Any]], log: str) -> None:
    clock = [0]
    session = guard.open_session(clock=lambda: clock[0], log=lawtrace.GuardLog(f"{log}.log.jsonl", conversation=log))
    with Path(f"{log}.jsonl").open("w", encoding="utf-8") as out:

        def write(**row: Any) -> None:
            out.write(json.dumps(row, default=_plain) + "\n")

        for now, tool, arguments, result in calls:
            clock[0] = now
            call = lawtrace.Call(tool, arguments)
            decision = session.before(call)
            refused = isinstance(decision, lawtrace.Refuse)
            write(tool=tool, time=now, refused=refused, reason=decision.reason if refused else "", decision=decision)
            if not refused and result is None:
                session.unanswered(call)
            elif not refused:
                session.after(call, result)
        write(duties=session.finish(), lost=session.lost)


def _approvals(mode: Literal["refuse", "warn"]) -> None:
    Path("rules.toml").write_text(RULES, encoding="utf-8")
    guard = lawtrace.Guard(lawtrace.load_rules("rules.toml"), ["open", "approve", "close", "tell"], mode=mode)
    _session(guard, iter(CALLS), "session")


@case(slow=False, whole=12_000)
def guard() -> None:
    """Decisions and advice on a fixed sequence of calls, with times and several objects."""
    _approvals("refuse")


@case(whole=12_000)
def guard_warn() -> None:
    _approvals("warn")


@case()
def guard_payments() -> None:
    """The rules of the payments desk in front of the calls of recorded sessions."""
    desk = lawtrace.load_environment("payments")
    rules = lawtrace.load_rules(desk.rules_file, desk)
    recorded = [json.loads(line) for line in (INPUTS / "events.jsonl").read_text(encoding="utf-8").splitlines()]
    whole = lawtrace.Guard(rules, desk)
    for number, name in enumerate(dict.fromkeys(row["conversation"] for row in recorded), 1):
        rows = [row for row in recorded if row["conversation"] == name]
        calls = ((row["time"], row["tool"], row["arguments"], row.get("result", {})) for row in rows)
        _session(whole, calls, f"session-{number}")


# The legal benchmark


@case(slow=False)
def legal() -> None:
    words = sets("retrievers=['bm25', 'released_bm25']", "depths=[1, 2]", "contexts=['F', 'F+LR+AR']")
    command("legal", "run", "--cases", given("cases.jsonl"), *words, "--out", "run", "--json")
