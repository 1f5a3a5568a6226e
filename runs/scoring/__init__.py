"""The dual oracle: is the goal state reached, and were all rules kept?"""
