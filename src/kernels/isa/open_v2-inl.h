// Opens the x86-64-v2 region. The whole build is compiled for it (cmake/flags.cmake), so the region changes nothing but
// the namespace: everything up to close-inl.h lies in vitro::v2.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("sse4.2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC diagnostic push
#endif
#define VITRO_ISA_NS v2
