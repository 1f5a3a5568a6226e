"""MonPoly logs, and their audit."""
