# How C++ is compiled: language level, warnings, sanitizers, ccache, and the interface target tessiq_build that
# carries it all to every target of the project. What is compiled is decided elsewhere.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12
   OR CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15)
    message(FATAL_ERROR "tessiq needs g++ 12 or clang++ 15 (C++20); found ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
endif()

# One set of flags for every build type: what differs is said per target below, and the extension, which is most of
# the compile time, has the same command line in each, so ccache serves a wheel from what ./dev build compiled.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2")
set(CMAKE_CXX_FLAGS_RELEASE "-O2")

add_library(tessiq_build INTERFACE)
target_include_directories(tessiq_build INTERFACE "${PROJECT_SOURCE_DIR}/csrc")
# -Wundef: a misspelt TESSIQ_HAS_... would otherwise read as 0.
target_compile_options(tessiq_build INTERFACE
    -Wall -Wextra -Wshadow -Wundef -Wnon-virtual-dtor -Woverloaded-virtual
    # __FILE__ and debug information name files as in the repository: equal bytes from any checkout.
    -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)

# What the core and its tests are told about the configuration. No header may depend on it: the extension is not told.
function(tessiq_define_configuration target)
    target_compile_definitions(${target} PRIVATE
        TESSIQ_HAS_CUDA=$<BOOL:${TESSIQ_HAS_CUDA}>
        TESSIQ_CHECKS=$<BOOL:${TESSIQ_CHECKS}>
        $<$<CONFIG:Release>:NDEBUG>)
    # Line tables are enough for a readable stack and cost a tenth of full debug information.
    target_compile_options(${target} PRIVATE $<$<CONFIG:RelWithDebInfo>:-g1>)
endfunction()

if(TESSIQ_WERROR)
    target_compile_options(tessiq_build INTERFACE -Werror)
endif()
if(TESSIQ_HAS_CUDA)
    target_link_libraries(tessiq_build INTERFACE tessiq_cuda_headers)
endif()
# The CUDA libraries, PyTorch's too, are loaded with dlopen on first use; only dl and threads are linked.
find_package(Threads REQUIRED)
target_link_libraries(tessiq_build INTERFACE Threads::Threads ${CMAKE_DL_LIBS})

if(TESSIQ_SANITIZE)
    # Everything is instrumented, tests and GoogleTest's users too: a half-instrumented vector reports false overflows.
    add_compile_options(-fsanitize=${TESSIQ_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${TESSIQ_SANITIZE})
endif()

# xxHash is used as a header only, so finding it is finding a file.
find_path(TESSIQ_XXHASH_INCLUDE_DIR xxhash.h)
if(TESSIQ_XXHASH_INCLUDE_DIR)
    add_library(tessiq_xxhash INTERFACE)
    target_include_directories(tessiq_xxhash SYSTEM INTERFACE "${TESSIQ_XXHASH_INCLUDE_DIR}")
    target_link_libraries(tessiq_build INTERFACE tessiq_xxhash)
else()
    # Not an error here: the parts that do not hash, such as the device conformance tests, build without it.
    message(WARNING "xxhash.h was not found (apt-get install libxxhash-dev): the disk cache will not compile")
endif()

find_program(TESSIQ_CCACHE_PROGRAM ccache)
if(TESSIQ_CCACHE AND TESSIQ_CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # Paths relative to the checkout and no directory in the hash: another checkout or build folder hits too.
    # The slop is what GCC's precompiled headers need to be cacheable at all.
    set(CMAKE_CXX_COMPILER_LAUNCHER
        "${CMAKE_COMMAND}" -E env
        "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1
        CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
        "${TESSIQ_CCACHE_PROGRAM}")
endif()
