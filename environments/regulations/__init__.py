"""Legal texts from files to trees of provisions with stable citations."""

from lawtrace.environments.regulations.reading import read_legal_text
from lawtrace.environments.regulations.tree import LegalText, Node

__all__ = ["LegalText", "Node", "read_legal_text"]
