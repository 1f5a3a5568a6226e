"""Reading of regulations and environments from files, with errors that name the place."""

import re
from pathlib import Path

import pytest

from lawtrace.environments.documents.law_parser import read_legal_text
from lawtrace.environments.regulations.regulation import Provision, load_regulation
from lawtrace.schemas.errors import InputError
from lawtrace.solver.declarations.loader import BUILT_IN_DOMAINS, load_domain
from tests.support.published import DATA, published_text

HEAD = 'id = "R"\ntitle = "T"\nsource = "S"\nrestated = true\n'
PROVISION = '[[provisions]]\ncitation = "Article 1"\ntext = "Words."\n'


def write(folder: Path, text: str) -> Path:
    path = folder / "law.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_regulation_is_read(tmp_path: Path) -> None:
    regulation = load_regulation(write(tmp_path, HEAD + PROVISION))
    assert regulation.by_citation["Article 1"] == Provision(citation="Article 1", text="Words.")
    assert regulation.text() == "T (S)\n\nArticle 1: Words."


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("id = ", "not a TOML file"),
        (HEAD, "provisions: is missing"),
        (HEAD + "provisions = []\n", "line 5: provisions: "),
        (HEAD + PROVISION + PROVISION, "a citation occurs twice"),
        (HEAD + PROVISION + '[[provisions]]\ncitation = "Article 2"\n', r"line 8: provisions\.1\.text: is missing"),
        (HEAD + PROVISION + 'note = "x"\n', r"line 8: provisions\.0\.note: is not a known key"),
        (HEAD.replace("true", "7") + PROVISION, "line 4: restated: "),
        (PROVISION, "id: is missing"),
    ],
)
def test_defects_of_a_file_are_named(tmp_path: Path, text: str, place: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError, match=place) as caught:
        load_regulation(path)
    assert str(caught.value).startswith(str(path))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b"id = '\xe9'")
    for name, words in [
        ("none.toml", "cannot be read: No such file"),
        (".", "cannot be read"),
        ("latin.toml", "not UTF-8 text"),
    ]:
        with pytest.raises(InputError, match=words):
            load_regulation(tmp_path / name)


@pytest.mark.parametrize("name", BUILT_IN_DOMAINS)
def test_built_in_environments_are_complete(name: str) -> None:
    domain = load_domain(name)
    assert domain.environment.name == name
    assert domain.rules_file.is_file()
    assert all(not provision.text.endswith((" ", "\n")) for provision in domain.regulation.provisions)


ORIGINALS = {
    "banking": ("psd2_2015-2366_art_64-74_94-98.txt",),
    "telehealth": ("hipaa_security_rule_45cfr164_subpartC.txt",),
    "smart_home": ("cra_2024-2847_annex_I.txt",),
    "payments": (
        "psd2_2015-2366_consolidated_2025-01-17_en.fmx4.xml",
        "rts_sca_2018-389_consolidated_2023-09-12_en.fmx4.xml",
        "dora_2022-2554_oj_en.xml",
        "gdpr_2016-679_consolidated_2016-05-04_en.fmx4.xml",
    ),
    "clinic": ("hipaa_breach_privacy_45cfr164_subpartDE.txt",),
    "privacy_desk": ("gdpr_2016-679_consolidated_2016-05-04_en.fmx4.xml",),
}
WORDS_IN_A_ROW = 6


@pytest.mark.shared
@pytest.mark.parametrize("name", BUILT_IN_DOMAINS)
def test_a_restatement_copies_no_sentence(name: str) -> None:
    """No long sequence of words equals the original."""
    original = f" {' '.join(word for file in ORIGINALS[name] for word in _words(_original_text(file)))} "
    for provision in load_domain(name).regulation.provisions:
        restated = _words(provision.text)
        rows = (restated[start : start + WORDS_IN_A_ROW] for start in range(len(restated) - WORDS_IN_A_ROW + 1))
        assert [row for row in rows if f" {' '.join(row)} " in original] == [], provision.citation


def _original_text(file: str) -> str:
    text = published_text(f"regulations/{file}")
    return " ".join(read_legal_text(DATA / "regulations" / file).words()) if file.endswith(".xml") else text


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def test_an_unknown_environment_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"did you mean 'banking'.*built in: banking"):
        load_domain("bankin")
    with pytest.raises(InputError, match="there is no environment 'xyz'; built in"):
        load_domain("xyz")


def test_the_same_environment_under_another_text(tmp_path: Path) -> None:
    other = load_regulation(write(tmp_path, HEAD + PROVISION))
    domain = load_domain("banking").with_regulation(other)
    assert (domain.regulation, domain.environment) == (other, load_domain("banking").environment)
