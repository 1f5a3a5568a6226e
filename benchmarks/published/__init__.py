"""Reproduction of the published evaluation of LogiSafetyBench: its data, mock tools, grading profiles and records.

`lawtrace tasks import`, `grade` and `report` find it in a checkout (`lawtrace.runs.published`).
"""
