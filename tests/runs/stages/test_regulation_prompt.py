"""How the law is given to a model under test: as published, restated, by its name, or not at all."""

from pathlib import Path
from typing import Any

import pytest

from lawtrace.agents.prompt_context import PromptContext, RegulationText, tools_system
from lawtrace.environments.regulations.published_law import read_published_law
from lawtrace.runs.stages.artifacts import ATTEMPTS, EXTRACTED_RULES
from lawtrace.runs.stages.pipeline import TASK_STAGES
from lawtrace.runs.stages.regulation_prompt import Law
from lawtrace.runs.stages.resolve import inputs_of
from lawtrace.runs.stages.stage import planned_keys
from lawtrace.runs.tasks import Task
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Event
from lawtrace.schemas.recipe import Recipe
from lawtrace.schemas.task_rows import CallRow, Contrast
from lawtrace.solver.declarations.loader import BUILT_IN_DOMAINS, load_domain
from lawtrace.solver.rules import Rule, load_rules
from tests.support.bank_law import write_bank_law

BANKING = load_domain("banking")
FIRST, SECOND, THIRD, FOURTH, *_ = BANKING.regulation.provisions
LAW = BANKING.regulation.id
RULES = (
    Rule(id="checked", formula="G(PayBill -> O CheckAuthorization)", regulation=LAW, provisions=(FIRST.citation,)),
    Rule(
        id="recorded",
        formula="G(PayBill -> F RecordAuditEvent)",
        regulation=LAW,
        provisions=(SECOND.citation, THIRD.citation),
    ),
    Rule(id="told", formula="G(SearchPayee -> F RecordAuditEvent)", regulation=LAW, provisions=(FOURTH.citation,)),
)
ALL = {FIRST.citation, SECOND.citation, THIRD.citation, FOURTH.citation}


def task(name: str, applicable: tuple[str, ...], pair: str | None = None, asked: tuple[str, ...] = ()) -> Task:
    fields: dict[str, Any] = {"pair": pair, "fact": "f", "table": "t", "key": "k", "field": "x"}
    return Task(
        id=name,
        environment="banking",
        rules=RULES,
        applicable=applicable,
        initial_state={},
        target_state={},
        asked_calls=tuple(CallRow(event=Event(tool, {}), origins={}) for tool in asked),
        contrast=None if pair is None else Contrast(**fields, value=1, other=2),
        program="",
        instructions={},
    )


def restated(words: int | None = None, seed: int = 1) -> Law:
    return Law("restated", BANKING.regulation, words=words, seed=seed)


def system(law: RegulationText) -> str:
    return tools_system(BANKING.environment, PromptContext(law=law))


def test_the_prompt_says_of_the_law_what_is_set(tmp_path: Path) -> None:
    asked = task("a", ("checked",))
    documents = read_published_law([write_bank_law(tmp_path)], ())
    given = {
        "text": Law("text", BANKING.regulation, documents),
        "restated": restated(),
        "applying": restated(words=0),
        "named": Law("named", BANKING.regulation),
        "none": Law("none", BANKING.regulation, manual=False),
    }
    prompts = {name: system(law.regulation_texts([asked])["a"]) for name, law in given.items()}
    assert [FIRST.words() in text for text in prompts.values()] == [False, True, True, False, False]
    assert [SECOND.words() in text for text in prompts.values()] == [False, True, False, False, False]
    assert ["an authorization check must come before" in text for text in prompts.values()] == [True, *[False] * 4]
    assert "restated" not in prompts["named"]
    assert "(PSD2)" in prompts["named"]
    assert "expected to know" in prompts["named"]
    assert not [word for word in ("regulat", "provision", "PSD2", "law") if word in prompts["none"].lower()]


def test_the_text_keeps_the_layout_of_the_document(tmp_path: Path) -> None:
    documents = read_published_law([write_bank_law(tmp_path)], ())
    rules = (RULES[0].model_copy(update={"provisions": ("Article 72",)}),)
    asked = task("a", ("checked",)).model_copy(update={"rules": rules})
    whole = Law("text", BANKING.regulation, documents).regulation_texts([asked])["a"]
    assert (whole.extent, whole.text.splitlines()[:3]) == (
        "whole",
        [
            "law",
            "Article 72 Evidence",
            "1. Every transfer of funds and every bill payment must afterwards be recorded as an audit event.",
        ],
    )
    part = Law("text", BANKING.regulation, documents, words=0).regulation_texts([asked])["a"]
    assert (part.extent, part.text.splitlines()) == (
        "provisions",
        [
            "law",
            "Article 72 Evidence",
            "1. Every transfer of funds and every bill payment must afterwards be recorded as an audit event.",
            "2. Records are kept.",
        ],
    )


