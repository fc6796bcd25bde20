# Every dependency is a Debian 12 package; scripts/setup installs them.
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(dnnl QUIET)
find_package(PkgConfig REQUIRED)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(zlib REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(pcre2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET libutf8proc)
find_package(BLAS)

# Parallel HDF5 over MPICH. Both are linked by name, because CMake's FindHDF5 prefers the serial build.
pkg_check_modules(mpich REQUIRED IMPORTED_TARGET mpich)
pkg_check_modules(hdf5 REQUIRED IMPORTED_TARGET hdf5-mpich)
