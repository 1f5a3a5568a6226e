"""The client stack: from a model spec to a client that is logged, limited, timed and retried."""
