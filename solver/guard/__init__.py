"""Guards decide whether a call may happen, so that afterwards all duties can still be met."""
