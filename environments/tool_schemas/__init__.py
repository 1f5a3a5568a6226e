"""Tools without state from schemas that exist: JSON schemas of tool lists, and signatures of Python tools."""
