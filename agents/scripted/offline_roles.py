"""Offline roles: deterministic functions that play the writing roles without a model.

With them the full pipeline runs on a fresh machine without a key or a network. They are a baseline, and reports label
them so.

Each is a function from the messages of a request to a text, and sees nothing else.
"""

from collections.abc import Callable, Mapping, Sequence

from autogen_core.models import LLMMessage

from lawtrace.agents.scripted.offline_writing import review_request, write_request
from lawtrace.agents.scripted.request_parser import read_request

ScriptedRole = Callable[[Sequence[LLMMessage]], str]
"""From the messages of a request to the text of an answer."""

OFFLINE_ROLES: Mapping[str, ScriptedRole] = {
    "instruction_generator": write_request,
    "masking_evaluator": review_request,
    "independent_reader": read_request,
}
