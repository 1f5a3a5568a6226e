"""Provisions in one sentence, for refusals."""

import re

from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.solver.rules import Rule

MAX_WORDS = 60


def cite(rule: Rule, regulation: Regulation | None) -> str:
    """What a rule rests on: the citation and the first sentence of the provision, else of the rule's rationale."""
    if regulation is not None and (rule.regulation == regulation.id or not regulation.restated):
        for citation in rule.provisions:
            for provision in regulation.cited(citation)[:1]:
                return f"{rule.regulation} {provision.citation}: {first_sentence(provision.words())}"
    where = " ".join((rule.regulation, ", ".join(rule.provisions))).strip()
    sentence = first_sentence(rule.rationale) or f"rule {rule.id!r}."
    return f"{where}: {sentence}" if where else sentence


def first_sentence(text: str) -> str:
    """The first sentence of a text, cut after 60 words."""
    sentence = re.split(r"(?<=[.!?;])\s+(?=[A-Z(])", " ".join(text.split()), maxsplit=1)[0]
    words = sentence.split()
    return sentence if len(words) <= MAX_WORDS else f"{' '.join(words[:MAX_WORDS])} ..."
