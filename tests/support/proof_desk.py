"""A desk at which things happen without a call: proofs of identity arrive, requests are withdrawn, letters are sent."""

from random import Random

from lawtrace.environments import spec as s
from lawtrace.environments.spec.clock import DEFAULT_START, seconds_at

KIND = s.Choice(("access", "erasure"))
CASES = s.table(
    "cases", "case", case_id=s.TEXT, person=s.TEXT, kind=KIND, received=s.MOMENT, proven=s.BOOLEAN, withdrawn=s.BOOLEAN
)
PROOFS = s.table("proofs", "proof", prefix="P-", proof_id=s.TEXT, case_id=s.TEXT, at=s.MOMENT)
WITHDRAWALS = s.table("withdrawals", "withdrawal", prefix="W-", withdrawal_id=s.TEXT, case_id=s.TEXT, at=s.MOMENT)
LETTERS = s.table("letters", "letter", prefix="L-", letter_id=s.TEXT, case_id=s.TEXT, at=s.MOMENT)
SENT = s.table("sent", "sent letter", prefix="S-", sent_id=s.TEXT, case_id=s.TEXT)
CASE = s.key(CASES, "The case.")
UNKNOWN = s.unknown(CASES)

AGENDA = (
    s.Happening("A proof of identity arrives, and is filed.", PROOFS, "at", (s.change(CASES, proven=True),)),
    s.Happening(
        "A request is withdrawn, and letters that are scheduled for it are cancelled.",
        WITHDRAWALS,
        "at",
        (s.change(CASES, withdrawn=True, proven=False), s.Delete(LETTERS, s.is_named(LETTERS, "case_id"))),
    ),
    s.Happening("A scheduled letter is sent.", LETTERS, "at", (s.register(SENT, "case_id"),)),
)
TOOLS = (
    s.queue("ShowCases", CASES, "person", "kind", "received", summary="Shows the cases."),
    s.lookup("FindCase", CASES, "person", "kind", summary="Finds a case.", step="Find the case of {person}"),
    s.Tool(
        "ReadCase",
        "Shows whether the identity is proven, and whether the request is withdrawn.",
        parameters=(CASE,),
        raises=(UNKNOWN,),
        results=(
            s.show(CASES, "proven", "Whether it is.", otherwise=False),
            s.show(CASES, "withdrawn", "Whether it is.", otherwise=False),
        ),
        phrases=s.Phrases("Read {case_id}"),
    ),
    s.Tool(
        "Study",
        "Studies a case.",
        parameters=(CASE,),
        raises=(UNKNOWN,),
        results=(s.show(CASES, "proven", "Whether it is, when the study begins.", otherwise=False),),
        duration=30 * 60,
        phrases=s.Phrases("Study {case_id}"),
    ),
    s.Tool(
        "AskForProof",
        "Asks for a proof of identity, which arrives an hour later.",
        parameters=(CASE,),
        raises=(UNKNOWN,),
        effects=(s.register(PROOFS, "case_id", at=s.CURRENT_MOMENT + 60),),
        results=(s.success_result("Always true."),),
        compliance=True,
        leak_words=("proof",),
    ),
    s.Tool(
        "SendLetter",
        "Sends a letter.",
        parameters=(CASE,),
        raises=(UNKNOWN, s.Raises("NoProofException", "The identity is not proven.", s.has(CASES, proven=False))),
        effects=(s.register(SENT, "case_id"),),
        results=(s.KeyResult("sent_id", "The letter.", SENT),),
        phrases=s.Phrases("Send a letter about {case_id}", "A letter about {case_id} was sent"),
    ),
    s.Tool(
        "ScheduleLetter",
        "Schedules a letter for a time of this day.",
        parameters=(
            CASE,
            s.Parameter("hour", s.INTEGER, "The hour.", s.FromUser(s.OneOf((10, 12, 20))), malformed=None),
        ),
        raises=(UNKNOWN,),
        effects=(s.register(LETTERS, "case_id", at=s.TODAY * s.MINUTES_PER_DAY + s.argument("hour") * 60),),
        results=(s.KeyResult("letter_id", "The scheduled letter.", LETTERS),),
        phrases=s.Phrases("Schedule a letter about {case_id} for {hour}", "A letter about {case_id} is due at {hour}"),
    ),
    s.Tool(
        "CancelLetters",
        "Cancels the scheduled letters of a case.",
        parameters=(CASE,),
        raises=(UNKNOWN,),
        effects=(s.Delete(LETTERS, s.is_named(LETTERS, "case_id")),),
        results=(s.success_result("Always true."),),
        phrases=s.Phrases("Cancel the letters about {case_id}", "No letter about {case_id} is scheduled"),
    ),
)
PEOPLE = ("Ada Berg", "Bo Cruz", "Cy Dahl")
OPENING = s.MOMENT.decode("2026-03-02 09:00")
"""The start of a session. It lasts eight hours."""
START = seconds_at(OPENING)
assert START == DEFAULT_START


def desk_state(**planned: list[tuple[str, int]]) -> s.State:
    """A state with the cases ``C-1``, ``C-2`` and ``C-3``. ``planned``: by table cases with minutes after the start."""
    cases = [
        s.Row(
            {
                "case_id": f"C-{number}",
                "person": person,
                "kind": "access",
                "received": OPENING - 100 + number,
                "proven": False,
                "withdrawn": False,
            }
        )
        for number, person in enumerate(PEOPLE, 1)
    ]
    tables: dict[str, tuple[s.Row, ...]] = {"cases": tuple(cases), "sent": ()}
    for happening in AGENDA:
        entity, rows = happening.entity, list[s.Row]()
        for case, minutes in planned.get(entity.table, []):
            key = entity.generated_key(tuple(rows))
            rows.append(s.Row({entity.key: key, "case_id": case, "at": OPENING + minutes}))
        tables[entity.table] = tuple(rows)
    return s.State(tables)


def populate(random: Random) -> s.State:
    """A state in which some proofs arrive, and some requests are withdrawn, within the session."""
    cases = [f"C-{number}" for number in range(1, len(PEOPLE) + 1)]
    drawn = {table: random.sample(cases, random.randint(0, 2)) for table in ("proofs", "withdrawals")}
    return desk_state(**{table: [(case, random.randint(-1, 90)) for case in chosen] for table, chosen in drawn.items()})


PROOF_DESK = s.Environment(
    "proof_desk",
    "Proof desk",
    "Desk",
    "Requests of people whose identity must be proven.",
    s.tables_of({name: value for name, value in globals().items() if name.isupper()}),
    {tool.name: tool for tool in TOOLS},
    populate=populate,
    agenda=AGENDA,
)
