"""What can be proved: LTLf, rules, trace search, coverage, masking. Floor 2, see README.md in this folder."""
