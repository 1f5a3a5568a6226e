"""The page of formalizations."""

from lawtrace.agents.conversations.formalized_group import (
    AskedSession,
    Comparison,
    FormalizedGroup,
    FormalizerResult,
    GivenJudgment,
)
from lawtrace.agents.roles import rule_answers as roles
from lawtrace.runs.report.sections import make_extraction_report
from lawtrace.runs.web.export import render_export
from lawtrace.solver.rules import Rule

EVIL = "<script>alert(1)</script>"


def group(words: str = EVIL, failure: str | None = None) -> FormalizedGroup:
    proposal = roles.Proposal(
        rules=(),
        definitions=(roles.ProposedDefinition(name=words, parameters=(words,), formula=words, means=words),),
        not_checkable=(roles.NotCheckable(citation=words, because=words),),
        open_points=(roles.OpenPoint(citation=words, asks=words, readings=(words,)),),
    )
    rule = Rule(id=words, formula="G(A -> F B)", provisions=(words,), rationale=words)
    written = FormalizerResult(
        name="A",
        model=words,
        rules=(rule,),
        refused=(roles.RuleObjection(rule=words, because=words),),
        failure=failure,
        proposal=proposal,
    )
    judgment = GivenJudgment(session="s", verdict="unlawful", citation=words, words=words, because=words, by=words)
    return FormalizedGroup(
        group=words,
        environment="banking",
        regulation=words,
        provisions={words: words},
        formalizations=(written,),
        comparisons=(Comparison(first="A", second="B", relation="separated", why=words),),
        sessions=(AskedSession(id="s", told=words, calls=1, outcomes={"A": "kept"}, judgments=(judgment,)),),
        left=("A",),
        determinacy="contested",
    )


def test_hostile_text_is_escaped() -> None:
    page = render_export(make_extraction_report([group()]))
    assert page.count("<script") == 1
    assert page.count("&lt;script&gt;") >= 20
    assert "default-src 'none'" in page


def test_a_group_that_was_not_read_is_a_notice_and_one_model_is_one_reader() -> None:
    page = render_export(make_extraction_report([group("Article 1", "no answer")]))
    assert page == render_export(make_extraction_report([group("Article 1", "no answer")]))
    assert "Article 1 was not read: no answer" in page
    assert "All rules are by one model" in page
    assert "contested" in page
