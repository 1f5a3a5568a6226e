"""What reviewers said of rules and tasks."""

import hashlib
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Decision = Literal["accept", "reject", "edit"]


class OpinionRow(BaseModel):
    """One opinion of one reviewer on one item in one round. Of several the last counts.

    Attributes:
        digest: of the words that were judged; an opinion on other words counts for nothing.
        text: of an edit, the words that should stand there instead; they become an item of their own.
        at: when it was given, as ISO 8601 in UTC.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal["lawtrace.opinion/1"] = "lawtrace.opinion/1"
    reviewer: str = Field(min_length=1, max_length=80)
    item: str = Field(min_length=1)
    digest: str
    round: int = Field(ge=1)
    decision: Decision
    text: str = Field(default="", max_length=20_000)
    comment: str = Field(default="", max_length=20_000)
    at: str = ""


def digest_of(words: str) -> str:
    return hashlib.sha256(words.encode()).hexdigest()
