# Finds the Python that builds the extension and, in it, PyTorch's headers and libraries. PyTorch's own CMake
# package is not used: it insists on a CUDA toolkit, which nothing here needs.
#
# Sets TESSIQ_TORCH_VERSION, TESSIQ_TORCH_CUDA_VERSION, TESSIQ_SITE_NVIDIA and the target tessiq_torch.
# Python is also asked when TESSIQ_PYTORCH is off but CUDA may be on, since the wheels hold CUDA's headers;
# then a missing Python or PyTorch is no error.

set(TESSIQ_SITE_NVIDIA "")
set(TESSIQ_TORCH_VERSION "")
set(TESSIQ_TORCH_CUDA_VERSION "")

if(NOT TESSIQ_PYTORCH AND TESSIQ_CUDA STREQUAL "OFF")
    return()
endif()

if(NOT DEFINED Python_EXECUTABLE AND EXISTS "${PROJECT_SOURCE_DIR}/.venv/bin/python")
    set(Python_EXECUTABLE "${PROJECT_SOURCE_DIR}/.venv/bin/python")
endif()
if(TESSIQ_PYTORCH)
    find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
else()
    find_package(Python 3.11 COMPONENTS Interpreter)
endif()

if(Python_EXECUTABLE)
    execute_process(
        COMMAND "${Python_EXECUTABLE}" "${CMAKE_CURRENT_LIST_DIR}/torch_facts.py"
        OUTPUT_VARIABLE facts ERROR_VARIABLE why RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(status EQUAL 0)
        string(JSON TESSIQ_TORCH_VERSION GET "${facts}" version)
        string(JSON TESSIQ_TORCH_CUDA_VERSION GET "${facts}" cuda)
        string(JSON TESSIQ_TORCH_ROOT GET "${facts}" root)
        string(JSON TESSIQ_SITE_NVIDIA GET "${facts}" nvidia)
    elseif(TESSIQ_PYTORCH)
        message(FATAL_ERROR "PyTorch was not found in ${Python_EXECUTABLE}: ${why}\n"
            "name the Python that has it with -DPython_EXECUTABLE=; in tessiq's own tree, run ./dev setup or build "
            "without PyTorch: -DTESSIQ_PYTORCH=OFF")
    endif()
endif()

if(TESSIQ_PYTORCH)
    message(STATUS "PyTorch ${TESSIQ_TORCH_VERSION} (CUDA ${TESSIQ_TORCH_CUDA_VERSION}) in ${TESSIQ_TORCH_ROOT}")
    add_library(tessiq_torch INTERFACE)
    target_include_directories(tessiq_torch SYSTEM INTERFACE
        "${TESSIQ_TORCH_ROOT}/include"
        "${TESSIQ_TORCH_ROOT}/include/torch/csrc/api/include")
    # libtorch_cuda is left out on purpose: the extension must load where PyTorch has no CUDA.
    target_link_libraries(tessiq_torch INTERFACE
        "${TESSIQ_TORCH_ROOT}/lib/libtorch.so"
        "${TESSIQ_TORCH_ROOT}/lib/libtorch_cpu.so"
        "${TESSIQ_TORCH_ROOT}/lib/libtorch_python.so"
        "${TESSIQ_TORCH_ROOT}/lib/libc10.so")
    target_compile_definitions(tessiq_torch INTERFACE
        # PyTorch's wheels are built with the C++11 string layout since 2.7.
        _GLIBCXX_USE_CXX11_ABI=1)
endif()
