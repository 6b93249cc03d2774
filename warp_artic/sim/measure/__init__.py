"""What is measured on a model: residuals of its identities, operations, memory, time of phases, peaks of a device."""
