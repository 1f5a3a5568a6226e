"""Documents as lines: what the readers of decisions and of regulations start from."""
