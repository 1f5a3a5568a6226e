"""Auditing what already happened: recorded conversations of any agent, judged against a rule set."""
