"""The two bases of pydantic models: what is read and written is frozen, and unknown fields are errors unless a language
model writes it."""

from pydantic import BaseModel, ConfigDict


class FrozenModel(BaseModel):
    """A frozen model. Unknown fields are ignored."""

    model_config = ConfigDict(frozen=True)


class StrictModel(FrozenModel):
    """A frozen model. Unknown fields are errors."""

    model_config = ConfigDict(extra="forbid")
