"""The published domains: where each stands in our house, how its states read here, and what its programs lack.

A published state keeps less than ours, and a published program prints less than it means. What is added and repaired is
here, one module for each domain, and every import says it in its notes.
"""

from collections.abc import Mapping
from typing import Literal

from lawtrace.runs.published.domains.bank import BANK
from lawtrace.runs.published.domains.domain import PublishedDomain
from lawtrace.runs.published.domains.lock import LOCK
from lawtrace.runs.published.domains.teladoc import TELADOC

__all__ = ["DOMAINS", "Domain", "PublishedDomain"]

Domain = Literal["bank_manager", "teladoc", "smart_lock"]

DOMAINS: Mapping[Domain, PublishedDomain] = {"bank_manager": BANK, "teladoc": TELADOC, "smart_lock": LOCK}
