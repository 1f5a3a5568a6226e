"""Every use of Z3: encodings and bounded model checking."""
