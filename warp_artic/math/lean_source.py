"""The source of a kernel as Warp writes it, for CPUs or CUDA, rewritten so that it compiles in a tenth of the time.

Warp passes everything by value: a call of a phase copies some 200 array headers of 56 bytes, and an operation on lanes
arrays of scalars. A compiler can undo that only where everything is inlined, which multiplies a step kernel of 14,000
statements by ten. What is done here instead changes no operation on numbers and no order of them, so that results are
bitwise the same:

- Structs and arrays are passed by reference. Nothing writes to a parameter, else it stays a value; `__restrict` tells
  that what is stored in arrays is not in the structs.
- A header of an array is used where it is, not copied: `work.v[i, worker]` is one address.
- No index is negative. What `kernels.layout` says of arrays is said at each access.
- Lanes are one vector of the compiler, not an array of scalars.
- Functions that come to INLINED or more statements when all that they call is inlined are compiled once, and called.
- A loop over `range(end)` or `range(first, end)` counts one integer up to another. Warp's own ranges have a step whose
  sign is asked for in each turn, which made a dozen scalar operations of each turn of the inner loops of matrices.
- Derivatives of functions, which no kernel of ours has, are left out.

This reads what Warp writes, which no promise covers: whatever does not look as it is known here raises
UnknownSourceError, and `math.lean_codegen` leaves the source as it is.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

INLINED = 800
"""Statements, with all calls inlined, from which on a function is compiled once and called.

Step kernel of float32 lanes on AVX-512: CPU seconds to compile, and the time of a step against everything inlined as
Warp writes it (85 s, 1), of the arm, the humanoid and the hand with tendons. At -O2, 1500: 11 s, 1.00, 0.99, 1.00;
800: 9 s, 1.00, 1.00, 0.99; 400: 7.4 s, 1.5, 1.3, 1.3 (rotations and eliminations are called then); 200: 7.7 s, 1.7,
1.5, 1.5. The source alone, with nothing optimized, takes 4 s."""

INLINED_TAPED = 200
"""The same of kernels on taped numbers, whose operations are longer, so that less is lost by a call.

Step kernel of float64 on AVX-512: 39 CPU seconds to compile with 800, 31 with 400 and 26 with 200, where `gradient`
takes 1.04 times as long. Of dual numbers it takes 27, 22 and 19, but their steps 1.1 to 1.25 times as long."""

TAPED = "__attribute__((noinline))"
"""What only operations on taped numbers have."""

FORWARD = "// forward\n"
"""What Warp writes before the statements of a function."""

WEIGHT_OF_NATIVE = 3
"""Statements that a native function counts for."""

NO_GAPS = "a.strides[0] = sizeof(*a.data);"
"""In a native function that gives an array whose layout is known: that its rows, or the entries of a table, are next to
each other. An array of rows next to each other has one column."""

ON_CPU = "#if !defined(__CUDACC__)"
"""In such a function: that it says so of a CPU alone. On CUDA all workers share the array, and each has a column."""

PREAMBLE = """
namespace lean
{
template <class T> CUDA_CALLABLE inline T* at(const wp::array_t<T>& a, int i)
{
    return (T*)((char*)a.data + (wp::int64)i * a.strides[0]);
}
template <class T> CUDA_CALLABLE inline T* at(const wp::array_t<T>& a, int i, int j)
{
    return (T*)((char*)a.data + (wp::int64)i * a.strides[0] + (wp::int64)j * a.strides[1]);
}
template <class T> CUDA_CALLABLE inline T* at(const wp::array_t<T>& a, int i, int j, int k)
{
    return (T*)((char*)a.data + (wp::int64)i * a.strides[0] + (wp::int64)j * a.strides[1]
        + (wp::int64)k * a.strides[2]);
}
template <class T> CUDA_CALLABLE inline T* at_no_gaps(const wp::array_t<T>& a, int i) { return a.data + i; }
template <class T> CUDA_CALLABLE inline T* at_no_gaps(const wp::array_t<T>& a, int i, int) { return a.data + i; }
template <class T> CUDA_CALLABLE inline wp::array_t<T> no_gaps(wp::array_t<T> a)
{
    a.strides[0] = sizeof(T);
    return a;
}
template <class T> CUDA_CALLABLE inline T* at_of_workers(const wp::array_t<T>& a, int workers, int i, int j)
{
    return a.data + ((wp::int64)i * workers + j);
}
template <class T> CUDA_CALLABLE inline wp::array_t<T> of_workers(wp::array_t<T> a, int workers)
{
    a.strides[0] = workers * (int)sizeof(T);
    a.strides[1] = sizeof(T);
    return a;
}
}

