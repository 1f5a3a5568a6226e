"""Initial states: five members of a chain of fitness clubs, a case of each matter and two of passing on,
partners and incidents; for dockets ten members and as many cases as are asked for.

A person's full name is unique, and no person has two records of one kind, so name and kind find exactly one case. Every
field that the law turns on is drawn on its own, as far as the values can go together. All names are invented.
"""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from lawtrace.environments import spec as s

from .entities import CONTACT_KIND, DETAIL, ENTITIES, ESTABLISHMENTS, MATTER, RIGHTS

PERSON_NAMES = (
    "Orla Brandt",
    "Ida Holm",
    "Mateo Rivas",
    "Lena Brandt",
    "Tomasz Wilk",
    "Aisha Karim",
    "Jonas Holm",
    "Clara Dubois",
    "Rui Tavares",
    "Nele Vos",
)
PARTNER_NAMES = (
    "Larch Print Shop",
    "Tidewater Mailing",
    "Nordlys Insurance",
    "Copperfield Analytics",
    "Brook Hosting",
    "Heron Catering",
    "Sundial Travel",
)
INCIDENTS = (
    ("membership database", "copied by an intruder over the weekend"),
    ("booking app", "showed members the bookings of others for two days"),
    ("newsletter tool", "its list of addresses was copied and wiped by an intruder"),
    ("door system", "its log of visits was overwritten by an intruder"),
    ("camera system", "recordings were copied and deleted over the internet"),
    ("course list", "locked by ransomware"),
)
COUNTRIES = {
    "member state": ("Austria", "Estonia", "Spain"),
    "adequacy decision": ("Japan", "New Zealand", "Switzerland"),
    "standard clauses": ("Brazil", "India", "South Africa"),
    "nothing": ("Brazil", "India", "South Africa"),
}
CLUBS = ("Harbourside", "Larchfield", "Meadowgate")
FIRST_DAYS = tuple(dt.date(2026, month, 22).toordinal() for month in (3, 5, 7, 8))
"""One month after a day of these months is 31 days later, and three are 92, so rules can count days."""


@dataclass(frozen=True, slots=True)
class DataKind:
    """A kind of data that the clubs hold, with an entry and what the person may say it should be."""

    name: str
    entry: str
    claimed: str
    basis: str
    marketing: bool = False
    health: bool = False
    required: bool = False


CONSENT, CONTRACT, INTERESTS = "consent", "contract", "legitimate interests"
DATA_KINDS = (
    DataKind("newsletter profile", "likes swimming", "likes rowing", CONSENT, marketing=True),
    DataKind("offers profile", "buys protein bars", "buys no protein bars", INTERESTS, marketing=True),
    DataKind("health questionnaire", "no known allergies", "allergic to latex", CONSENT, health=True),
    DataKind("course photos", "taken at the summer course", "taken at the winter course", CONSENT),
    DataKind("membership file", "joined on 3 May 2023", "joined on 13 May 2024", CONTRACT),
    DataKind("training plan", "two sessions a week", "three sessions a week", CONTRACT),
    DataKind("visit statistics", "41 visits last year", "14 visits last year", INTERESTS),
    DataKind("complaint file", "complained about the pool", "complained about the sauna", INTERESTS),
    DataKind("invoices", "Larchfield Lane 6", "Larchfield Lane 8", "legal obligation", required=True),
)
OPPOSED = tuple(kind for kind in DATA_KINDS if kind.basis == INTERESTS or kind.marketing)
"""What the law lets a person object to."""
IDENTIFYING = tuple(right for right in RIGHTS if right not in ("restriction", "objection"))
"""Wishes to restrict data, or to end their use, come through the member page."""
CHARACTERS = {
    "access": ("ordinary", "ordinary", "further copy", "repetitive"),
    "billing": ("ordinary", "further copy", "repetitive", "unfounded"),
}
USES = ("same purpose",) * 4 + ("compatible purpose",) * 3 + ("incompatible purpose",)
KEPT_FOR = {"erasure": ("nothing else", "nothing else", "legal claim")}
ACCURACIES = {
    "rectification": ("correct", "incorrect", "incorrect", "incomplete"),
    "restriction": ("unchecked",),
    "use again": ("correct", "incorrect"),
}

WAITED = {"access": 21, "portability": 21, "rectification": 13, "erasure": 7, "restriction": 21, "objection": 21}
"""How many days ago cases of dockets came in, of each kind fewer than this."""


