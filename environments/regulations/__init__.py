"""Legal texts from files to trees of provisions with stable citations."""

from lawtrace.environments.regulations.formats import read_legal_text
from lawtrace.environments.regulations.legal_text import LegalText, Node

__all__ = ["LegalText", "Node", "read_legal_text"]
