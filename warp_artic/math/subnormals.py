"""Numbers below the smallest normal one count as zero while a kernel runs on a CPU.

What one end of a chain does to the other decays from link to link. In single precision it is below 1.2e-38 after some
thirty links, and processors take a hundred times as long for an operation with such a number: responses of a rope of 96
links at 192 points of contact take 13 ms with them and 6.5 ms without.

A kernel sets the control register of its thread first, and restores it at its end: code around it has the arithmetic
that it expects. CUDA cores are as fast with these numbers, and keep them.
"""

import warp as wp

_X86 = "defined(__x86_64__) && !defined(__CUDACC__)"
_ARM = "defined(__aarch64__) && !defined(__CUDACC__)"


@wp.func_native(f"""
#if {_X86}
    unsigned kept = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(kept | 0x8040);
    return kept;
#elif {_ARM}
    unsigned long long kept = __builtin_arm_rsr64("fpcr");
    __builtin_arm_wsr64("fpcr", kept | (1ull << 24));
    return kept;
#else
    return 0;
#endif
""")
def flush_subnormals() -> wp.uint64:
    """Results and operands that are subnormal are zero from now on; returns the control register of before."""
    ...


@wp.func_native(f"""
#if {_X86}
    __builtin_ia32_ldmxcsr((unsigned)control);
#elif {_ARM}
    __builtin_arm_wsr64("fpcr", control);
#endif
""")
def restore_subnormals(control: wp.uint64):
    """Set the control register as `flush_subnormals` found it."""
    ...
