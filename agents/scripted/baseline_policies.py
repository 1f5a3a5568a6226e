"""Baseline policies in tools mode: they play a given sequence of calls."""

import json
from collections.abc import Callable, Sequence

from autogen_core import FunctionCall
from autogen_core.models import FunctionExecutionResultMessage, LLMMessage

from lawtrace.schemas.events import FromResults, Json
from lawtrace.solver.guard.decisions import Call
from lawtrace.solver.traces import PlannedCall, resolve_path


def next_move(calls: Sequence[PlannedCall], told: Sequence[str]) -> Call | str:
    """The next call of a policy that plays these calls, or the text that it ends with.

    An argument that originates in an earlier result is read from the actual result; if a result does not have the
    documented form, the policy stops and says so. ``told``: the results so far.
    """
    if len(told) == len(calls):
        return "Done."
    call = calls[len(told)]
    try:
        return Call(call.event.tool, {name: _argument(call, name, told) for name in call.event.arguments})
    except (LookupError, TypeError, ValueError):
        return f"I cannot go on: {call.event.tool} needs what no result so far holds."


def play_calls(calls: Sequence[PlannedCall]) -> Callable[[Sequence[LLMMessage]], str | list[FunctionCall]]:
    """A policy that plays these calls, one a turn."""

    def answer(messages: Sequence[LLMMessage]) -> str | list[FunctionCall]:
        told = [
            result.content
            for message in messages
            if isinstance(message, FunctionExecutionResultMessage)
            for result in message.content
        ]
        move = next_move(calls, told)
        if isinstance(move, str):
            return move
        return [FunctionCall(f"call_{len(told) + 1}", json.dumps(move.arguments), move.tool)]

    return answer


def _argument(call: PlannedCall, name: str, told: Sequence[str]) -> Json:
    places = call.looked_up.get(name)
    if places is None:
        return call.event.arguments[name]
    read = [resolve_path(json.JSONDecoder().raw_decode(told[place.step])[0], place.path) for place in places]
    return read if isinstance(call.origins[name], FromResults) else read[0]
