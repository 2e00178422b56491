# Puts a file into a folder's library as it is: its bytes from LABEL to LABEL_end (extern "C" const char[]), aligned as tensors want it.
# The assembler does it: no compiler reads megabytes of numbers. A library of its own, because vitro_flags are for C++.
enable_language(ASM)
function(vitro_embed folder label file)
  set(source ${CMAKE_BINARY_DIR}/embedded/${label}.S)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/embed.S.in ${source} @ONLY)
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS ${file})
  add_library(${label} STATIC ${source})
  target_link_libraries(vitro_${folder} PUBLIC ${label})
endfunction()
