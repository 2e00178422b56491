# One set of flags for everything. No per-file -m flags: instruction sets are opened by target regions in kernels/isa (see
# docs/writing-a-kernel.md), and the order of every floating-point sum is fixed, so contraction and fast-math stay off.
add_library(vitro_flags INTERFACE)
target_compile_options(vitro_flags INTERFACE
  # Designated initialisers name what differs; the rest are the members' own defaults.
  -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion -Wno-missing-field-initializers -Wshadow -Wnon-virtual-dtor
  -ffp-contract=off -fno-math-errno -fno-trapping-math)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # -Wrestrict of GCC 12 warns inside std::string concatenation (GCC bug 105651).
  target_compile_options(vitro_flags INTERFACE -Wno-psabi -Wno-restrict)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(vitro_flags INTERFACE -march=x86-64-v2)
endif()
if(VITRO_SANITIZE)
  target_compile_options(vitro_flags INTERFACE -fsanitize=${VITRO_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(vitro_flags INTERFACE -fsanitize=${VITRO_SANITIZE})
endif()
