"""A parcel office whose law asks to inspect a parcel and to declare what it is before it is sent."""

from collections.abc import Sequence

from lawtrace.environments import spec as s
from lawtrace.environments.spec.state import decode_state
from lawtrace.schemas.events import Event, FromResult, Json, Origin, SaidByUser
from lawtrace.solver.habits.grading import HabitCase
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import PlannedCall, replay

KIND = s.Choice(("fragile", "sturdy"))

PARCELS = s.table("parcels", "parcel", parcel_id=s.TEXT, label=s.TEXT, kind=KIND, sent=s.BOOLEAN)
INSURERS = s.table("insurers", "insurer", insurer_id=s.TEXT, name=s.TEXT)
DECLARATIONS = s.table("declarations", "declaration", prefix="D-", declaration_id=s.TEXT, parcel_id=s.TEXT, kind=s.TEXT)
POLICIES = s.table("policies", "policy", prefix="Y-", policy_id=s.TEXT, insurer_id=s.TEXT, value=s.MONEY)

PARCEL = s.key(PARCELS, "The parcel.")
VALUE = s.Parameter("value", s.MONEY, "Its value.", s.FromUser(s.Amount(1_00, 900_00)))
UNKNOWN = s.Raises(s.INVALID_REQUEST, "There is no such parcel.", s.is_unknown(PARCELS, "parcel_id"))

TOOLS = (
    s.Tool(
        name="FindParcel",
        summary="Finds a parcel by its label.",
        parameters=(s.stated(PARCELS, "label", "The label."),),
        results=(
            s.RowsResult(
                "parcels", "The parcels.", PARCELS, lambda p: p.label == s.argument("label"), ("parcel_id", "label")
            ),
        ),
        phrases=s.Phrases("Find the parcel {label}.", noun_phrase="the parcel {label}"),
    ),
    s.Tool(
        name="SendParcel",
        summary="Sends a parcel.",
        parameters=(PARCEL, VALUE),
        raises=(UNKNOWN,),
        effects=(s.change(PARCELS, sent=True),),
        results=(s.success_result("Whether it was sent."),),
        emits="PARCEL_SENT",
        phrases=s.Phrases("Send {parcel_id}, value {value}.", "{parcel_id}, value {value}, has been sent."),
    ),
    s.Tool(
        name="InspectParcel",
        summary="Shows what kind of parcel it is.",
        parameters=(PARCEL,),
        raises=(UNKNOWN,),
        results=(s.show_row("parcel", "It.", PARCELS, "kind"),),
        leak_words=("inspect",),
        compliance=True,
    ),
    s.Tool(
        name="DeclareParcel",
        summary="Declares what kind of parcel it is.",
        parameters=(PARCEL, s.option("kind", KIND, "The kind.")),
        raises=(UNKNOWN, s.Raises(s.INVALID_REQUEST, "The kind is unknown.")),
        effects=(s.register(DECLARATIONS, "parcel_id", "kind"),),
        results=(s.KeyResult("declaration_id", "The declaration.", DECLARATIONS),),
        leak_words=("declare",),
        compliance=True,
    ),
    s.Tool(
        name="ListInsurers",
        summary="Lists the insurers.",
        results=(s.RowsResult("insurers", "All.", INSURERS, lambda i: i.name == i.name, ("insurer_id", "name")),),
        leak_words=("insurer",),
        compliance=True,
    ),
    s.Tool(
        name="InsureParcel",
        summary="Insures a value with an insurer.",
        parameters=(s.key(INSURERS, "The insurer."), VALUE),
        raises=(s.Raises(s.INVALID_REQUEST, "There is no such insurer.", s.is_unknown(INSURERS, "insurer_id")),),
        effects=(s.register(POLICIES, "insurer_id", "value"),),
        results=(s.ValueResult("insured", "Whether.", s.BOOLEAN, s.constant(True)),),
        leak_words=("insure",),
        compliance=True,
    ),
    s.RECORD_AUDIT_EVENT,
)

OFFICE = s.Environment(
    "parcel_office",
    "Parcels",
    "ParcelOffice",
    "A parcel office.",
    {entity.table: entity for entity in (PARCELS, INSURERS, DECLARATIONS, POLICIES, s.AUDIT_LOG)},
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


def initial_state(*kinds: str) -> s.State:
    """Parcels P-1, P-2 and so on of these kinds, and two insurers."""
    parcels: dict[str, Json] = {
        f"P-{number}": {"parcel_id": f"P-{number}", "label": f"label {number}", "kind": kind, "sent": False}
        for number, kind in enumerate(kinds, 1)
    }
    insurers: dict[str, Json] = {key: {"insurer_id": key, "name": f"Insurer {key}"} for key in ("I-1", "I-2")}
    return decode_state({"parcels": parcels, "insurers": insurers}, OFFICE.entities)


def send_all(*kinds: str, rules: Sequence[Rule], name: str = "task") -> HabitCase:
    """The request to find each parcel and to send it. The reference inspects and declares each before."""
    calls: list[PlannedCall] = []
    reference: list[PlannedCall] = []
    for number, kind in enumerate(kinds):
        calls.append(_call("FindParcel", {"label": f"label {number + 1}"}, {"label": SaidByUser()}))
        found = FromResult(2 * number, ("parcels", 0, "parcel_id"))
        arguments: dict[str, Json] = {"parcel_id": f"P-{number + 1}", "value": 10.0 + number}
        calls.append(_call("SendParcel", arguments, {"parcel_id": found, "value": SaidByUser()}))
        key = {"parcel_id": arguments["parcel_id"]}
        declared = (_call("InspectParcel", {**key}, {}), _call("DeclareParcel", {**key, "kind": kind}, {}))
        reference += [calls[-2], *declared, calls[-1]]
    initial = initial_state(*kinds)
    target = replay(OFFICE, initial, calls).state
    return HabitCase(name, initial, target, tuple(calls), tuple(rules), reference=tuple(reference))


def _call(tool: str, arguments: dict[str, Json], origins: dict[str, Origin]) -> PlannedCall:
    return PlannedCall(Event(tool, arguments), origins)
