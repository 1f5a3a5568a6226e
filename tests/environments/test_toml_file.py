"""Places of keys in TOML files."""

from pathlib import Path

from lawtrace.environments.toml_file import place_in_toml


def test_the_line_of_a_key_of_its_table_or_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "law.toml"
    path.write_text('id = "R"\n[[provisions]]\ncitation = "1"\n[[provisions]]\ntext = "x"\n', encoding="utf-8")
    assert place_in_toml(path, ("provisions", 1, "text")) == f"{path}, line 5"
    assert place_in_toml(path, ("provisions", 0, "text")) == f"{path}, line 2"
    assert place_in_toml(path, ("title",)) == str(path)
    assert place_in_toml(path, ()) == str(path)
