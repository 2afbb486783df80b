# The Python extension module tessiq._C, from csrc/pytorch/**, csrc/custom_ops/** and csrc/bindings/**: the only
# code that sees PyTorch. It takes no CMakeLists.txt of its own, since all of it shares one set of flags and one
# precompiled header.

file(GLOB_RECURSE tessiq_extension_sources CONFIGURE_DEPENDS
    "${PROJECT_SOURCE_DIR}/csrc/pytorch/*.cpp"
    "${PROJECT_SOURCE_DIR}/csrc/bindings/*.cpp")
if(NOT tessiq_extension_sources)
    message(STATUS "no source of the extension module yet: tessiq._C is not built")
    return()
endif()

Python_add_library(_C MODULE WITH_SOABI ${tessiq_extension_sources})
get_property(tessiq_core_libraries GLOBAL PROPERTY TESSIQ_LIBRARIES)
tessiq_link(_C ${tessiq_core_libraries} tessiq_torch)
include(TessiqOperations)
tessiq_add_operations(_C FOLDER "${PROJECT_SOURCE_DIR}/csrc/custom_ops")
target_compile_definitions(_C PRIVATE
    TORCH_EXTENSION_NAME=_C
    TORCH_API_INCLUDE_EXTENSION_H
    # PyTorch is built without its assertions; its inline code must agree.
    NDEBUG)
# Told to the files that ask, not to all: a definition more would make the precompiled header and every object another.
set_source_files_properties("${PROJECT_SOURCE_DIR}/csrc/bindings/module.cpp" PROPERTIES COMPILE_DEFINITIONS
    "TESSIQ_VERSION=\"${PROJECT_VERSION}\";TESSIQ_TORCH_VERSION=\"${TESSIQ_TORCH_VERSION}\"")
set_source_files_properties("${PROJECT_SOURCE_DIR}/csrc/pytorch/executor/compiled_graph.cpp" PROPERTIES
    COMPILE_DEFINITIONS TESSIQ_CHECKS=$<BOOL:${TESSIQ_CHECKS}>)
# --strip-debug: the module is carried to other machines. Function names stay. -fpch-preprocess lets ccache see
# through the precompiled header.
target_compile_options(_C PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
target_link_options(_C PRIVATE LINKER:--strip-debug LINKER:--exclude-libs,ALL LINKER:--no-undefined-version)
# What most files include. No umbrella header: torch/extension.h makes this 800 MB, and reading that back costs each
# file more than its own headers.
target_precompile_headers(_C PRIVATE
    <ATen/core/Tensor.h>
    <torch/library.h>)
# The bindings are about Python, and take 5 seconds without it where they take 10 with it.
set(tessiq_binding_sources ${tessiq_extension_sources})
list(FILTER tessiq_binding_sources INCLUDE REGEX "/csrc/bindings/")
set_source_files_properties(${tessiq_binding_sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)

set_target_properties(_C PROPERTIES
    # tessiq imports torch before this module, so its libraries are already loaded under their names.
    SKIP_BUILD_RPATH ON
    INSTALL_RPATH "$ORIGIN/../torch/lib")
install(TARGETS _C LIBRARY DESTINATION tessiq COMPONENT python)

include(TessiqBuildInfo)
include(TessiqOperationPackage)
