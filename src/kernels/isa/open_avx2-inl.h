// Opens the AVX2 target region: everything up to close-inl.h is compiled for AVX2, FMA and F16C and lies in namespace
// vitro::avx2. Include every other header above this line (see open_avx512-inl.h).
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC diagnostic push
#pragma GCC target("avx2,fma,f16c")
#endif
#define VITRO_ISA_NS avx2
