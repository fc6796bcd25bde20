# How a folder becomes a library and a test.

add_library(shoal_options INTERFACE)
target_include_directories(shoal_options INTERFACE ${PROJECT_SOURCE_DIR}/lib)
# Designated initialisers leave fields at their defaults on purpose, so that warning of -Wextra is off.
target_compile_options(shoal_options INTERFACE -Wall -Wextra -Wno-missing-field-initializers -Wpedantic -Wconversion
                                               -fno-math-errno)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(shoal_options INTERFACE -Wno-restrict)  # false alarms on std::string (GCC bug 105651)
endif()
if(SHOAL_WERROR AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # the warnings of the pinned compiler; clang only fuzzes
  target_compile_options(shoal_options INTERFACE -Werror)
endif()
if(SHOAL_SANITIZE)
  target_compile_options(shoal_options INTERFACE -fsanitize=${SHOAL_SANITIZE} -fno-omit-frame-pointer
                                                 -fno-sanitize-recover=all)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # GCC 12 takes its own instrumentation of std::function for a fault
    target_compile_options(shoal_options INTERFACE -Wno-maybe-uninitialized)
  endif()
  target_link_options(shoal_options INTERFACE -fsanitize=${SHOAL_SANITIZE})
endif()

# shoal_library(name [DEPS libraries...]): every .cpp below the current folder, as the target shoal_<name>.
function(shoal_library name)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(sources)
    add_library(shoal_${name} STATIC ${sources})
    target_link_libraries(shoal_${name} PUBLIC shoal_options ${ARG_DEPS})
  else()
    add_library(shoal_${name} INTERFACE)
    target_link_libraries(shoal_${name} INTERFACE shoal_options ${ARG_DEPS})
  endif()
endfunction()

# shoal_test(folder [DEPS libraries...]): every .cpp of tests/<folder> as one doctest program; each test case is
# one ctest entry named "<folder>: <test case>". Tests run in the source folder, so that the compiler cache serves every
# checkout alike.
function(shoal_test folder)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
  add_executable(test_${folder} ${sources} ${PROJECT_SOURCE_DIR}/tests/main.cpp)
  target_link_libraries(test_${folder} PRIVATE shoal_options ${ARG_DEPS})
  target_include_directories(test_${folder} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(test_${folder} PRIVATE SHOAL_SOURCE_DIR=".")
  doctest_discover_tests(test_${folder} TEST_PREFIX "${folder}: " WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endfunction()

# shoal_runs_ranks(test... [TIMEOUT seconds]): what a test that starts ranks needs: both cores, one thread a rank, and no
# search for leaks, because the MPI library's own modules leave memory behind at the end of a process.
function(shoal_runs_ranks)
  cmake_parse_arguments(ARG "" "TIMEOUT" "" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 600)
  endif()
  set(environment OMP_NUM_THREADS=1 ASAN_OPTIONS=detect_leaks=0)
  foreach(test ${ARG_UNPARSED_ARGUMENTS})
    set_property(TEST "${test}" APPEND PROPERTY LABELS mpi)
    set_tests_properties("${test}" PROPERTIES TIMEOUT ${ARG_TIMEOUT} PROCESSORS 2 ENVIRONMENT "${environment}")
  endforeach()
endfunction()

# shoal_mpi_test(folder RANKS n... [DEPS libraries...]): tests/<folder> with the rank-aware main of tests/mpi, as one
# ctest entry for each number of ranks.
function(shoal_mpi_test folder)
  cmake_parse_arguments(ARG "" "" "DEPS;RANKS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
  list(APPEND sources ${CMAKE_CURRENT_SOURCE_DIR}/mpi/main.cpp)
  list(REMOVE_DUPLICATES sources)
  add_executable(test_${folder} ${sources})
  target_link_libraries(test_${folder} PRIVATE shoal_options ${ARG_DEPS} PkgConfig::mpich)
  target_include_directories(test_${folder} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(test_${folder} PRIVATE SHOAL_SOURCE_DIR=".")
  foreach(ranks ${ARG_RANKS})
    add_test(NAME "${folder}: ${ranks} ranks" COMMAND mpiexec.mpich -n ${ranks} $<TARGET_FILE:test_${folder}>)
    shoal_runs_ranks("${folder}: ${ranks} ranks" TIMEOUT 900)
    set_tests_properties("${folder}: ${ranks} ranks" PROPERTIES WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  endforeach()
endfunction()
