"""The public names of the package exist, and its list of them is sorted."""

import lawtrace.solver.ltlf


def test_every_public_name_exists_once_in_order() -> None:
    public = lawtrace.solver.ltlf.__all__
    assert list(public) == sorted(set(public))
    assert all(hasattr(lawtrace.solver.ltlf, name) for name in public)
