"""One search: is there a trace, from here, in this world, that keeps these rules and reaches this goal?"""
