"""The embedded default: deterministic stand-ins that play the writing roles by rule.

With them the whole way can be walked on a fresh machine with no key and no network. They are a baseline that reports
call by its name, never a stand-in for a model's result.

Each is a function from the messages of a request to a text, and sees nothing but those messages.
"""

from collections.abc import Callable, Mapping, Sequence

from autogen_core.models import LLMMessage

from lawtrace.agents.legal.scripted.negation_templates import restate_question
from lawtrace.agents.legal.scripted.section_classifier import map_parts
from lawtrace.agents.legal.scripted.term_matcher import apply_terms, cut_paragraphs, infer_alignments
from lawtrace.agents.legal.scripted.word_overlap import (
    answer_part,
    answer_question,
    integrate_parts,
    judge_atomicity,
    split_task,
)
from lawtrace.agents.legal.scripted.yes_no_questions import write_questions
from lawtrace.agents.roles import RoleName
from lawtrace.agents.scripted.offline_extraction import (
    align_scope,
    criticise_rules,
    map_obligations,
    propose_offline_rules,
    refine_provisions,
)
from lawtrace.agents.scripted.offline_writing import review_request, write_request
from lawtrace.agents.scripted.request_parser import read_request

__all__ = ["OFFLINE_ROLES"]

OFFLINE_ROLES: Mapping[RoleName, Callable[[Sequence[LLMMessage]], str]] = {
    "scope_aligner": align_scope,
    "verifiability_refiner": refine_provisions,
    "tool_mapper": map_obligations,
    "policy_extractor": propose_offline_rules,
    "ltl_critic": criticise_rules,
    "instruction_generator": write_request,
    "masking_evaluator": review_request,
    "independent_reader": read_request,
    "meta_llm": answer_question,
    "decomposer": split_task,
    "atomicity_judge": judge_atomicity,
    "role_agent": answer_part,
    "integrator": integrate_parts,
    "section_mapper": map_parts,
    "facts": cut_paragraphs,
    "rules": cut_paragraphs,
    "application": apply_terms,
    "common_sense": infer_alignments,
    "question_writer": write_questions,
    "restater": restate_question,
}
