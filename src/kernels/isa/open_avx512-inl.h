// Opens the AVX-512 target region: everything up to close-inl.h is compiled for it and lies in namespace vitro::avx512.
// Include every other header above this line (K3): only our own namespace may be inside, or std:: functions would be
// compiled for AVX-512 too and the linker could hand them to an older processor. GCC 12 wrongly warns of its own
// AVX-512 intrinsics, which start from a register that is undefined on purpose (GCC bug 105593); the same bodies are
// compiled with the warnings on for the other instruction sets.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")
#endif
#define VITRO_ISA_NS avx512
