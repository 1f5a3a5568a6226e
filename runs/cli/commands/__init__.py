"""The signatures of the commands: arguments, options and help, without what carries them out."""
