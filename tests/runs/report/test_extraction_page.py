"""The page of an extraction: the same bytes for the same trail, what a model said is text, nothing is hidden."""

import pytest

from lawtrace.agents.conversations.provenance import (
    ExtractionFunnel,
    ProvenanceHeader,
    ProvenanceMessage,
    ProvisionBatch,
    ProvisionProvenance,
    ProvisionStatus,
    Quote,
    RuleCandidate,
)
from lawtrace.runs.store.provenance_file import FUNNEL_STEPS, ExtractionProvenance
from lawtrace.runs.web.extraction_page import draw_funnel, render_extraction
from lawtrace.solver.rules import Rule

EVIL = "<script>alert(1)</script>"
FUNNEL = ExtractionFunnel(provisions=40, in_scope=9, refined=8, candidates=12, valid=11, distinct=7, accepted=5)


def trail(words: str = EVIL, fate: str = "rule", funnel: ExtractionFunnel = FUNNEL) -> ExtractionProvenance:
    settled = ProvisionStatus.model_validate({"citation": words, "fate": fate, "because": words})
    rule = Rule(id=words, formula="G(A -> F B)", provisions=(words,), rationale=words)
    quotes = (Quote(citation=words, words=words, checked=False),)
    return ExtractionProvenance(
        ProvenanceHeader(
            regulation=words,
            title=words,
            source=words,
            restated=False,
            environment="banking",
            models={"tool_mapper": "offline", "ltl_critic": "openai:some"},
            funnel=funnel,
            doubts=(words,),
        ),
        (ProvisionProvenance(citation=words, words=words, fate=settled, rules=(words,), piece=1),),
        (RuleCandidate(rule=rule, quotes=quotes, piece=1, checks=(words,)).becomes("dropped", words),),
        (
            ProvisionBatch(
                piece=1, citations=(words,), messages=(ProvenanceMessage(role=words, conversation="x", content=words),)
            ),
        ),
    )


def test_what_a_model_said_is_text() -> None:
    page = render_extraction(trail())
    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 12
    assert "default-src 'none'" in page


def test_the_same_trail_gives_the_same_bytes_and_says_who_spoke() -> None:
    page = render_extraction(trail("Article 1"))
    assert page == render_extraction(trail("Article 1"))
    assert "not by a model: tool mapper." in page
    assert "NOT found in it" in page
    assert "1 doubt of the reader" in page


def test_provisions_that_nobody_read_are_told_of_first() -> None:
    page = render_extraction(trail("Article 1", "unread"))
    assert "1 of 1 provisions were not read to the end" in page


@pytest.mark.parametrize("funnel", [FUNNEL, ExtractionFunnel.model_validate(dict.fromkeys(FUNNEL_STEPS, 0))])
def test_the_funnel_says_every_number(funnel: ExtractionFunnel) -> None:
    figure = draw_funnel(funnel, "funnel")
    for step, label in FUNNEL_STEPS.items():
        assert f"{getattr(funnel, step)} {label}" in figure
    assert figure == draw_funnel(funnel, "funnel")
