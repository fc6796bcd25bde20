# Writes a C++ source that holds text files, so that an installed program needs no folder of data.
# Run as: cmake -DOUTPUT=out.cpp -DFUNCTION=embedded_presets -DHEADER=spec/presets.h -DFILES=a.yaml;b.yaml -P EmbedFiles.cmake
set(entries "")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  file(READ ${file} text)
  string(APPEND entries "      {\"${name}\", R\"embedded(${text})embedded\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Written by cmake/EmbedFiles.cmake.
#include \"${HEADER}\"

namespace shoal {

const std::vector<EmbeddedFile>& ${FUNCTION}() {
  static const std::vector<EmbeddedFile> files = {
${entries}  };
  return files;
}

}  // namespace shoal
")
