"""Agents of the legal benchmark: the roles, their conversations, and their scripted versions."""

from typing import Literal

LegalRole = Literal[
    "meta_llm",
    "decomposer",
    "atomicity_judge",
    "facts_agent",
    "rules_agent",
    "application_agent",
    "common_sense_agent",
    "sufficiency_judge",
    "integrator",
    "section_mapper",
    "application",
    "common_sense",
    "fact_finder",
    "twin_writer",
    "twin_evaluator",
    "twin_reader",
]
