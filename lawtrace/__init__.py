"""lawtrace measures whether agents that call tools comply with regulations, and judges or guards agents already
running."""
