"""The words we send: one file a prompt, and the loader. Floor 1."""
