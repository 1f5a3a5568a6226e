"""The roles: structured answers, checks and inputs; a table row for each role."""
