"""The roles: structured answers, checks and inputs; a table row for each role."""

from typing import Literal, get_args

__all__ = ["EXTRACTION_ROLES", "ROLES", "RoleName"]

RoleName = Literal[
    "scope_aligner",
    "verifiability_refiner",
    "tool_mapper",
    "policy_extractor",
    "ltl_critic",
    "instruction_generator",
    "masking_evaluator",
    "independent_reader",
    "trace_writer",
    "user",
    "executor",
]
ROLES: tuple[RoleName, ...] = get_args(RoleName)
EXTRACTION_ROLES: tuple[RoleName, ...] = (
    "scope_aligner",
    "verifiability_refiner",
    "tool_mapper",
    "policy_extractor",
    "ltl_critic",
)
"""The roles of the extraction."""
