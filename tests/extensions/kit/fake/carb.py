"""The log of Kit, kept in lists."""

errors, warnings = [], []
log_error = errors.append
log_warn = warnings.append