"""
"""Addresses of entries."""

LANES = """struct {name}
{{
    typedef {scalar} V __attribute__((ext_vector_type({lanes}), aligned({alignment})));
    V v;
    {scalar}& operator[](int i) {{ return (({scalar}*)this)[i]; }}
    const {scalar}& operator[](int i) const {{ return ((const {scalar}*)this)[i]; }}
    {name}& operator+=(const {name}& other) {{ v += other.v; return *this; }}
}};
"""
"""One vector of the compiler with the size and the alignment of `wp::vec_t`. A struct keeps its alignment where it is
the argument of a template, which a vector does not."""

READERS = {"load", "address", "array_store", "copy", "where", "extract"}
"""Functions of Warp that do not write to a struct or an array that they are given."""

_HEAD = re.compile(
    r"((?:static |WP_NOINLINE |WP_FORCEINLINE |CUDA_CALLABLE |extern \"C\" |__launch_bounds__\([^)]*\) |__global__ )*)"
    r"([^\n(]+?) (\w+)\(\n"
    r"((?:    [^\n]*\n)*?    [^\n]*)\)\n\{\n"
)
_PARAMETER = re.compile(r"    (.+?) ?(?<=[ *&])(\w+)$")
_STRUCT = re.compile(r"struct (\w+)\n\{\n(.*?)^\};\n", re.M | re.S)
_VARIABLE = re.compile(r"\bvar_\w+\b")
_DECLARATION = re.compile(r"^    (?:const )?(\S.*[>*\w]) (var_\d+)(?: = [^;]*)?;$", re.M)
_ARGUMENT = re.compile(r"^    (\w+) (var_\w+) = _wp_args->(\w+);$", re.M)
_ASSIGNED = re.compile(r"^ +(?:[\w:]+ )?(?:wp::assign\()?(var_\w+)(?:(?:\.\w+)* [-+*/]?= |,)", re.M)
_ADDRESS = re.compile(r"^ *(var_\d+) = &\(?\(?(var_\w+)\)?((?:\.\w+)*)\);$", re.M)
_LOAD = re.compile(r"^ *(var_\d+) = wp::load\((var_\d+)\);$", re.M)
_ENTRY = re.compile(r"wp::address\((var_\w+), ([^()]*)\)")
_STORE = re.compile(r"wp::array_store\((var_\w+), ([^()]*), (var_\w+)\);")
_WARP_CALL = re.compile(r"wp::(\w+)\(([^()]*)\)")
_CALL = re.compile(r"(?<![\w:])(\w+)\(((?:var_\w+(?:, )?)+)\);")
_RANGE = re.compile(r"(var_\d+) = wp::range\((?:(var_\w+), )?(var_\w+)\);")
_RANGE_OF_STEPS = re.compile(r"(var_\d+) = wp::range\(var_\w+, var_\w+, var_\w+\);")
_KNOWN = re.compile(
    r"^    (var_\d+) = &\(\((?P<owner>var_\w+)\)\.(?P<field>\w+)\);\n"
    r"    (var_\d+) = wp::load\(\1\);\n"
    r"    (var_\d+) = (?P<function>\w+)\(\4\);\n"
    r"    (?P=owner)\.(?P=field) = \5;\n",
    re.M,
)


class UnknownSourceError(Exception):
    """A source does not look as those of the versions of Warp that are known."""


@dataclass
class Function:
    """A function of a source."""

    attributes: str
    returns: str
    name: str
    parameters: list[tuple[str, str]]
    """Types and names."""
    body: str
    calls: list[str] = field(default_factory=list)
    """Functions of the source that it calls, each as often as it does."""
    is_called: bool = False
    """Whether it is compiled once, and called."""

    @property
    def is_native(self) -> bool:
        """Whether its body is given as source of the compiler, by which its parameters have plain names."""
        return "CUDA_CALLABLE " in self.attributes and FORWARD not in self.body

    @property
    def is_kernel(self) -> bool:
        """Whether it is the kernel: on a CPU it has its arguments in a struct."""
        return self.name.endswith(("_cpu_kernel_forward", "_cuda_kernel_forward"))

    @property
    def is_of_cuda(self) -> bool:
        """Whether it is a function for CUDA, and not of the compiler's own language."""
        return not self.is_native and ("CUDA_CALLABLE " in self.attributes or self.is_cuda_kernel)

    @property
    def is_cuda_kernel(self) -> bool:
        """Whether it is a kernel of CUDA, whose parameters are its arguments."""
        return self.is_kernel and "__global__ " in self.attributes

    @property
    def gives_known_layout(self) -> bool:
        """Whether it gives an array that it is given, with what is known of its layout."""
        return self.is_native and self.returns.startswith("wp::array_t<") and "\nreturn a;}" in self.body


