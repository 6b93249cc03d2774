"""The body of a native function on lane vectors of the compiler, which CPUs compute with one instruction."""


def lane_body(lanes: int, scalar: str, statements: str) -> str:
    """A native body; `statements` see lane vectors A, B, X and set R. `vec_t` is aligned to its scalar only."""
    alignment = 4 if scalar == "float" else 8
    return f"""
    typedef {scalar} V __attribute__((ext_vector_type({lanes}), aligned({alignment})));
    wp::vec_t<{lanes}, {scalar}> result;
    V& R = *(V*)&result;
    {statements}
    return result;"""