def test_other_provisions_fill_the_words_in_the_order_of_the_text() -> None:
    asked, order = task("a", ("checked",)), [p.citation for p in BANKING.regulation.provisions]

    def shown(words: int, seed: int = 1) -> list[str]:
        text = restated(words, seed).regulation_texts([asked])["a"].text
        return [line.split(": ")[0] for line in text.splitlines()[2:]]

    few, more = shown(100), shown(300)
    assert {FIRST.citation} < set(few) < set(more)
    assert more == sorted(more, key=order.index)
    assert sum(len(BANKING.regulation.by_citation[one].words().split()) for one in more) <= 300
    assert shown(300) == more != shown(300, seed=2)
    assert shown(100_000) == order


def test_both_sides_of_a_pair_get_the_same_text() -> None:
    tasks = [task("a", ("checked",), "p"), task("b", ("told",), "p"), task("c", ("recorded",))]
    both = {FIRST.citation, FOURTH.citation}
    assert restated(0).applicable(tasks) == {"a": both, "b": both, "c": {SECOND.citation, THIRD.citation}}
    given = restated(200).regulation_texts(tasks)
    assert given["a"] == given["b"] != given["c"]


def test_what_was_asked_counts_where_the_reference_declines_it() -> None:
    assert restated(0).applicable([task("a", ("told",), asked=("PayBill",))]) == {"a": ALL}


def test_one_side_of_a_pair_is_an_error() -> None:
    with pytest.raises(InputError, match="contrast pair p: only one side"):
        restated(0).regulation_texts([task("a", ("checked",), "p")])


def test_rules_must_rest_on_what_is_shown(tmp_path: Path) -> None:
    own = Rule(id="own", formula="G !PayBill", regulation="law", provisions=("Article 97(2)", "Article 72"))
    documents = read_published_law([write_bank_law(tmp_path)], ())
    Law("text", BANKING.regulation, documents).check([own])
    for form in ("named", "none"):
        Law(form, BANKING.regulation, documents).check([own])
    restated().check(RULES)
    with pytest.raises(InputError, match=r"environment \(PSD2\): law Article 97\(2\), law Article 72; name the"):
        restated().check([*RULES, own])
    with pytest.raises(InputError, match=r"that are not in law\.txt: Article 64\(1\), .*; give the documents"):
        Law("text", BANKING.regulation, documents).check(RULES)
    with pytest.raises(InputError, match=r"'text' needs the documents of the law"):
        Law("text", BANKING.regulation).check(RULES)


@pytest.mark.parametrize("name", BUILT_IN_DOMAINS)
def test_the_restatements_contain_what_the_curated_rules_cite(name: str) -> None:
    domain = load_domain(name)
    Law("restated", domain.regulation).check(load_rules(domain.rules_file))


def stage_keys(law: Path, **options: Any) -> dict[str, str]:
    recipe = Recipe.model_validate({"regulation": {"files": str(law)}, **options})
    return planned_keys(TASK_STAGES, inputs_of(recipe, BANKING), [EXTRACTED_RULES, ATTEMPTS])


def test_attempts_and_extraction_depend_on_what_they_are_given(tmp_path: Path) -> None:
    law = write_bank_law(tmp_path)
    settings: list[dict[str, Any]] = [
        {"attempts": {"regulation": "restated"}},
        {"attempts": {"regulation": "none"}},
        {"attempts": {"regulation": "text"}},
        {"attempts": {"regulation": "text", "regulation_words": 100}},
        {"attempts": {"regulation": "text"}, "rules": {"regulation": "text"}},
    ]
    before = [stage_keys(law, **one) for one in settings]
    law.write_text(law.read_text(encoding="utf-8").replace("fair", "low"), encoding="utf-8")
    after = [stage_keys(law, **one) for one in settings]
    assert len({keys["attempts"] for keys in before[:4]}) == 4
    both = list(zip(before, after, strict=True))
    assert [old["attempts"] != new["attempts"] for old, new in both] == [False, False, True, True, True]
    assert [old["extraction"] != new["extraction"] for old, new in both] == [False, False, False, False, True]
