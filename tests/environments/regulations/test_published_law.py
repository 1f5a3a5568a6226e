"""The law as published in several documents, and the citations of rules in it."""

import re
from pathlib import Path

import pytest

from lawtrace.environments.regulations.published_law import (
    PublishedLaw,
    all_files,
    files_digest,
    read_published_law,
    regulation_files,
)
from lawtrace.environments.regulations.regulation import Provision, Regulation
from lawtrace.schemas.errors import InputError
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.rules import load_rules
from tests.support.published import DATA, published_text

ACT = """\
On care
Article 1
Care
1. A bank shall:
(a) ask first;
(b) record what it did.
2. It shall be quick.
Article 2
Scope
This act binds banks.
"""
STANDARDS = "Article 1\nCodes\nA code is used once.\nArticle 7\nTimes\nA code ends after five minutes.\n"


def write(folder: Path, **texts: str) -> list[Path]:
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return [folder / f"{name}.txt" for name in texts]


def test_a_citation_covers_the_points_below_it(tmp_path: Path) -> None:
    law = read_published_law(write(tmp_path, act=ACT), ())
    found = {
        citation: [one.citation for one in law.regulation.cited(citation)]
        for citation in ("Article 1(1)(b)", "Article 1(1)", "Article 1", "Article 2", "Article 3", "Article 1(1)(c)")
    }
    assert found == {
        "Article 1(1)(b)": ["Article 1(1)(b)"],
        "Article 1(1)": ["Article 1(1)(a)", "Article 1(1)(b)"],
        "Article 1": ["Article 1(1)(a)", "Article 1(1)(b)", "Article 1(2)"],
        "Article 2": ["Article 2"],
        "Article 3": [],
        "Article 1(1)(c)": [],
    }


def test_a_part_of_the_text_keeps_its_headings_and_opening_words(tmp_path: Path) -> None:
    law = read_published_law(write(tmp_path, act=ACT), ())
    assert law.layout({"Article 1(1)(b)"}).splitlines() == [
        "On care",
        "Article 1 Care",
        "1. A bank shall:",
        "  (b) record what it did.",
    ]
    assert " ".join(law.layout().split()) == " ".join(ACT.split())


def test_names_in_citations_find_their_documents(tmp_path: Path) -> None:
    files = write(tmp_path, standards=STANDARDS, act=ACT)
    cited = ("ACT Article 1(1)(a)", "ACT Article 2", "ACT Article 1(2)", "CODES Article 7", "CODES Article 1")
    law = read_published_law(files, cited)
    assert [document.name for document in law.documents] == ["CODES", "ACT"]
    assert all(law.regulation.cited(citation) for citation in cited)
    assert law.layout({"CODES Article 7", "ACT Article 2"}).splitlines()[:3] == [
        "CODES",
        "standards",
        "Article 7 Times",
    ]
    with pytest.raises(InputError, match=r"Article 1 stands in standards\.txt and in act\.txt"):
        read_published_law(files, ["Article 1(1)(a)"])


def test_a_defined_term_may_be_shortened() -> None:
    terms = ("breach", "unsecured health information", "use")
    provisions = tuple(Provision(citation=f"§ 1 ({term})", text="Words.") for term in terms)
    law = Regulation(id="R", title="T", source="S", restated=False, provisions=provisions)
    assert [one.citation for one in law.cited("§ 1 (unsecured)")] == ["§ 1 (unsecured health information)"]
    assert law.cited("§ 1 (un)") == law.cited("§ 1 (a)") == ()