@dataclass(frozen=True)
class Source:
    """What is known of a source as a whole."""

    functions: dict[str, Function]
    structs: dict[str, dict[str, str]]
    """Types of the fields of each struct by their names."""
    no_gaps: frozenset[tuple[str, str]]
    """Structs and their fields that are arrays with rows next to each other."""
    of_workers: dict[tuple[str, str], str]
    """Structs and their fields that are arrays with a column for each worker: a field of the struct with as many."""

    def has_arrays(self, struct: str) -> bool:
        """Whether some type is a struct with arrays."""
        return any(kind.startswith("wp::array_t<") for kind in self.structs.get(struct, {}).values())

    def is_known(self, match: re.Match) -> bool:
        """Whether statements only say of a field that its layout is known."""
        giver = self.functions.get(match["function"])
        return giver is not None and giver.gives_known_layout

    def by_reference(self, kind: str) -> bool:
        """Whether a parameter of a type is passed by reference where nothing writes to it."""
        return kind in self.structs or kind.startswith("wp::array_t<")


def rewritten(source: str) -> str:
    """The source of a module of Warp, for a CPU or CUDA, to compile soon.

    Raises:
        UnknownSourceError: It does not look as it is known.
    """
    source, lanes = _with_lanes(source)
    parts: list[str | Function] = []
    structs = {}
    for part in re.split(r"^(?=static |struct |template |extern )", source, flags=re.M):
        if struct := _STRUCT.match(part):
            fields = struct[2].partition("() = default;")[0]
            structs[struct[1]] = {name: kind for kind, name in re.findall(r"^    (\S.*?) (\w+);$", fields, re.M)}
        is_function = part.startswith("static ") and "_cpu_forward" not in part.partition("(")[0]
        if not is_function and " __global__ " not in part.partition("\n")[0]:
            parts.append(part)
        elif not re.match(r"static (?:CUDA_CALLABLE )?void adj_", part):
            parts.append(_function(part))
    functions = {part.name: part for part in parts if isinstance(part, Function)}
    if not any(function.is_kernel for function in functions.values()):
        raise UnknownSourceError("no kernel")
    _choose_calls(functions, INLINED_TAPED if TAPED in source else INLINED)
    whole = Source(functions, structs, *_known_layouts(functions))
    text = "".join(part if isinstance(part, str) else _emitted(part, whole) for part in parts)
    text = re.sub(r"^    (?:wp::)?adj_atomic_add\(&p->\w+, t\.\w+\);\n", "", text, flags=re.M)
    first = re.search(r"^(?:struct|static|template) ", text, re.M).start()
    return text[:first] + lanes + PREAMBLE + text[first:]


