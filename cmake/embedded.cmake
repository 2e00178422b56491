# The files of the embedded model as one object, made by the assembler: no compiler reads two megabytes of numbers, and nothing is
# generated. A library of its own, because the flags of vitro_flags are for C++.
enable_language(ASM)
set(embedded_folder ${CMAKE_SOURCE_DIR}/assets/embedded)
add_library(vitro_embedded_files STATIC src/embedded/embedded_files.S)
target_compile_options(vitro_embedded_files PRIVATE -Wa,-I${embedded_folder})
set_source_files_properties(src/embedded/embedded_files.S PROPERTIES OBJECT_DEPENDS
  "${embedded_folder}/config.json;${embedded_folder}/tokenizer.json;${embedded_folder}/model.safetensors")
target_link_libraries(vitro_embedded PUBLIC vitro_embedded_files)
