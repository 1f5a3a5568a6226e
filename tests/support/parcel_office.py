"""A parcel office whose law asks to inspect a parcel and to declare what it is before it is sent."""

from collections.abc import Sequence

from lawtrace.environments.spec import (
    AUDIT_LOG,
    BOOLEAN,
    INVALID_REQUEST,
    MONEY,
    RECORD_AUDIT_EVENT,
    TEXT,
    Amount,
    Choice,
    Entity,
    Environment,
    Field,
    FieldValue,
    FromLookup,
    FromUser,
    Insert,
    KeyResult,
    OneOf,
    Parameter,
    Phrases,
    Raises,
    RowsResult,
    State,
    Tool,
    Update,
    ValueResult,
    argument,
    constant,
    is_unknown,
    success_result,
)
from lawtrace.environments.spec.state import decode_state
from lawtrace.schemas.events import Event, FromResult, Json, Origin, SaidByUser
from lawtrace.solver.habits.grading import HabitCase
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import PlannedCall, replay

KIND = Choice(("fragile", "sturdy"))

PARCELS = Entity(
    "parcels",
    "parcel",
    "parcel_id",
    {"parcel_id": Field(TEXT), "label": Field(TEXT), "kind": Field(KIND), "sent": Field(BOOLEAN)},
)
INSURERS = Entity("insurers", "insurer", "insurer_id", {"insurer_id": Field(TEXT), "name": Field(TEXT)})
DECLARATIONS = Entity(
    "declarations",
    "declaration",
    "declaration_id",
    {"declaration_id": Field(TEXT), "parcel_id": Field(TEXT), "kind": Field(TEXT)},
    key_prefix="D-",
)
POLICIES = Entity(
    "policies",
    "policy",
    "policy_id",
    {"policy_id": Field(TEXT), "insurer_id": Field(TEXT), "value": Field(MONEY)},
    key_prefix="Y-",
)

PARCEL = Parameter("parcel_id", TEXT, "The parcel.", FromLookup(PARCELS))
VALUE = Parameter("value", MONEY, "Its value.", FromUser(Amount(1_00, 900_00)))
UNKNOWN = Raises(INVALID_REQUEST, "There is no such parcel.", is_unknown(PARCELS, "parcel_id"))

TOOLS = (
    Tool(
        name="FindParcel",
        summary="Finds a parcel by its label.",
        parameters=(Parameter("label", TEXT, "The label.", FromUser(FieldValue(PARCELS, "label"))),),
        results=(
            RowsResult(
                "parcels", "The parcels.", PARCELS, lambda p: p.label == argument("label"), ("parcel_id", "label")
            ),
        ),
        phrases=Phrases("Find the parcel {label}.", noun_phrase="the parcel {label}"),
    ),
    Tool(
        name="SendParcel",
        summary="Sends a parcel.",
        parameters=(PARCEL, VALUE),
        raises=(UNKNOWN,),
        effects=(Update(PARCELS, lambda p: p.parcel_id == argument("parcel_id"), {"sent": lambda _: constant(True)}),),
        results=(success_result("Whether it was sent."),),
        emits="PARCEL_SENT",
        phrases=Phrases("Send {parcel_id}, value {value}.", "{parcel_id}, value {value}, has been sent."),
    ),
    Tool(
        name="InspectParcel",
        summary="Shows what kind of parcel it is.",
        parameters=(PARCEL,),
        raises=(UNKNOWN,),
        results=(
            RowsResult(
                "parcel", "It.", PARCELS, lambda p: p.parcel_id == argument("parcel_id"), ("kind",), single=True
            ),
        ),
        leak_words=("inspect",),
        compliance=True,
    ),
    Tool(
        name="DeclareParcel",
        summary="Declares what kind of parcel it is.",
        parameters=(PARCEL, Parameter("kind", KIND, "The kind.", FromUser(OneOf(KIND.options)))),
        raises=(UNKNOWN, Raises(INVALID_REQUEST, "The kind is unknown.")),
        effects=(Insert(DECLARATIONS, {"parcel_id": argument("parcel_id"), "kind": argument("kind")}),),
        results=(KeyResult("declaration_id", "The declaration.", DECLARATIONS),),
        leak_words=("declare",),
        compliance=True,
    ),
    Tool(
        name="ListInsurers",
        summary="Lists the insurers.",
        results=(RowsResult("insurers", "All.", INSURERS, lambda i: i.name == i.name, ("insurer_id", "name")),),
        leak_words=("insurer",),
        compliance=True,
    ),
    Tool(
        name="InsureParcel",
        summary="Insures a value with an insurer.",
        parameters=(Parameter("insurer_id", TEXT, "The insurer.", FromLookup(INSURERS)), VALUE),
        raises=(Raises(INVALID_REQUEST, "There is no such insurer.", is_unknown(INSURERS, "insurer_id")),),
        effects=(Insert(POLICIES, {"insurer_id": argument("insurer_id"), "value": argument("value")}),),
        results=(ValueResult("insured", "Whether.", BOOLEAN, constant(True)),),
        leak_words=("insure",),
        compliance=True,
    ),
    RECORD_AUDIT_EVENT,
)

