"""The report of an extraction."""

from lawtrace.agents.conversations.provenance import (
    ExtractionProvenance,
    ProvenanceHeader,
    ProvenanceMessage,
    ProvisionBatch,
    ProvisionProvenance,
    ProvisionStatus,
    Quote,
    RuleCandidate,
)
from lawtrace.runs.report.sections import make_extraction_report
from lawtrace.runs.web.export import render_export
from lawtrace.schemas.findings import ExtractionFunnel
from lawtrace.solver.rules import Rule

EVIL = "<script>alert(1)</script>"
FUNNEL = ExtractionFunnel(provisions=40, in_scope=9, refined=8, candidates=12, valid=11, distinct=7, accepted=5)


def provenance(words: str = EVIL, fate: str = "rule", funnel: ExtractionFunnel = FUNNEL) -> ExtractionProvenance:
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
            parse_warnings=(words,),
        ),
        (ProvisionProvenance(citation=words, words=words, fate=settled, rules=(words,), piece=1),),
        (RuleCandidate(rule=rule, quotes=quotes, piece=1, checks=(words,)).becomes("dropped", words),),
        (
            ProvisionBatch(
                piece=1, citations=(words,), messages=(ProvenanceMessage(role=words, conversation="x", content=words),)
            ),
        ),
    )


def test_hostile_text_is_escaped() -> None:
    page = render_export(make_extraction_report(provenance()))
    assert page.count("<script") == 1
    assert page.count("&lt;script&gt;") >= 12
    assert "default-src 'none'" in page


def test_the_same_provenance_gives_the_same_bytes() -> None:
    page = render_export(make_extraction_report(provenance("Article 1")))
    assert page == render_export(make_extraction_report(provenance("Article 1")))
    assert "Roles without a model: tool mapper." in page
    assert "NOT found in the provision" in page
    assert "1 warning about reading" in page


def test_unread_provisions_are_a_notice() -> None:
    page = render_export(make_extraction_report(provenance("Article 1", "unread")))
    assert "1 of 1 provisions were not read" in page