def populate(random: Random) -> s.State:
    """A desk on some day of the year."""
    today = random.choice(FIRST_DAYS) + random.randrange(7)
    now = today * s.MINUTES_PER_DAY + random.randrange(8 * 60, 16 * 60)
    people = _people(random, 5)
    held = [(person, kind) for person in people for kind in random.sample(DATA_KINDS, 2)]
    matters = random.sample((*MATTER.options, "passing on"), len(held))
    objection = matters.index("objection")
    if held[objection][1] not in OPPOSED:
        beside = held[objection ^ 1][1]
        held[objection] = (held[objection][0], random.choice([kind for kind in OPPOSED if kind != beside]))
    came_in = list(zip(held, matters, strict=True))
    random.shuffle(came_in)
    held, matters = [of for of, _ in came_in], [matter for _, matter in came_in]
    numbers = random.sample(range(1_000, 10_000), len(held))
    days = sorted(today - random.randrange(21) for _ in held)
    return _desk(random, now, people, [*zip(held, matters, numbers, days, strict=True)])


def populate_docket(random: Random, size: int) -> s.State:
    """A desk with so many cases, at most 30, all of them requests of persons.

    Most can be met. Many come from an address that is not on file, but no more than can be asked for proof in time.
    """
    today = random.choice(FIRST_DAYS) + random.randrange(7)
    now = today * s.MINUTES_PER_DAY + random.randrange(8 * 60, 16 * 60)
    people = _people(random, len(PERSON_NAMES))
    held = [(person, kind) for person in people for kind in random.sample(DATA_KINDS, 3)]
    chosen = random.sample(held, min(size, len(held)))
    likely = (*IDENTIFYING, *RIGHTS)
    matters = [random.choice([of for of in likely if of != "objection" or kind in OPPOSED]) for _, kind in chosen]
    days = [today - random.randrange(WAITED[matter]) for matter in matters]
    numbers = random.sample(range(1_000, 10_000), len(chosen))
    state = _desk(random, now, people, sorted(zip(chosen, matters, numbers, days, strict=True), key=lambda of: of[-1]))
    senders = ("not on file",) * 20 + ("on file",) * max(2, 2 * size - 24)
    changed: Mapping[str, Callable[[Mapping[str, s.Value]], Mapping[str, s.Value]]] = {
        "messages": lambda row: {
            "proof": "sufficient",
            "sender": row["sender"] if row["sender"] == "signed in" else random.choice(senders),
        },
        "records": lambda row: {
            "accuracy": "incorrect" if row["accuracy"] == "correct" and random.random() < 0.8 else row["accuracy"],
            "kept_for": "nothing else" if row["kept_for"] == "legal claim" else row["kept_for"],
        },
        "holdings": lambda _: {"effort": "little"},
    }
    for table, change in changed.items():
        state = state.with_table(table, tuple(s.Row({**row.values, **change(row.values)}) for row in state.rows(table)))
    doubted = [row.values["case_id"] for row in state.rows("messages") if row.values["sender"] == "not on file"]
    proofs = [row for row in state.rows("proofs") if row.values["case_id"] in doubted]
    return state.with_table("proofs", tuple(proofs[:2])).with_table("withdrawals", ())


