"""Human verification of rules and tasks: pages, votes and acceptance (P 4.2)."""
