"""One piece of physics a file: a pass over the links or dofs of one tree, for one column of environments.

Every phase takes (model, state or control, work, column, slot): `column` selects the environments in the arrays of the
group, `slot` the work space of the worker.
"""