def _desk(
    random: Random, now: int, people: tuple[s.Row, ...], came_in: Sequence[tuple[tuple[s.Row, DataKind], str, int, int]]
) -> s.State:
    """A desk with these cases: whose data of what kind, the matter, the number, and the day."""
    held = [of for of, *_ in came_in]
    cases = tuple(_case(f"K-{number}", person, kind, matter, day) for (person, kind), matter, number, day in came_in)
    partners = _partners(random)
    claims = {kind.name: kind.claimed for kind in DATA_KINDS}
    messages = tuple(_message(random, case, claims, partners) for case in cases)
    consents = tuple(_consent(random, case, *of) for case, of in zip(cases, held, strict=True))
    return s.State(
        {
            **dict.fromkeys(ENTITIES, ()),
            "people": people,
            "contacts": _contacts(random, people),
            "cases": cases,
            "messages": messages,
            "records": tuple(_record(random, case, kind) for case, (_, kind) in zip(cases, held, strict=True)),
            "uses": tuple(_use(random, case) for case in cases),
            "holdings": tuple(_holding(random, case) for case in cases),
            "consents": consents,
            "withdrawals": _arriving(random, "W", now, [row for row in consents if "given" in row.values["consent"]]),
            "proofs": _arriving(random, "A", now, [row for row in messages if _can_prove(row)]),
            "partners": partners,
            "disclosures": _disclosures(random, cases, partners),
            "incidents": _incidents(random),
            "desk": (s.Row({"desk_id": "current", "now": now, "today": now // s.MINUTES_PER_DAY}),),
        }
    )


def _people(random: Random, number: int) -> tuple[s.Row, ...]:
    keys, names = random.sample(range(1_000, 10_000), number), random.sample(PERSON_NAMES, number)
    return tuple(
        s.Row({"person_id": f"M-{key}", "name": name, "age": _age(random), "consent_age": random.choice((13, 15, 16))})
        for key, name in zip(keys, names, strict=True)
    )


def _age(random: Random) -> int:
    return random.choice((random.randint(9, 15), random.randint(16, 17), random.randint(18, 78)))


def _case(key: str, person: s.Row, kind: DataKind, matter: str, received: int) -> s.Row:
    return s.Row(
        {
            "case_id": key,
            "person_id": person.values["person_id"],
            "person_name": person.values["name"],
            "data": kind.name,
            "matter": matter,
            "received": received,
            "status": "open",
        }
    )


def _message(random: Random, case: s.Row, claims: Mapping[str, str], partners: Sequence[s.Row]) -> s.Row:
    matter = str(case.values["matter"])
    return s.Row(
        {
            "case_id": case.values["case_id"],
            "sender": random.choice(("on file", "not on file")) if matter in IDENTIFYING else "signed in",
            "proof": random.choice(("sufficient", "sufficient", "insufficient")),
            "write_by": random.choice(CONTACT_KIND.options),
            "character": random.choice(CHARACTERS.get(matter, ("ordinary", "ordinary", "repetitive"))),
            "comparable": random.choice(DETAIL.options),
            "correction": claims[str(case.values["data"])] if matter == "rectification" else "",
            "partner": random.choice(partners).values["name"] if matter == "passing on" else "",
            "fee": random.randrange(8_00, 25_00, 50) if matter == "billing" else 0,
        }
    )


def _can_prove(message: s.Row) -> bool:
    """Whether the person can remove a doubt about who wrote it."""
    return message.values["sender"] == "not on file" and message.values["proof"] == "sufficient"


def _arriving(random: Random, prefix: str, now: int, rows: Sequence[s.Row]) -> tuple[s.Row, ...]:
    """What arrives in the next weeks, for some of the cases of these rows."""
    chosen = [row for row in rows if random.random() < 1 / 3]
    key = {"W": "withdrawal_id", "A": "proof_id"}[prefix]
    return tuple(
        s.Row(
            {
                key: f"{prefix}-{number}",
                "case_id": row.values["case_id"],
                "arrives": now + random.randrange(2 * s.MINUTES_PER_DAY, 25 * s.MINUTES_PER_DAY),
            }
        )
        for number, row in enumerate(chosen, 1)
    )


def _use(random: Random, case: s.Row) -> s.Row:
    matter = case.values["matter"]
    is_restricted = matter == "use again" or (matter == "passing on" and random.random() < 1 / 6)
    return s.Row({"case_id": case.values["case_id"], "status": "restricted" if is_restricted else "in use"})


def _holding(random: Random, case: s.Row) -> s.Row:
    is_copied = case.values["matter"] in ("access", "portability")
    effort = random.choice(("little", "little", "complex", "many requests")) if is_copied else "little"
    return s.Row({"case_id": case.values["case_id"], "effort": effort})


def _consent(random: Random, case: s.Row, person: s.Row, kind: DataKind) -> s.Row:
    is_child = person.values["age"] < person.values["consent_age"]
    consents = ("given", "expressly given", "expressly given", "withdrawn") if kind.basis == CONSENT else ("none",)
    consent, is_passed_on = random.choice(consents), case.values["matter"] == "passing on"
    return s.Row(
        {
            "case_id": case.values["case_id"],
            "consent": consent if is_passed_on or kind.basis != CONSENT else "expressly given",
            "consent_by": random.choice(("a parent", "a parent", "the person")) if is_child else "the person",
        }
    )


def _record(random: Random, case: s.Row, kind: DataKind) -> s.Row:
    """The record of a case, with the fields that decide what the law asks."""
    matter = str(case.values["matter"])
    is_copied, on_consent = matter in ("access", "portability"), kind.basis == CONSENT
    return s.Row(
        {
            "record_id": f"R-{case.values['case_id'][2:]}",
            "case_id": case.values["case_id"],
            "entry": kind.entry,
            "claimed": kind.claimed,
            "category": "health" if kind.health else "ordinary",
            "purpose": "direct marketing" if kind.marketing else "running the clubs",
            "kept_for": "legal obligation" if kind.required else random.choice(KEPT_FOR.get(matter, ("nothing else",))),
            "grounds": random.choice(("compelling", "not compelling")),
            "held": random.choice(("electronic", "electronic", "on paper")),
            "accuracy": random.choice(ACCURACIES.get(matter, ("correct",))),
            "others": random.choice(("in confidence", "in passing")) if is_copied else "in passing",
            "cost": random.randrange(8_00, 25_00, 50),
            "legal_basis": kind.basis,
            "document": f"{kind.basis.split()[0].upper()}-{random.randrange(10_000, 100_000)}",
            "use": "same purpose" if on_consent else random.choice(USES),
            "necessity": "on consent" if on_consent else random.choice(("necessary",) * 7 + ("not necessary",)),
            "abroad": random.choice(("agreed after warning", "not asked")),
            "objection": _objection(random, kind, matter),
        }
    )


def _objection(random: Random, kind: DataKind, matter: str) -> str:
    """An objection that the law gives the person: to direct marketing, or to use on legitimate interests.

    It is made to passing on only: data to which it was made are not taken into use again, whatever they say.
    """
    given = "to direct marketing" if kind.marketing else "to this use"
    drawn = random.choice(("none", given) if kind.marketing or kind.basis == INTERESTS else ("none",))
    return drawn if matter == "passing on" else "none"


def _contacts(random: Random, people: Sequence[s.Row]) -> tuple[s.Row, ...]:
    """An address of each kind for each person, in mixed order."""
    numbers = iter(random.sample(range(1_000, 10_000), 4 * len(people)))
    rows: list[s.Row] = []
    for person in people:
        mailbox = person.values["name"].lower().replace(" ", ".")
        addresses = [
            ("email", f"{mailbox}@mail.example"),
            ("post", f"Larchfield Lane {random.randint(1, 80)}, Harbourtown"),
            ("portal", f"member page of {person.values['name']}"),
            ("club", f"by hand, {random.choice(CLUBS)} club"),
        ]
        random.shuffle(addresses)
        rows += [
            s.Row(
                {
                    "contact_id": f"C-{next(numbers)}",
                    "person_id": person.values["person_id"],
                    "kind": kind,
                    "address": address,
                }
            )
            for kind, address in addresses
        ]
    return tuple(rows)


def _partners(random: Random) -> tuple[s.Row, ...]:
    """Four partners: one in a member state, one in a country with an adequacy decision, two in other countries."""
    standings = ["member state", "adequacy decision", "standard clauses", "nothing"]
    random.shuffle(standings)
    return tuple(
        s.Row(
            {
                "partner_id": f"P-{number}",
                "name": name,
                "country": random.choice(COUNTRIES[standing]),
                "standing": standing,
                "role": random.choice(("controller", "processor")),
                "contract": random.choice(("signed", "signed", "signed", "not signed")),
                "reach": random.choice(("active", "active", "active", "closed down")),
            }
        )
        for number, name, standing in zip(
            random.sample(range(1_000, 10_000), 4), random.sample(PARTNER_NAMES, 4), standings, strict=True
        )
    )


def _disclosures(random: Random, cases: Sequence[s.Row], partners: Sequence[s.Row]) -> tuple[s.Row, ...]:
    """The data of four cases in five have gone to one partner."""
    gone = [case for case in cases if random.random() < 4 / 5]
    return tuple(
        s.Row(
            {
                "disclosure_id": f"D-{number:05d}",
                "case_id": case.values["case_id"],
                "partner_id": random.choice(partners).values["partner_id"],
            }
        )
        for number, case in enumerate(gone, 1)
    )


def _incidents(random: Random) -> tuple[s.Row, ...]:
    return tuple(
        s.Row(
            {
                "incident_id": f"I-{number}",
                "system": system,
                "what": what,
                "status": "open",
                "run_in": random.choice(ESTABLISHMENTS.options),
                "spread": random.choice(("one member state", "several member states")),
                "risk": random.choice(("unlikely", "likely", "high", "high")),
                "measures": random.choice(("none", "none", "high risk averted")),
                "reach": random.choice(("each person", "each person", "public notice")),
                "people": random.randint(20, 4_000),
            }
        )
        for number, (system, what) in zip(
            random.sample(range(1_000, 10_000), 3), random.sample(INCIDENTS, 3), strict=True
        )
    )
