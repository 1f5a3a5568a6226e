"""The scripted roles: a Meta-LLM and its team that compare words, without knowledge of the law. Roles that are not in
the table need a model.

Of four options it chooses the one with the largest share of words in the passages. For yes/no it answers Yes if the
passages contain enough of the question's words, No if they contain few, and declines if they contain almost none. It
cites the passage that shares most words with the question.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from autogen_core.models import LLMMessage

from lawtrace.agents.legal.decomposition import AGENT_ROLES
from lawtrace.agents.legal.scripted.section_classifier import map_parts
from lawtrace.agents.scripted.offline_roles import ScriptedRole
from lawtrace.agents.scripted.prompt_blocks import labelled_json
from lawtrace.agents.scripted.stemming import STOP_WORDS
from lawtrace.environments.legal.retrieval.tokenizer import tokenize

YES_THRESHOLD = 0.35
"""The minimum share of the question's words for a Yes. Chosen by hand, like the next threshold."""

REFUSAL_THRESHOLD = 0.1
"""The share below which it declines."""

_QUOTED_WORDS = 8

MAX_ATOMIC_WORDS = 40
"""Maximum length of an atomic task, in words, if it does not join two tasks with *and*. Chosen by hand."""

MOST_MISSING_SHARE = 0.5
"""The share of the question's words up to which nothing is asked back. Chosen by hand."""


def answer_question(messages: Sequence[LLMMessage]) -> str:
    return _answer(labelled_json(messages, "question"), labelled_json(messages, "passages"))


def integrate_parts(messages: Sequence[LLMMessage]) -> str:
    parts = labelled_json(messages, "parts")
    found = [{"ref": c["passage"], "text": part["found"]} for part in parts for c in part["citations"][:1]]
    return _answer(labelled_json(messages, "question"), found)


def split_task(messages: Sequence[LLMMessage]) -> str:
    """Asks every agent the question in its field; splits a task that joins two with *and*."""
    task, question = labelled_json(messages, "task")["task"], labelled_json(messages, "question")
    if task == question["question"]:
        tasks = [{"task": f"{_field(agent)}: {task}", "agent": agent} for agent in labelled_json(messages, "agents")]
    else:
        kind, _, rest = task.partition(": ")
        agent = f"{kind.lower().replace(' ', '_')}_agent"
        tasks = [{"task": f"{kind}: {part.strip()}", "agent": agent} for part in rest.split(" and ", 1)]
    return json.dumps({"tasks": tasks})


def judge_atomicity(messages: Sequence[LLMMessage]) -> str:
    task = labelled_json(messages, "task")["task"]
    atomic = " and " not in task or len(tokenize(task)) < MAX_ATOMIC_WORDS // 2
    return json.dumps({"atomic": atomic and len(tokenize(task)) <= MAX_ATOMIC_WORDS, "because": "counted words"})


def _field(agent: str) -> str:
    return agent.removesuffix("_agent").replace("_", " ").capitalize()


def ask_back(messages: Sequence[LLMMessage]) -> str:
    """Asks for the words of the question that no finding contains, from the first agent that found nothing."""
    found = {word for part in labelled_json(messages, "parts") for word in tokenize(part["found"] or "")}
    asked = labelled_json(messages, "question")["question"]
    missing = [word for word in dict.fromkeys(tokenize(asked)) if word not in STOP_WORDS | found]
    idle = [part["agent"] for part in labelled_json(messages, "parts") if not part["citations"]]
    if len(missing) <= MOST_MISSING_SHARE * len(_content_words(asked)):
        return json.dumps({"missing": "", "questions": []})
    words = ", ".join(missing)
    agent = (idle or list(labelled_json(messages, "agents")))[0]
    return json.dumps({"missing": words, "questions": [{"task": f"What is known about {words}?", "agent": agent}]})


def answer_part(messages: Sequence[LLMMessage]) -> str:
    passages = labelled_json(messages, "passages")
    asked = _content_words(labelled_json(messages, "task")["task"])
    if not passages:
        return json.dumps({"answer": "The notes say nothing on it.", "citations": []})
    best = max(passages, key=lambda passage: len(asked & set(tokenize(passage["text"]))))
    return json.dumps({"answer": best["text"], "citations": _cite([best], asked)})


def _answer(question: dict[str, Any], passages: Sequence[dict[str, Any]]) -> str:
    known = {word for passage in passages for word in tokenize(passage["text"])}
    asked = _content_words(question["question"])
    share = len(asked & known) / len(asked) if asked else 0.0
    cited = _cite(passages, asked)
    # without options: the first words of the passage that shares most words with the question
    extracted = cited[0]["quote"] if cited else None
    answer = _choose(question["options"], known, share) if question["options"] else extracted
    return json.dumps(
        {
            "rationale": f"The passages contain {share:.0%} of the content words of the question.",
            "citations": cited if answer is not None else [],
            "answer": answer,
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )


def _choose(options: dict[str, str], known: set[str], share: float) -> str | None:
    if share < REFUSAL_THRESHOLD:
        return None
    if "Yes" in options:
        return "Yes" if share >= YES_THRESHOLD else "No"

    def overlap(choice: str) -> float:
        words = _content_words(options[choice])
        return len(words & known) / len(words) if words else 0.0

    return max(options, key=overlap)


def _cite(passages: Sequence[dict[str, Any]], asked: set[str]) -> list[dict[str, str]]:
    if not passages:
        return []
    best = max(passages, key=lambda passage: len(asked & set(tokenize(passage["text"]))))
    return [{"passage": best["ref"], "quote": " ".join(best["text"].split()[:_QUOTED_WORDS])}]


def _content_words(text: str) -> set[str]:
    return set(tokenize(text)) - STOP_WORDS


LEGAL_OFFLINE_ROLES: Mapping[str, ScriptedRole] = {
    "meta_llm": answer_question,
    "decomposer": split_task,
    "atomicity_judge": judge_atomicity,
    **dict.fromkeys(AGENT_ROLES.values(), answer_part),
    "sufficiency_judge": ask_back,
    "integrator": integrate_parts,
    "section_mapper": map_parts,
    "twin_evaluator": lambda messages: '{"faults": []}',  # the checks by code stand alone
}
