"""Reference traces of the banking environment with its curated rules, for several test modules."""

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.planner.synthesis import synthesize
from lawtrace.solver.rules import load_rules

RULES = load_rules(load_domain("banking").rules_file)
TRACES = tuple(synthesize(ENVIRONMENT, RULES, count=20, length=8, seed=8))
