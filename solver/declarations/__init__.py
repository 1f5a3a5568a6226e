"""The loader of environments, built-in ones and folders of users."""
