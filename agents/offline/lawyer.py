"""The Meta-LLM without a model: it compares words, and knows nothing of law.

Of four options it takes the one most of whose words stand in the passages. To yes/no it says Yes if the passages hold
enough of the question's words, No if they hold few, and declines if they hold next to none. It cites the passage that
shares most words with the question.
"""

import json
from collections.abc import Sequence
from typing import Any

from autogen_core.models import LLMMessage

from agents.offline.messages import labelled_json
from agents.offline.words import SILENT
from environments.casebook.retrieval.words import words_of

__all__ = ["answer_question"]

ENOUGH = 0.35
"""The share of the question's words that makes a Yes. Chosen by hand, as the next one is."""

ANY = 0.1
"""The share below which it declines."""

_QUOTED_WORDS = 8


def answer_question(messages: Sequence[LLMMessage]) -> str:
    question, passages = labelled_json(messages, "question"), labelled_json(messages, "passages")
    known = {word for passage in passages for word in words_of(passage["text"])}
    asked = _telling(question["question"])
    share = len(asked & known) / len(asked) if asked else 0.0
    answer = _choose(question["options"], known, share)
    return json.dumps(
        {
            "rationale": f"The passages hold {share:.0%} of the telling words of the question.",
            "citations": _cite(passages, asked) if answer is not None else [],
            "answer": answer,
        }
    )


def _choose(options: dict[str, str], known: set[str], share: float) -> str | None:
    if share < ANY:
        return None
    if "Yes" in options:
        return "Yes" if share >= ENOUGH else "No"

    def overlap(choice: str) -> float:
        words = _telling(options[choice])
        return len(words & known) / len(words) if words else 0.0

    return max(options, key=overlap)


def _cite(passages: Sequence[dict[str, Any]], asked: set[str]) -> list[dict[str, str]]:
    if not passages:
        return []
    best = max(passages, key=lambda passage: len(asked & set(words_of(passage["text"]))))
    return [{"passage": best["ref"], "quote": " ".join(best["text"].split()[:_QUOTED_WORDS])}]


def _telling(text: str) -> set[str]:
    return set(words_of(text)) - SILENT
