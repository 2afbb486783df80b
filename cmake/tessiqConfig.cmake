# What find_package(tessiq) gives a package of custom operations: tessiq_operation_library (TessiqOperations.cmake).
#
# Lies in the installed Python package, at python -c 'import tessiq.operations as o; print(o.cmake_directory())'.

set(TESSIQ_PYTORCH ON)
include("${CMAKE_CURRENT_LIST_DIR}/TessiqPyTorch.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/TessiqOperations.cmake")

if(NOT TARGET tessiq_operation_headers)
    add_library(tessiq_operation_headers INTERFACE)
    target_include_directories(tessiq_operation_headers INTERFACE "${CMAKE_CURRENT_LIST_DIR}/../include")
endif()
