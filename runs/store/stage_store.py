"""Stages computed once: variants whose stage has the same inputs share what came of it."""

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel

Made = TypeVar("Made")
StageInputs = Mapping[str, object]
"""What a stage depends on: parts of the recipe, digests of files that it reads."""


@dataclass(slots=True)
class StageStore:
    """What the stages of a run have come to so far. Variants take their turns, so nothing is made twice at once."""

    _made: dict[str, tuple[int, Any]] = field(default_factory=dict[str, tuple[int, Any]])

    async def once(
        self, stage: str, made_from: StageInputs, variant: int, make: Callable[[], Awaitable[Made]]
    ) -> tuple[Made, int]:
        """What comes of the stage, and the number of the variant that it was made for."""
        key = f"{stage} {_digest(made_from)}"
        if key not in self._made:
            self._made[key] = (variant, await make())
        by, made = self._made[key]
        return made, by


def _digest(made_from: StageInputs) -> str:
    return hashlib.sha256(json.dumps(made_from, sort_keys=True, default=_as_json).encode()).hexdigest()


def _as_json(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    return str(value)
