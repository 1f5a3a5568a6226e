"""The templates, the style and the script of the report; a package only so that they are installed with it."""
