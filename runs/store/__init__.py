"""What a run stores: its event log, stage files, and the content-addressed stage store."""
