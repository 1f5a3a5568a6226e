"""A parcel office that may decline to send a parcel, and gives the reason."""

from dataclasses import replace
from random import Random

from lawtrace.environments.spec import (
    TEXT,
    Choice,
    Entity,
    Environment,
    Fact,
    Field,
    FromUser,
    Insert,
    OneOf,
    Parameter,
    Phrases,
    State,
    Tool,
    argument,
    success_result,
)
from lawtrace.environments.spec.tools import FromLookup
from lawtrace.solver.planner.requests import RequestWriter
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import PlannedCall
from tests.support.parcel_office import DECLARED, OFFICE, PARCELS, RECORDED, TRULY, UNKNOWN
from tests.support.parcel_office import initial_state as parcels

REASON = Choice(("it is fragile", "it is unsealed"))
REFUSALS = Entity(
    "refusals", "refusal", "refusal_id", {"refusal_id": Field(TEXT), "reason": Field(TEXT)}, key_prefix="R-"
)
DECLINE = Tool(
    name="DeclineParcel",
    summary="Tells the customer why a parcel is not sent.",
    parameters=(
        Parameter("parcel_id", TEXT, "The parcel.", FromLookup(PARCELS)),
        Parameter("reason", REASON, "The reason.", FromUser(OneOf(REASON.options)), malformed=None),
    ),
    raises=(UNKNOWN,),
    effects=(Insert(REFUSALS, {"reason": argument("reason")}),),
    results=(success_result("Whether it was told."),),
    phrases=Phrases(
        "Tell why {parcel_id} is not sent: {reason}.", "it was told that {parcel_id} is not sent: {reason}."
    ),
)
KIND = Fact("kind of the parcel", PARCELS, "kind", ("sturdy", "fragile"))
SENT = Fact("whether it was sent before", PARCELS, "sent", (False, True))
WORLD: Environment = replace(
    OFFICE,
    entities={**OFFICE.entities, REFUSALS.table: REFUSALS},
    tools={**OFFICE.tools, DECLINE.name: DECLINE},
    facts=(KIND, SENT),
    declines=DECLINE.name,
)
DECLINED = Choice(("an inspection", "a dispatch"))
WORLD_OF_KINDS: Environment = replace(
    WORLD,
    tools={
        **WORLD.tools,
        DECLINE.name: replace(
            DECLINE,
            parameters=(
                *DECLINE.parameters,
                Parameter("request", DECLINED, "What is declined.", FromUser(OneOf(DECLINED.options)), malformed=None),
            ),
            phrases=Phrases(
                "Tell why {request} of {parcel_id} is declined: {reason}.",
                "it was told that {request} of {parcel_id} is declined: {reason}.",
            ),
        ),
    },
    declined_as={"SendParcel": "a dispatch", "InspectParcel": "an inspection"},
)
"""The same office, where the tool says what is declined."""
SHOWN = 'forall p: G({} -> O InspectParcel(parcel_id == p, result.parcel.kind == "{}"))'
STURDY_ONLY = Rule(id="sturdy only", formula=SHOWN.format("SendParcel(parcel_id == p)", "sturdy"))
TRUE_REASON = Rule(
    id="true reason", formula=SHOWN.format('DeclineParcel(parcel_id == p, reason == "it is fragile")', "fragile")
)
NO_OTHER_REASON = Rule(id="no other reason", formula='G !DeclineParcel(reason == "it is unsealed")')
DUTIES = (DECLARED, *TRULY, RECORDED)
BAN = (STURDY_ONLY, TRUE_REASON, NO_OTHER_REASON)


def initial_state(*kinds: str) -> State:
    return parcels(*kinds).with_table(REFUSALS.table, ())


def request(state: State, seed: int = 1) -> tuple[PlannedCall, ...]:
    """A request to send one of the parcels."""
    calls = RequestWriter(WORLD).draw(state, ["SendParcel"], Random(seed))
    assert calls is not None
    return calls
