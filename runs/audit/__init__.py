"""Audits: recorded conversations and logs, judged by rules."""
