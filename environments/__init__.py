"""What can happen: declarations, simulation, regulations and the jail. Floor 1, see README.md in this folder."""
