"""Regulations: the provisions that rules cite, and the law as published."""