def test_a_folder_holds_the_documents_of_several_environments(tmp_path: Path) -> None:
    (tmp_path / "clinic").mkdir()
    own = write(tmp_path / "clinic", breach="x", privacy="x")
    bank, other = write(tmp_path, banking="x", other="x")
    (tmp_path / "notes.csv").write_text("", encoding="utf-8")
    assert regulation_files([tmp_path], "clinic") == tuple(own)
    assert regulation_files([tmp_path], "banking") == (bank,)
    assert regulation_files([tmp_path], "payments") == (bank, other)
    assert regulation_files([bank], "clinic") == (bank,)
    assert set(all_files([tmp_path])) == {*own, bank, other}
    before = files_digest([bank])
    bank.write_text("y", encoding="utf-8")
    assert files_digest([bank]) != before
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no regulation document in this folder"):
        regulation_files([tmp_path / "empty"], "banking")


PSD2 = ("psd2_2015-2366_consolidated_2025-01-17_en.fmx4.xml", "psd2_2015-2366_oj_en.xhtml")
RTS = "rts_sca_2018-389_consolidated_2023-09-12_en.fmx4.xml"
GDPR = "gdpr_2016-679_consolidated_2016-05-04_en.fmx4.xml"
TEXTS = (
    ("banking", ("psd2_2015-2366_art_64-74_94-98.txt",)),
    ("banking", PSD2[:1]),
    ("banking", PSD2[1:]),
    ("telehealth", ("hipaa_security_rule_45cfr164_subpartC.txt",)),
    ("smart_home", ("cra_2024-2847_annex_I.txt",)),
    ("smart_home", ("cra_2024-2847_consolidated_2024-11-20_en.fmx4.xml",)),
    ("payments", (GDPR, PSD2[0], RTS, "dora_2022-2554_oj_en.xml")),
    ("clinic", ("hipaa_breach_privacy_45cfr164_subpartDE.txt",)),
    ("privacy_desk", (GDPR,)),
)


def published(name: str, files: tuple[str, ...]) -> PublishedLaw:
    domain = load_domain(name)
    rules = load_rules(domain.rules_file)
    cited = {citation for rule in rules for citation in rule.provisions} | domain.regulation.by_citation.keys()
    for file in files:
        published_text(f"regulations/{file}")
    return read_published_law([DATA / "regulations" / file for file in files], cited)


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize(("name", "files"), TEXTS)
def test_published_texts_contain_what_curated_rules_and_restatements_cite(name: str, files: tuple[str, ...]) -> None:
    domain, law = load_domain(name), published(name, files).regulation
    demanded = [rule for rule in load_rules(domain.rules_file) if rule.source == "law"]
    cited = {citation for rule in demanded for citation in rule.provisions}
    # A definition of another subpart, a page that is lost in this copy, and an act of which there is no copy.
    lost = {
        "clinic": ["§ 164.103 (required by law)", *(f"§ 164.512({one})" for one in ("a)(1", "a)(2", "b)(1)(i"))],
        "payments": ["Sanctions Article 2(2)"],
    }
    assert [one for one in sorted(cited) if not law.cited(one) and one not in lost.get(name, [])] == []
    assert [one.citation for one in domain.regulation.provisions if not law.cited(one.citation)] == lost.get(name, [])


DISAPPLIES = re.compile(r"\bnot apply|\bderogat|\bnotwithstanding|^except\b|\bexcept (?:as|when|to|for|where)\b", re.I)
"""Words of paragraphs that take something away from another one."""


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize(("name", "files"), [TEXTS[0], TEXTS[3], TEXTS[4], TEXTS[6], *TEXTS[7:]])
def test_paragraphs_that_disapply_others_are_restated_or_named_as_left_out(name: str, files: tuple[str, ...]) -> None:
    restated, law = load_domain(name).regulation, published(name, files).regulation
    known = {*restated.by_citation, *(one.citation for one in restated.omissions)}
    units = [(*one.within, one.citation) for one in law.provisions]
    articles = {unit[0] for unit in units if not known.isdisjoint(unit)}
    above = {citation for unit in units if unit[-1] in known for citation in unit}
    assert [
        one.citation
        for one, unit in zip(law.provisions, units, strict=True)
        if unit[0] in articles
        and DISAPPLIES.search(one.words())
        and known.isdisjoint(unit)
        and one.citation not in above
    ] == []
