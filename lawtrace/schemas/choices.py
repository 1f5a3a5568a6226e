"""The choices that recipes, stage files and the command line name: modes, styles, forms and profiles.

They are apart from what they choose between, so that a command line is read without importing it.
"""

from typing import Literal, get_args

Style = Literal["goal", "workflow"]
"""An instruction states the outcome, or the steps."""
STYLES: tuple[Style, ...] = get_args(Style)

TaskVariant = Literal["authorized"]
"""Files and recipes name it. Earlier versions also made copies of tasks in which authorization was denied."""

TaskMode = Literal["tasks", "coverage", "contrasts", "safe-harbour", "dockets"]
"""What traces are made for: a trace mode, contrast pairs, safe harbours, or sessions with many matters."""

ActingMode = Literal["program", "tools", "dialogue"]
"""A model writes one program, or calls tools turn by turn, without or with a user who answers questions."""

ShieldMode = Literal["off", "warn", "refuse"]
"""``warn``: a call that breaks a rule is carried out, ``refuse``: it is not. The agent is told in either case."""

GuardMode = Literal["record", "warn", "refuse"]
"""What a guard does about a call after which not all duties can be met: nothing, a warning, a refusal."""

Fallback = Literal["refuse", "allow"]
"""What a guard does about a call that it cannot decide."""

OnArguable = Literal["ask", "refuse", "allow"]
"""What a guard does about a call that is ruled out under some readings of the law only. ``ask``: a callback."""

RegulationForm = Literal["text", "restated", "named", "none"]
"""What a prompt contains of the law: the text as published, a restatement, its name, nothing."""

AuditFormat = Literal["html", "csv", "sarif", "oscal"]
"""The formats in which an audit writes its verdicts besides its own; ``html`` is a page."""
AUDIT_FORMATS: tuple[AuditFormat, ...] = get_args(AuditFormat)

GradingProfile = Literal["strict", "published", "published-shared"]
"""Definitions for judging: lawtrace's, the published ones, or the published ones with an expected audit log that the
goal attempt of a pair consumes (`benchmarks.published.grading`)."""
GRADING_PROFILES: tuple[GradingProfile, ...] = get_args(GradingProfile)

PublishedDomainName = Literal["bank_manager", "teladoc", "smart_lock"]
"""The domains of LogiSafetyBench."""

Behaviour = Literal["presses", "changes_mind", "withdraws"]
"""What a user does besides answering: presses to skip steps, corrects a value, or withdraws the request."""

BEHAVIOURS: tuple[Behaviour, ...] = get_args(Behaviour)

Feedback = Literal["none", "prose", "traces"]
"""What the author of rules gets back besides the objections of code: nothing; those of the critic; those of a critic
that sees sessions of each rule, and sessions that were judged by the text."""

RoleName = Literal[
    "policy_extractor",
    "ltl_critic",
    "annotator",
    "instruction_generator",
    "masking_evaluator",
    "independent_reader",
    "trace_writer",
    "user",
    "executor",
]

ROLES: tuple[RoleName, ...] = get_args(RoleName)

EXTRACTION_ROLES = ROLES[:3]
"""The roles of the extraction."""
