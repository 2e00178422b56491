// Closes the target region that an open_*-inl.h opened.
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC diagnostic pop
#pragma GCC pop_options
#endif
#undef VITRO_ISA_NS
#undef VITRO_LANE
