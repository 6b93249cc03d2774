"""Python functions of a source that is put together, for Warp, which reads the source of a function."""

import linecache


def defined(name: str, source: str, names: dict):
    """The function of a name that a source defines, which is kept where Warp looks for it.

    `names` are its globals; one of them is `__name__`, the module that it belongs to.
    """
    path = f"<{name}>"
    linecache.cache[path] = len(source), None, source.splitlines(keepends=True), path
    exec(compile(source, path, "exec"), names)
    return names[name]
