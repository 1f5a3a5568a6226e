"""The built-in environments, and loading them."""
