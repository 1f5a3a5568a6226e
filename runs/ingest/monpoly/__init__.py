"""Rules and logs of MonPoly."""
