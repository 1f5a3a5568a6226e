"""Twin questions: two sets of facts that differ in one fact and have different answers, both proved by rules."""
