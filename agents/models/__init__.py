"""Model clients: a name in a recipe becomes a client that is recorded, limited, timed and retried."""
