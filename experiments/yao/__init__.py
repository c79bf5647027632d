"""Yao, Choi and Darwiche: learning parameters under equivalence constraints; section 7, rerun."""
