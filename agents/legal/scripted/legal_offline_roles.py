"""The scripted role behind each role of the legal benchmark."""

from collections.abc import Mapping

from lawtrace.agents.legal.decomposition import AGENT_ROLES
from lawtrace.agents.legal.scripted.section_classifier import map_parts
from lawtrace.agents.legal.scripted.term_matcher import apply_terms, infer_alignments
from lawtrace.agents.legal.scripted.word_overlap import (
    answer_part,
    answer_question,
    ask_back,
    integrate_parts,
    judge_atomicity,
    split_task,
)
from lawtrace.agents.scripted.offline_roles import ScriptedRole

LEGAL_OFFLINE_ROLES: Mapping[str, ScriptedRole] = {
    "meta_llm": answer_question,
    "decomposer": split_task,
    "atomicity_judge": judge_atomicity,
    **dict.fromkeys(AGENT_ROLES.values(), answer_part),
    "sufficiency_judge": ask_back,
    "integrator": integrate_parts,
    "section_mapper": map_parts,
    "application": apply_terms,
    "common_sense": infer_alignments,
    "twin_evaluator": lambda messages: '{"faults": []}',  # the checks by code stand alone
}
