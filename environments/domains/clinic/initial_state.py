"""Initial states of the clinic: patients with their records, the requests of a morning, and two incidents.

A patient and a requester have at most one request, authorization and mandate between them, and a patient has at most
one record of a kind, so everything can be found. All names are invented.
"""

import datetime as dt
from collections.abc import Mapping
from random import Random

from lawtrace.environments import spec as s

from . import entities as e

FIRST_NAMES = ("Clara", "Marcus", "Ines", "Theodore", "Wanda", "Jonah", "Priscilla", "Emmett", "Lucia", "Gordon")
LAST_NAMES = ("Whitlock", "Ferrante", "Okafor", "Lindqvist", "Abernathy", "Castellan", "Marsh", "Delacroix")
RELATIVES = ("Hattie", "Roland", "Bettina", "Silas")
PROVIDERS = ("Birchwood Orthopedics", "Saint Brennan Hospital", "Kestrel Heart Center")
INSURERS = ("Halden Mutual", "Corvane Insurance", "Prairie Life and Health")
LAW_FIRMS = ("Pike and Ostrander", "Lowell Trask Law Office")
COURTS = ("Marion County Court", "Tolland Superior Court")
HEALTH_DEPARTMENTS = ("Tolland Health Department", "Marion County Health Department")
VISITORS = ("Petal and Stem Flowers", "Odell Pruitt", "Verna Quill")
COMPANIES = {"marketing": ("Sunfield Supplements", "Brightwell Pharmacy"), "refill reminder": ("Brightwell Pharmacy",)}
STREETS = ("14 Larch Lane", "PO Box 218", "3 Quarry Road", "77 Ferry Street", "PO Box 1140")
STATES = ("Ohio", "Vermont", "Oregon", "Georgia")
INCIDENT_TITLES = ("stolen laptop", "misaddressed envelopes", "lost backup drive", "stolen tablet", "copied card index")
ON_PAPER = ("misaddressed envelopes", "copied card index")

LONG_AGO, LATELY = dt.date(2026, 2, 5).toordinal(), dt.date(2026, 2, 27).toordinal()
"""When requests were received: 30 days after the first is soon, and a record from the archive comes too late."""
WEEKS_AGO, RECENTLY = dt.date(2026, 1, 12).toordinal(), dt.date(2026, 2, 23).toordinal()
"""When incidents were discovered: 60 days after the first, a forensic report has not arrived yet."""
HOLD_UNTIL = dt.date(2026, 4, 10).toordinal()
FIRST_DAY = dt.date(2026, 3, 2).toordinal()


