"""The solver of warp_artic for models of Newton."""
