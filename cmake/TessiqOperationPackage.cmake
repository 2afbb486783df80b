# What packages of custom operations build with, in the Python package: headers and CMake files. Installed in a wheel;
# in a checkout copied beside the extension, and again whenever they change.

set(tessiq_package_files
    "csrc/pytorch/custom/definition.h>include/pytorch/custom"
    "csrc/pytorch/custom/boxed_function.h>include/pytorch/custom"
    "csrc/pytorch/custom/row_launch.h>include/pytorch/custom"
    "csrc/pytorch/custom/wide_type.h>include/pytorch/custom"
    "cmake/tessiqConfig.cmake>cmake"
    "cmake/TessiqOperations.cmake>cmake"
    "cmake/TessiqPyTorch.cmake>cmake"
    "cmake/torch_facts.py>cmake")
foreach(entry IN LISTS tessiq_package_files)
    string(REPLACE ">" ";" pair "${entry}")
    list(GET pair 0 file)
    list(GET pair 1 folder)
    if(SKBUILD)
        install(FILES "${PROJECT_SOURCE_DIR}/${file}" DESTINATION "tessiq/sdk/${folder}" COMPONENT python)
    else()
        cmake_path(GET file FILENAME name)
        configure_file("${PROJECT_SOURCE_DIR}/${file}" "${PROJECT_SOURCE_DIR}/python/tessiq/sdk/${folder}/${name}" COPYONLY)
    endif()
endforeach()

add_library(tessiq_operation_headers INTERFACE)
target_include_directories(tessiq_operation_headers INTERFACE "${PROJECT_SOURCE_DIR}/csrc")
