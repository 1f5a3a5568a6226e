"""Running an environment: simulation, sessions, documentation."""
