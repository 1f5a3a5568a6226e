"""Places of keys in TOML files."""

from pathlib import Path

import pytest

from lawtrace.environments.toml_file import place_in_toml, read_toml
from lawtrace.schemas.errors import InputError


def test_the_line_of_a_key_of_its_table_or_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "law.toml"
    path.write_text('id = "R"\n[[provisions]]\ncitation = "1"\n[[provisions]]\ntext = "x"\n', encoding="utf-8")
    assert place_in_toml(path, ("provisions", 1, "text")) == f"{path}, line 5"
    assert place_in_toml(path, ("provisions", 0, "text")) == f"{path}, line 2"
    assert place_in_toml(path, ("title",)) == str(path)
    assert place_in_toml(path, ()) == str(path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a = " + "[" * 100_000, "nested too deeply"),
        ("a." * 100_000 + "a = 1", "a key has more than 100 parts"),
        ("[" + "'a' . " * 100_000 + "a]", "a key has more than 100 parts"),
        ("a = " + "{a=" * 100_000, "nested too deeply"),
        ("a = " + "9" * 100_000, "Exceeds the limit"),
        ("a = ", "Invalid value"),
    ],
    ids=("lists", "long key", "long table name", "tables", "number", "cut"),
)
def test_a_file_that_is_no_toml_is_named(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "x.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=f"{path}: not a TOML file: .*{reason}"):
        read_toml(path)
