"""YAML of sources that are not trusted."""

from typing import cast

import yaml

from lawtrace.environments.literals import as_json, items_of
from lawtrace.schemas.events import Json


class _NoAliases(yaml.SafeLoader):
    """Reads YAML without aliases: ten lines of them stand for more than memory holds, and no tool writes any."""

    def compose_node(self, parent: yaml.Node | None, index: object) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("an alias")
        return super().compose_node(parent, index)


def load_yaml(text: str) -> object:
    """The value of a text, with dates. Raises ValueError if it is not YAML, or has aliases."""
    try:
        return yaml.load(text, _NoAliases)  # noqa: S506 (a safe loader)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(" ".join(str(error).split()) or type(error).__name__) from error


def parse_yaml(text: str) -> Json:
    """The value of a text as JSON: names of fields are texts. Raises ValueError as `load_yaml`."""
    return as_json(_with_text_names(load_yaml(text)))


def _with_text_names(value: object) -> object:
    if isinstance(value, dict):
        return {str(name): _with_text_names(part) for name, part in cast("dict[object, object]", value).items()}
    return [*map(_with_text_names, items)] if (items := items_of(value)) else value
