"""What an inspection returns."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

FlawKind = Literal[
    "unreachable tool",
    "refusal",
    "result",
    "parameter",
    "phrase",
    "initial state",
    "list",
    "provision",
    "rule",
]


class Flaw(BaseModel):
    """Something that is wrong with a declaration, or suspicious enough to be looked at.

    Attributes:
        kind: what it is about.
        place: where it stands: ``tool 'PayBill', parameter 'amount'``.
        what: the flaw as one sentence.
        remedy: what to do about it.
        proof: why to believe it, or an example; empty where the declaration says it outright.
    """

    model_config = ConfigDict(frozen=True)

    kind: FlawKind
    place: str
    what: str
    remedy: str
    proof: str = ""
