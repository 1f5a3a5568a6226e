"""Access to the parts of a request: labelled JSON blocks of the prompt, and the last user message."""

import json
import re
from collections.abc import Sequence
from typing import Any

from autogen_core.models import LLMMessage, UserMessage


def system_text(messages: Sequence[LLMMessage]) -> str:
    """The filled prompt."""
    return str(messages[0].content)


def labelled_json(messages: Sequence[LLMMessage], label: str) -> Any:  # noqa: ANN401 (JSON of the prompt's own shape)
    """The JSON in the prompt's fenced block with that label. Raises LookupError if there is none."""
    match = re.search(rf"```json {label}\n(.*?)\n```", system_text(messages), re.DOTALL)
    if match is None:
        raise LookupError(f"the prompt has no JSON block labelled {label!r}")
    return json.loads(match[1])


def last_user_message(messages: Sequence[LLMMessage]) -> str:
    """The last message that is not the role's own."""
    return next(str(message.content) for message in reversed(messages) if isinstance(message, UserMessage))
