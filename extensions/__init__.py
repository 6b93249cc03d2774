"""Hosts that step stages with warp_artic, one package each."""