class _Desk:
    """The rows of a state, table by table."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.rows: dict[str, list[s.Row]] = {table: [] for table in e.ENTITIES}
        self.numbers = iter(random.sample(range(1_000, 10_000), 200))

    def add(self, table: str, prefix: str, **values: s.Value) -> s.Row:
        row = s.Row({e.ENTITIES[table].key: f"{prefix}-{next(self.numbers)}", **values})
        self.rows[table].append(row)
        return row

    def rarely(self, often: s.Value, rare: s.Value, share: float = 0.35) -> s.Value:
        return rare if self.random.random() < share else often

    def request(self, category: str, patient: s.Row, requester: s.Row, purpose: str, asks_for: str) -> s.Row:
        return self.add(
            "requests",
            "RQ",
            category=category,
            patient_id=patient.values["patient_id"],
            patient_name=patient.values["name"],
            requester_id=requester.values["requester_id"],
            requester_name=requester.values["name"],
            purpose=purpose,
            asks_for=asks_for,
            period=self.random.choice(e.PERIOD.options),
            involvement=self.random.choice(e.INVOLVEMENT.options),
            received_on=self.random.choice((LONG_AGO, LATELY)),
            assurance=self.random.choice(("none", "patient was told and did not object", "protective order sought")),
            payment=e.PAYMENT.options[int(self.random.random() * 3)],
            earlier_list=self.random.choice(("none within 12 months", "one within 12 months")),
            accepts_fee=self.random.random() < 0.7,
            patient_answer=self.rarely("agrees", "objects"),
            clinician_answer=self.rarely("agrees", "objects"),
            scope="everything",
        )

    def requester(self, name: str, kind: str, *, known: bool) -> s.Row:
        proof = self.rarely("complete", "missing", 0.25)
        return self.add("requesters", "PE", name=name, kind=kind, known=known, proof=proof)

    def soon(self) -> int:
        """A moment in the next three weeks."""
        return (FIRST_DAY + self.random.randrange(2, 21)) * s.MINUTES_PER_DAY + self.random.randrange(8 * 60, 16 * 60)

    def authorization(self, patient: s.Row, requester: s.Row, covers: str) -> None:
        signed = self.add(
            "authorizations",
            "AU",
            patient_id=patient.values["patient_id"],
            requester_id=requester.values["requester_id"],
            covers=covers,
            status=self.random.choice(("in force", "in force", "in force", "expired", "revoked")),
            period=self.random.choice(e.PERIOD.options),
            mentions_payment=self.random.random() < 0.6,
        ).values
        if signed["status"] == "in force" and self.random.random() < 1 / 3:
            self.add("revocations", "RV", authorization_id=signed["authorization_id"], arrives=self.soon())


def populate(random: Random) -> s.State:
    """Four patients with two or three records each, eight requests, and two incidents."""
    desk = _Desk(random)
    patients = _patients(desk)
    kinds = {patient.values["patient_id"]: _records(desk, patient) for patient in patients}
    _releases(desk, patients, kinds)
    _patients_own(desk, patients, kinds)
    _callers(desk, patients)
    _incidents(desk)
    desk.rows["requests"].sort(key=lambda request: request.values["received_on"])
    desk.rows["session"].append(s.Row({"session_id": "current", "today": FIRST_DAY + random.randrange(5)}))
    return s.State({table: tuple(rows) for table, rows in desk.rows.items()})


DOCKET_REQUESTS = (
    ("own records", "patient", "own use", 28),
    ("accounting", "patient", "own use", 20),
    ("release", "provider", "treatment", 24),
    ("release", "insurer", "payment of a claim", 44),
    ("release", "court", "court order", 6),
)
"""What dockets are about: the category, who asks and why, and fewer than how many days ago it was received."""


def populate_docket(random: Random, size: int) -> s.State:
    """As many patients as requests, each with one record. A few records are in the archive, which can be visited only
    so often before the law's and the manual's times are over."""
    desk, today = _Desk(random), FIRST_DAY + random.randrange(5)
    names = random.sample([f"{first} {last}" for first in FIRST_NAMES for last in LAST_NAMES], size)
    for name in names:
        category, kind, purpose, days = random.choice(DOCKET_REQUESTS)
        patient = desk.add(
            "patients",
            "PT",
            name=name,
            age_group="adult",
            restriction=desk.rarely("none", "nothing to insurers", 0.15),
            directory=random.choice(e.DIRECTORY.options),
            condition="able to decide",
        )
        asks_for = random.choice([of for of in e.RECORD_KIND.options if of != "psychotherapy notes"])
        desk.add(
            "records",
            "DO",
            patient_id=patient.values["patient_id"],
            kind=asks_for,
            location=desk.rarely("on site", "in the archive", min(0.8, 9 / size)),
            care_agreed_by="the patient",
            state_law=e.STATE_LAW.options[2],
            finding="none",
        )
        names_of = {"patient": (name,), "provider": PROVIDERS, "insurer": INSURERS, "court": COURTS}
        requester = desk.add(
            "requesters",
            "PE",
            name=random.choice(names_of[kind]),
            kind=kind,
            known=kind != "court",
            proof=desk.rarely("complete", "missing", 0.1),
        )
        asked = desk.request(category, patient, requester, purpose, asks_for)
        said = {"received_on": today - random.randrange(days), "earlier_list": "none within 12 months"}
        desk.rows["requests"][-1] = s.Row({**asked.values, **said})
    desk.rows["requests"].sort(key=lambda request: request.values["received_on"])
    desk.rows["session"].append(s.Row({"session_id": "current", "today": today}))
    return s.State({table: tuple(rows) for table, rows in desk.rows.items()})


def _patients(desk: _Desk) -> list[s.Row]:
    """The last one is often a minor."""
    random = desk.random
    names = [
        f"{first} {last}"
        for first, last in zip(random.sample(FIRST_NAMES, 4), random.sample(LAST_NAMES, 4), strict=True)
    ]
    patients = [
        desk.add(
            "patients",
            "PT",
            name=name,
            age_group=desk.rarely("adult", "minor", 0.7) if number == 3 else "adult",
            restriction=random.choice(
                ("none", "none", "nothing to insurers", "nothing to other providers", "nothing to relatives")
            ),
            directory=random.choice(e.DIRECTORY.options),
            condition=desk.rarely("able to decide", "unable to decide", 0.4),
        )
        for number, name in enumerate(names)
    ]
    for patient in random.sample(patients, 3):
        desk.add(
            "contacts",
            "CO",
            patient_id=patient.values["patient_id"],
            address=random.choice(STREETS),
            status=desk.rarely("in force", "withdrawn", 0.4),
        )
    return patients


def _records(desk: _Desk, patient: s.Row) -> list[str]:
    """Two or three records of a patient. Returns their kinds."""
    kinds = desk.random.sample(e.RECORD_KIND.options, desk.random.choice((2, 3)))
    minor = patient.values["age_group"] == "minor"
    for kind in kinds:
        location = desk.rarely("on site", "in the archive", 0.3)
        drawn = desk.random.random() if minor else 1.0
        desk.add(
            "records",
            "DO",
            patient_id=patient.values["patient_id"],
            kind=kind,
            location=location,
            care_agreed_by=("the minor alone" if drawn < 0.45 else "a parent") if minor else "the patient",
            state_law=e.STATE_LAW.options[min(int(drawn / 0.15), 2)],
            finding=desk.rarely("none", "access may endanger life", 0.2),
        )
    return kinds


def _releases(desk: _Desk, patients: list[s.Row], kinds: Mapping[str, list[str]]) -> None:
    """A provider, an insurer, a law firm and a public office ask for copies."""
    random = desk.random
    office = random.choice(
        (
            (random.choice(COURTS), "court", "court order"),
            (random.choice(HEALTH_DEPARTMENTS), "health department", "disease surveillance"),
        )
    )
    asking = (
        (random.choice(PROVIDERS), "provider", random.choice(("treatment", "emergency treatment"))),
        (random.choice(INSURERS), "insurer", random.choice(("payment of a claim", "life insurance"))),
        (random.choice(LAW_FIRMS), "law firm", random.choice(("lawsuit", "subpoena"))),
        office,
    )
    for patient, (name, kind, purpose) in zip(random.sample(patients, 4), asking, strict=True):
        known = kind in {"provider", "insurer"} and random.random() < 0.6
        requester = desk.requester(name, kind, known=known)
        asks_for = random.choice(kinds[patient.values["patient_id"]])
        desk.request("release", patient, requester, purpose, asks_for)
        if kind != "court" and random.random() < 0.9:
            desk.authorization(patient, requester, desk.rarely(asks_for, random.choice(e.RECORD_KIND.options), 0.2))


def _patients_own(desk: _Desk, patients: list[s.Row], kinds: Mapping[str, list[str]]) -> None:
    """A patient asks for records, a parent or another representative too, and a patient for a list of disclosures."""
    random = desk.random
    own, listed = random.sample(patients[:3], 2)
    for category, patient in (("own records", own), ("accounting", listed)):
        requester = desk.requester(patient.values["name"], "patient", known=random.random() < 0.5)
        asks_for = random.choice(kinds[patient.values["patient_id"]])
        desk.request(category, patient, requester, "own use", asks_for)
        if category == "own records" and random.random() < 0.3:
            desk.authorization(patient, requester, asks_for)
    ward = patients[3]
    kind = "parent" if ward.values["age_group"] == "minor" else "relative"
    name = f"{random.choice(RELATIVES)} {ward.values['name'].split()[1]}"
    requester = desk.requester(name, kind, known=random.random() < 0.4)
    asks_for = random.choice(kinds[ward.values["patient_id"]])
    desk.request("own records", ward, requester, "own use", asks_for)
    desk.add(
        "mandates",
        "MA",
        patient_id=ward.values["patient_id"],
        requester_id=requester.values["requester_id"],
        status=desk.rarely("in force", "ended", 0.3),
    )


def _callers(desk: _Desk, patients: list[s.Row]) -> None:
    """A relative wants news, a visitor a room, and a company has a flyer."""
    random = desk.random
    ill, looked_for, flyer = random.sample(patients[:3], 3)
    relative = desk.requester(f"{random.choice(RELATIVES)} {ill.values['name'].split()[1]}", "relative", known=False)
    desk.request("family", ill, relative, "visit or news", "visit summary")
    visitor = desk.requester(random.choice(VISITORS), "visitor", known=False)
    desk.request("room", looked_for, visitor, "visit or news", "visit summary")
    purpose = desk.rarely("marketing", "refill reminder", 0.5)
    company = desk.requester(random.choice(COMPANIES[purpose]), "company", known=True)
    desk.request("flyer", flyer, company, purpose, "visit summary")
    if random.random() < 0.85:
        desk.authorization(flyer, company, "marketing")


def _incidents(desk: _Desk) -> None:
    for title in desk.random.sample(INCIDENT_TITLES, 2):
        incident = desk.add(
            "incidents",
            "IN",
            title=title,
            discovered_on=desk.random.choice((WEEKS_AGO, RECENTLY)),
            people_affected=desk.random.choice((9, 10, 38, 120, 499, 500, 501, 640, 2_300)),
            information=desk.random.choice(e.INFORMATION.options),
            state=desk.random.choice(STATES),
            status="open",
            forensic_report="none",
        ).values["incident_id"]
        statement = desk.rarely("none", "in writing", 0.3)
        desk.add("holds", "HO", incident_id=incident, police_statement=statement, until=HOLD_UNTIL)
        if statement == "none" and desk.random.random() < 1 / 3:
            desk.add("statements", "PS", incident_id=incident, until=HOLD_UNTIL, arrives=desk.soon())
        desk.add(
            "assessments",
            "RA",
            incident_id=incident,
            data="on paper" if title in ON_PAPER else desk.rarely("readable", "encrypted", 0.25),
            risk=desk.rarely("not shown to be low", "low probability of compromise", 0.25),
        )
        reachable_by = desk.random.choice(("postal address", "e-mail as agreed", "no current address"))
        desk.add("mailing_lists", "ML", incident_id=incident, reachable_by=reachable_by)