OFFICE = Environment(
    "parcel_office",
    "Parcels",
    "ParcelOffice",
    "A parcel office.",
    {entity.table: entity for entity in (PARCELS, INSURERS, DECLARATIONS, POLICIES, AUDIT_LOG)},
    {tool.name: tool for tool in TOOLS},
    lambda _: initial_state("sturdy"),
)

DECLARED = Rule(id="declared", formula="forall p: G(SendParcel(parcel_id == p) -> O DeclareParcel(parcel_id == p))")
TRULY = tuple(
    Rule(
        id=f"truly-{kind}",
        formula=(
            f'forall p: G(DeclareParcel(parcel_id == p, kind == "{kind}") -> '
            f'O InspectParcel(parcel_id == p, result.parcel.kind == "{kind}"))'
        ),
    )
    for kind in KIND.options
)
RECORDED = Rule(id="recorded", formula='G(SendParcel -> F RecordAuditEvent("PARCEL_SENT" in events))')
INSURED = Rule(id="insured", formula="forall v: G(SendParcel(value == v) -> O InsureParcel(value == v))")


def initial_state(*kinds: str) -> State:
    """Parcels P-1, P-2 and so on of these kinds, and two insurers."""
    parcels: dict[str, Json] = {
        f"P-{number}": {"parcel_id": f"P-{number}", "label": f"label {number}", "kind": kind, "sent": False}
        for number, kind in enumerate(kinds, 1)
    }
    insurers: dict[str, Json] = {key: {"insurer_id": key, "name": f"Insurer {key}"} for key in ("I-1", "I-2")}
    return decode_state({"parcels": parcels, "insurers": insurers}, OFFICE.entities)


def send_all(*kinds: str, rules: Sequence[Rule], name: str = "task") -> HabitCase:
    """The request to find each parcel and to send it."""
    calls: list[PlannedCall] = []
    for number in range(len(kinds)):
        calls.append(_call("FindParcel", {"label": f"label {number + 1}"}, {"label": SaidByUser()}))
        found = FromResult(2 * number, ("parcels", 0, "parcel_id"))
        arguments: dict[str, Json] = {"parcel_id": f"P-{number + 1}", "value": 10.0 + number}
        calls.append(_call("SendParcel", arguments, {"parcel_id": found, "value": SaidByUser()}))
    initial = initial_state(*kinds)
    return HabitCase(name, initial, replay(OFFICE, initial, calls).state, tuple(calls), tuple(rules))


def _call(tool: str, arguments: dict[str, Json], origins: dict[str, Origin]) -> PlannedCall:
    return PlannedCall(Event(tool, arguments), origins)
