"""Reproduction of the published evaluation of LogiSafetyBench: mock tools, grading profiles, causes of differences."""