def _with_lanes(source: str) -> tuple[str, str]:
    """The source with types of their own for lanes, and what defines these."""
    kinds = sorted(set(re.findall(r"typedef (float|double) V __attribute__\(\(ext_vector_type\((\d+)\)", source)))
    definitions = ""
    for scalar, lanes in kinds:
        name = f"lanes_{lanes}_{scalar}"
        for spelling in (scalar, "wp::float32" if scalar == "float" else "wp::float64"):
            source = source.replace(f"wp::vec_t<{lanes}, {spelling}>", name)
        definitions += LANES.format(name=name, scalar=scalar, lanes=lanes, alignment=4 if scalar == "float" else 8)
    return source, definitions


def _function(part: str) -> Function:
    head = _HEAD.match(part)
    if not head:
        raise UnknownSourceError(f"a function: {part[:80]!r}")
    attributes, returns, name, listed = head.groups()
    parameters = [_PARAMETER.match(parameter) for parameter in listed.split(",\n") if listed.strip()]
    if not all(parameters):
        raise UnknownSourceError(f"parameters of {name}")
    body = part[head.end() :]
    if "CUDA_CALLABLE " not in attributes and FORWARD not in body:
        raise UnknownSourceError(f"the body of {name}")
    if "__global__ " in attributes:
        body = re.sub(r"^    (?=    )", "", body, flags=re.M)  # Warp has a loop around it
    return Function(attributes, returns, name, [parameter.groups() for parameter in parameters], body)


def _choose_calls(functions: dict[str, Function], inlined: int) -> None:
    """Find which functions are called; a function comes after those that it calls."""
    sizes: dict[str, int] = {}
    for function in functions.values():
        if function.is_native:
            sizes[function.name] = WEIGHT_OF_NATIVE
            continue
        forward = function.body.partition(FORWARD)[2]
        lines = [line for line in map(str.strip, forward.split("\n")) if not line.startswith("//")]
        function.calls = [name for line in lines for name in re.findall(r"\b(\w+)\(", line) if name in functions]
        if not sizes.keys() >= set(function.calls):
            raise UnknownSourceError(f"{function.name} comes before what it calls")
        own = sum(line.endswith(";") for line in lines)
        sizes[function.name] = own + sum(sizes[name] for name in function.calls)
        function.is_called = not function.is_kernel and sizes[function.name] >= inlined


def _known_layouts(functions: dict[str, Function]):
    """What the source says of fields of structs: see `no_gaps` and `of_workers` of a Source."""
    is_for_cuda = any(function.is_cuda_kernel for function in functions.values())
    no_gaps: set[tuple[str, str]] = set()
    of_workers: dict[tuple[str, str], str] = {}
    first: dict[str, str] = {}
    for function in functions.values():
        kinds = {name: kind for kind, name in function.parameters}
        for known in _KNOWN.finditer(function.body):
            giver = functions.get(known["function"])
            if giver and giver.gives_known_layout and NO_GAPS in giver.body and known["owner"] in kinds:
                struct, name = kinds[known["owner"]], known["field"]
                if is_for_cuda and ON_CPU in giver.body:
                    of_workers[struct, name] = first.setdefault(struct, name)
                else:
                    no_gaps.add((struct, name))
    return frozenset(no_gaps), of_workers


def _emitted(function: Function, whole: Source) -> str:
    """The source of a function."""
    body = None if function.is_native else _Body(function, whole)
    reference = "& __restrict" if function.is_called else "&"
    parameters, text = [], ""
    for kind, name in function.parameters:
        is_passed = not function.is_kernel and whole.by_reference(kind)
        if is_passed and not (body.is_written(name) if body else _native_writes(function.body, name)):
            kind = f"{'const ' if _is_constant(kind, name, function.body) else ''}{kind}{reference}"
        elif function.is_cuda_kernel and whole.has_arrays(kind) and not body.is_written(name):
            text += f"    {kind}& __restrict {name} = const_cast<{kind}&>({name}_given);\n"
            kind, name = f"const __grid_constant__ {kind}", f"{name}_given"
        parameters.append(f"    {kind} {name}")
    attributes = f"{function.attributes}{'WP_NOINLINE ' if function.is_called else ''}"
    text += body.text() if body else function.body
    listed = ",\n".join(parameters)
    return f"{attributes}{function.returns} {function.name}(\n{listed})\n{{\n{text}"


