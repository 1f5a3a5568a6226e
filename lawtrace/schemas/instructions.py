"""Instructions: what the user of a task asks for, in one style."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, SerializerFunctionWrapHandler, model_serializer

from lawtrace.schemas.choices import Style
from lawtrace.schemas.events import Json
from lawtrace.schemas.models import StrictModel

Wordings = Annotated[tuple[str, ...], BeforeValidator(lambda value: (value,) if isinstance(value, str) else value)]
"""Words that say the same; one of them may stand alone."""

SurfaceForms = Mapping[str, Wordings]
"""``Tool.parameter``, or ``3.Tool.parameter`` for call 3 of the workflow -> the words of a text that say its value."""


def noted_forms(says: SurfaceForms, number: int, tool: str, parameter: str) -> tuple[str, ...]:
    """The words noted for an argument of the call at index ``number``."""
    place = f"{tool}.{parameter}"
    return (*says.get(f"{number + 1}.{place}", ()), *says.get(place, ()))


class Instruction(StrictModel):
    """A user's request in one style.

    Attributes:
        variables: the values that the text mentions; none in a text that is written freely.
        written: how. Left out of files if it is made from the phrases of the declaration.
        says: in a text written freely, the words that say a value which code cannot find: ``Tool.parameter`` -> words.
    """

    style: Style
    text: str
    variables: dict[str, Json]
    written: Literal["from phrases", "by a model"] = "from phrases"
    says: SurfaceForms = Field(default={})

    @property
    def is_free(self) -> bool:
        """Whether a model chose the words."""
        return self.written != "from phrases"

    @model_serializer(mode="wrap")
    def _omit_defaults(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Json]:
        fields = serialize(self)
        return {name: value for name, value in fields.items() if name not in {"written", "says"} or self.is_free}
