"""What an environment declares: types, state, tools, effects."""
