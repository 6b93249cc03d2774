"""One piece of physics a file: a pass over the links or dofs of one tree, for one block of environments.

Every phase takes (model, state or control, work, block, worker): `block` selects the environments in the arrays of the
group, `worker` the work space of the worker.
"""
