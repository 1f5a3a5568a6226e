"""The embedded default: deterministic stand-ins that play the writing roles by rule.

With them the whole way can be walked on a fresh machine with no key and no network. They are a baseline that reports
call by its name, never a stand-in for a model's result.

Each is a function from the messages of a request to a text, and sees nothing but those messages.
"""

from collections.abc import Callable, Mapping, Sequence

from autogen_core.models import LLMMessage

from lawtrace.agents.offline.assistants import apply_terms, cut_paragraphs, infer_alignments
from lawtrace.agents.offline.critic import criticise_rules
from lawtrace.agents.offline.evaluator import review_request
from lawtrace.agents.offline.examiner import write_questions
from lawtrace.agents.offline.extractor import align_scope, extract_rules, map_obligations, refine_provisions
from lawtrace.agents.offline.lawyer import answer_part, answer_question, integrate_parts, judge_atomicity, split_task
from lawtrace.agents.offline.mapper import map_parts
from lawtrace.agents.offline.reader import read_request
from lawtrace.agents.offline.restater import restate_question
from lawtrace.agents.offline.writer import write_request
from lawtrace.agents.roles import RoleName

__all__ = ["OFFLINE_ROLES"]

OFFLINE_ROLES: Mapping[RoleName, Callable[[Sequence[LLMMessage]], str]] = {
    "scope_aligner": align_scope,
    "verifiability_refiner": refine_provisions,
    "tool_mapper": map_obligations,
    "policy_extractor": extract_rules,
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
