"""A desk with cases under one clock: a queue, a slow study of each case, and an answer that opens the file again."""

from collections.abc import Sequence

from lawtrace.environments import spec as s
from lawtrace.environments.spec.state import State
from lawtrace.schemas.events import Event, SaidByUser
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import PlannedCall

KIND = s.Choice(("plain", "urgent"))
CASES = s.table("cases", "case", case_id=s.TEXT, kind=KIND)
NOTES = s.table("notes", "note", prefix="N-", note_id=s.TEXT, case_id=s.TEXT, written=s.MOMENT)
CASE = s.key(CASES, "The case.")
UNKNOWN = s.Raises(s.INVALID_REQUEST, "There is no such case.", s.is_unknown(CASES, "case_id"))


def _tool(name: str, summary: str, *, minutes: int = 1) -> s.Tool:
    return s.Tool(
        name,
        summary,
        parameters=(CASE,),
        raises=(UNKNOWN,),
        results=(s.success_result("Always true."),),
        duration=60 * minutes,
        phrases=s.Phrases(f"{name} {{case_id}}"),
    )


def _queue(kind: str) -> s.RowsResult:
    return s.RowsResult(kind, f"The {kind} cases.", CASES, lambda case: case.kind == kind, ("case_id",))


TOOLS = (
    s.Tool(
        "ShowQueue",
        "Shows the cases.",
        results=(_queue("plain"), _queue("urgent")),
        duration=0,
        phrases=s.Phrases("Show the queue", noun_phrase="the queue"),
    ),
    s.Tool(
        "Study",
        "Studies a case, which takes half an hour, and writes a note.",
        parameters=(CASE,),
        raises=(UNKNOWN,),
        effects=(s.register(NOTES, "case_id", written=s.CURRENT_MOMENT),),
        results=(s.KeyResult("note_id", "The note.", NOTES),),
        duration=30 * 60,
        phrases=s.Phrases("Study {case_id}"),
    ),
    _tool("Consult", "Asks a colleague about a case.", minutes=10),
    _tool("Answer", "Answers a case."),
)
DESK = s.Environment(
    "case_desk",
    "Case desk",
    "CaseDesk",
    "Cases and their answers.",
    {entity.table: entity for entity in (CASES, NOTES)},
    {tool.name: tool for tool in TOOLS},
    populate=lambda _: s.State({"cases": (), "notes": ()}),
    clock=s.Clock(length=3 * 24 * 60 * 60),
)
STUDIED = Rule(id="studied", formula="forall c: G(Answer(case_id == c) -> O Study(case_id == c))")
PLAIN = Rule(id="plain", formula="forall c: G(ShowQueue(c in result.plain.case_id) -> F[<= 20h] Answer(case_id == c))")
URGENT = Rule(
    id="urgent", formula="forall c: G(ShowQueue(c in result.urgent.case_id) -> F[<= 150min] Answer(case_id == c))"
)
LIMIT = Rule(id="limit", formula="G(Consult -> count(Consult [<= 2h]) <= 2)")
RULES = (STUDIED, PLAIN, URGENT, LIMIT)


def cases(kinds: Sequence[str]) -> State:
    """A state with cases ``C-01``, ``C-02``, and so on, of these kinds."""
    rows = (s.Row({"case_id": f"C-{number:02}", "kind": kind}) for number, kind in enumerate(kinds, 1))
    return State({"cases": tuple(rows), "notes": ()})


def handling(case: str) -> tuple[PlannedCall, ...]:
    """The calls that handle a case."""
    said = {"case_id": SaidByUser()}
    tools = ("Study", "Consult", "Answer")
    return tuple(PlannedCall(Event(tool, {"case_id": case}), said) for tool in tools)


QUEUE = (PlannedCall(Event("ShowQueue", {}), {}),)
