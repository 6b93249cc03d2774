"""Many runs of a stage: what varies from run to run, where they are stepped, and what is kept of them."""
