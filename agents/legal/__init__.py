"""Agents of the legal benchmark: the roles, their conversations, and their scripted versions."""

from typing import Literal

LegalRole = Literal[
    "meta_llm",
    "decomposer",
    "atomicity_judge",
    "role_agent",
    "integrator",
    "section_mapper",
    "facts",
    "rules",
    "application",
    "common_sense",
    "question_writer",
]
