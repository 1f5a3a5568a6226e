"""The roles that turn a regulation into rules (P 3.2), and what they are shown."""

import json
from collections.abc import Iterable, Sequence

from pydantic import BaseModel

from lawtrace.agents.participants import Role
from lawtrace.agents.roles.rule_answers import Candidates, Critique, Proposal, SessionJudgment
from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.environments.runtime.documentation import document
from lawtrace.environments.spec.declaration import Environment


def quoted_in(quote: str, words: str) -> bool:
    """Whether the words contain the quote, ignoring white space, case and the kind of quotation marks."""
    return bool(plain := _plain(quote)) and plain in _plain(words)


def misquoted(judgment: SessionJudgment, provisions: Iterable[str]) -> Sequence[str]:
    """The objection to the words that decide, if a verdict needs words and they stand in none of the provisions."""
    quoted = any(quoted_in(judgment.words, words) for words in provisions)
    needed = judgment.verdict in {"unlawful", "arguable"}
    return ("`words` must be words of a provision, as they stand there",) if needed and not quoted else ()


def _plain(text: str) -> str:
    straight = text.translate(str.maketrans("‘’“”„–—", '\'\'"""--')).casefold()
    return " ".join(straight.split()).strip(" .;,")


def regulation_title(regulation: Regulation) -> str:
    return f"{regulation.title} ({regulation.source})"


def provisions_json(regulation: Regulation, *, headings: bool = False) -> str:
    shown = [
        {
            "citation": provision.citation,
            **({"heading": provision.heading or ""} if headings else {}),
            "text": provision.words(),
        }
        for provision in regulation.provisions
    ]
    return json.dumps(shown, indent=1, ensure_ascii=False)


def documentation_json(environment: Environment) -> str:
    return json.dumps(document(environment), indent=1)


def _read_rule_objections(content: BaseModel | str) -> str | None:
    """The opening, and the objections of the critic, the validator or the analysis."""
    if isinstance(content, str):
        return content
    objections: Sequence[BaseModel] = getattr(content, "objections", None) or getattr(content, "findings", ())
    return "Objections:\n" + "\n".join(objection.model_dump_json() for objection in objections) if objections else None


def _read_candidates(content: BaseModel | str) -> str | None:
    return content.model_dump_json() if isinstance(content, Candidates) else None


POLICY_EXTRACTOR = Role("policy_extractor", Proposal, message_filter=_read_rule_objections)
"""Writes the rules of a group of provisions."""
LTL_CRITIC = Role("ltl_critic", Critique, message_filter=_read_candidates, stateful=False)
"""Objects to rules that the provisions do not require or that mean something else."""
ANNOTATOR = Role("annotator", SessionJudgment)
"""Judges a session by the text, without the rules."""