def _is_constant(kind: str, name: str, body: str) -> bool:
    """Whether a parameter that is passed by reference can be constant: Warp's pointers to fields are not."""
    return kind.startswith("wp::array_t<") and f"&({name}." not in body


def _native_writes(body: str, name: str) -> bool:
    """Whether a native function may write to a parameter."""
    place = rf"\b{name}\b(?:\.\w+|\[[^\]]*\])*"
    assigned = rf"{place}\s*(?:[-+*/|&^%]|<<|>>)?=(?!=)"
    return bool(re.search(rf"{assigned}|(?:\+\+|--|&)\s*{place}|{place}\s*(?:\+\+|--)", body))


class _Body:
    """The body of a function that Warp wrote.

    Args:
        function: The function.
        whole: Its source.
    """

    def __init__(self, function: Function, whole: Source):
        self.whole = whole
        self.is_of_cuda = function.is_of_cuda
        self.body = _KNOWN.sub(lambda known: "" if whole.is_known(known) else known[0], function.body)
        self.uses = Counter(_VARIABLE.findall(self.body))
        self.assigned = Counter(_ASSIGNED.findall(self.body))
        self.addresses = {pointer: (name, path[1:]) for pointer, name, path in _ADDRESS.findall(self.body)}
        """Pointers to variables and their fields: the variable, and the name of the field."""
        self.loads = Counter(pointer for _, pointer in _LOAD.findall(self.body))
        self.written = {name for call, passed in _WARP_CALL.findall(self.body) for name in _written_by(call, passed)}
        """What functions of Warp may write to."""
        self.owners = {name: kind for kind, name in function.parameters if whole.has_arrays(kind)}
        """Structs with arrays that nothing writes to, by names."""
        if function.is_kernel:
            self._refer_to_arguments()
        self.owners = {name: kind for name, kind in self.owners.items() if not self.is_written(name)}
        self.headers = self._headers()
        """Fields of structs that variables are copies of, by the names of these: owner and field."""

    def is_written(self, name: str) -> bool:
        """Whether something may write to a parameter that is a struct or an array."""
        if self.assigned[name] or name in self.written:
            return True
        pointers = [pointer for pointer, (owner, _) in self.addresses.items() if owner == name]
        # A pointer is declared, set, and loaded from; what else is done with it may write.
        return any(self.uses[pointer] != 2 + self.loads[pointer] for pointer in pointers)

    def text(self) -> str:
        """The body, rewritten."""
        copied = Counter(pointer for name, pointer in _LOAD.findall(self.body) if name in self.headers)
        idle = {pointer for pointer, count in copied.items() if self.uses[pointer] == 2 + count}
        lines = []
        for line in self.body.split("\n"):
            declared = _DECLARATION.match(line)
            if line.lstrip().startswith("//"):
                continue
            if declared and (declared[2] in self.headers or declared[2] in idle or self.uses[declared[2]] == 1):
                continue
            if (load := _LOAD.match(line)) and load[1] in self.headers:
                continue
            if (address := _ADDRESS.match(line)) and address[1] in idle:
                continue
            lines.append(line)
        text = "\n".join(lines)
        text = _ENTRY.sub(lambda call: self._entry(call[1], call[2]), text)
        text = _STORE.sub(lambda call: f"*{self._entry(call[1], call[2])} = {call[3]};", text)
        text = _CALL.sub(self._call, text)
        text = _with_counted_loops(text)
        text = re.sub(r"= wp::load\((var_\w+)\);", r"= *\1;", text)
        text = re.sub(r"= wp::copy\((var_\w+)\);", r"= \1;", text)
        if not self.is_of_cuda:  # there tests have the compiler look for what is read before it is set
            text = re.sub(r"wp::assign\((var_\w+), (var_\w+)\);", r"\1 = \2;", text)
        return _VARIABLE.sub(lambda name: self._place(name[0]), text)

    def _refer_to_arguments(self) -> None:
        """Let a kernel refer to the structs among its arguments in place of copying them."""

        def referred(argument: re.Match) -> str:
            kind, name, source = argument.groups()
            self.assigned[name] -= 1
            if not self.whole.has_arrays(kind) or self.is_written(name):
                return argument[0]
            self.owners[name] = kind
            return f"    {kind}& __restrict {name} = _wp_args->{source};"

        self.body = _ARGUMENT.sub(referred, self.body)

    def _headers(self) -> dict[str, tuple[str, str]]:
        kinds = {declared[2]: declared[1] for declared in _DECLARATION.finditer(self.body)}
        return {
            name: self.addresses[pointer]
            for name, pointer in _LOAD.findall(self.body)
            if pointer in self.addresses
            and self.addresses[pointer][0] in self.owners
            and self.assigned[pointer] == self.assigned[name] == 1
            and kinds.get(name, "").startswith("wp::array_t<")
        }

    def _place(self, variable: str) -> str:
        """The name to use for a variable: its own, or that of the field it copies."""
        return ".".join(self.headers[variable]) if variable in self.headers else variable

    def _layout(self, variable: str) -> tuple[str, str]:
        """What is known of the array that a variable is a copy of: a suffix of functions, and what they want beside."""
        owner, name = self.headers.get(variable, ("", ""))
        field = self.owners.get(owner), name
        if field in self.whole.no_gaps:
            return "no_gaps", ""
        if field in self.whole.of_workers:
            return "of_workers", f", {owner}.{self.whole.of_workers[field]}.shape[1]"
        return "", ""

    def _entry(self, variable: str, indices: str) -> str:
        suffix, beside = self._layout(variable) if indices.count(",") < 2 else ("", "")
        return f"lean::at{'_' if suffix else ''}{suffix}({self._place(variable)}{beside}, {indices})"

    def _call(self, call: re.Match) -> str:
        """A call of a function of the source; inlined ones get the known layout of arrays."""
        callee = self.whole.functions.get(call[1])
        if callee is None:
            return call[0]
        passed = []
        for place, variable in enumerate(call[2].split(", ")):
            passed.append(self._place(variable))
            is_inlined = not callee.is_called and _is_constant(*callee.parameters[place], callee.body)
            suffix, beside = self._layout(variable)
            if is_inlined and suffix:
                passed[-1] = f"lean::{suffix}({passed[-1]}{beside})"
        return f"{call[1]}({', '.join(passed)});"


def _with_counted_loops(text: str) -> str:
    """A body in which loops over `range(end)` and `range(first, end)` count an integer up to another one."""
    counted = {found[1] for found in _RANGE.finditer(text)} - set(_RANGE_OF_STEPS.findall(text))
    if not counted:
        return text
    name = f"({'|'.join(sorted(counted, key=len, reverse=True))})"
    text = re.sub(rf"wp::range_t {name};", r"wp::int32 \1_next, \1_end;", text)
    text = _RANGE.sub(lambda found: f"{found[1]}_next = {found[2] or 0}; {found[1]}_end = {found[3]};", text)
    text = re.sub(rf"iter_cmp\({name}\) == 0", r"\1_next >= \1_end", text)
    return re.sub(rf"wp::iter_next\({name}\)", r"\1_next++", text)


def _written_by(function: str, passed: str) -> list[str]:
    """Variables that a function of Warp may write to, of those that it is given."""
    if function == "assign":
        return passed.split(", ")[:1]
    return [] if function in READERS else passed.split(", ")
