# Finds CUDA's headers and settles TESSIQ_HAS_CUDA. Only headers are looked for: every CUDA library is loaded
# with dlopen when the first GPU is used, so no build links one. CMake's own finder insists on nvcc, hence this.
#
# Looked at in turn: TESSIQ_CUDA_INCLUDE_DIR, CUDA_HOME, CUDA_PATH, /usr/local/cuda, then the wheels that
# PyTorch brings (nvidia/cu13/include) together with nvidia-cuda-crt and nvidia-cuda-cccl, which hold crt/ and
# nv/target: headers that the others include and lack.
# A toolkit of another major version than PyTorch's CUDA is passed over: its structures differ from those of
# the libraries that will be loaded.

set(TESSIQ_HAS_CUDA OFF)
if(TESSIQ_CUDA STREQUAL "OFF")
    return()
endif()

string(REGEX MATCH "^[0-9]+" tessiq_cuda_major "${TESSIQ_TORCH_CUDA_VERSION}")

# Sets `out` to the CUDA version that the headers in `folder` belong to, or to nothing where they are incomplete.
function(tessiq_cuda_version_of folder out)
    set(${out} "" PARENT_SCOPE)
    foreach(header IN ITEMS cuda.h cuda_runtime_api.h cublasLt.h crt/host_defines.h nv/target)
        if(NOT EXISTS "${folder}/${header}")
            return()
        endif()
    endforeach()
    file(STRINGS "${folder}/cuda.h" line REGEX "^#define CUDA_VERSION [0-9]+" LIMIT_COUNT 1)
    if(line MATCHES "([0-9]+)$")
        math(EXPR major "${CMAKE_MATCH_1} / 1000")
        math(EXPR minor "${CMAKE_MATCH_1} % 1000 / 10")
        set(${out} "${major}.${minor}" PARENT_SCOPE)
    endif()
endfunction()

set(tessiq_cuda_folders ${TESSIQ_CUDA_INCLUDE_DIR})
foreach(root IN ITEMS "$ENV{CUDA_HOME}" "$ENV{CUDA_PATH}" /usr/local/cuda)
    if(root)
        list(APPEND tessiq_cuda_folders "${root}/include")
    endif()
endforeach()
foreach(folder IN LISTS TESSIQ_SITE_NVIDIA)
    list(APPEND tessiq_cuda_folders "${folder}/cu${tessiq_cuda_major}/include")
endforeach()

set(tessiq_cuda_seen "")
foreach(folder IN LISTS tessiq_cuda_folders)
    tessiq_cuda_version_of("${folder}" version)
    if(NOT version)
        continue()
    endif()
    if(tessiq_cuda_major AND NOT version MATCHES "^${tessiq_cuda_major}\\.")
        list(APPEND tessiq_cuda_seen "${folder} (${version})")
        continue()
    endif()
    set(TESSIQ_HAS_CUDA ON)
    add_library(tessiq_cuda_headers INTERFACE)
    target_include_directories(tessiq_cuda_headers SYSTEM INTERFACE "${folder}")
    message(STATUS "CUDA ${version} headers in ${folder}")
    break()
endforeach()

if(TESSIQ_HAS_CUDA)
    # cuDNN's headers come in a wheel of their own, those of its graph API (header-only) in another, which lies in the
    # folder beside the first.
    set(TESSIQ_HAS_CUDNN OFF)
    foreach(folder IN LISTS TESSIQ_SITE_NVIDIA)
        if(EXISTS "${folder}/cudnn/include/cudnn.h" AND EXISTS "${folder}/../include/cudnn_frontend.h")
            set(TESSIQ_HAS_CUDNN ON)
            set(TESSIQ_CUDNN_FRONTEND_INCLUDE_DIR "${folder}/../include")
            target_include_directories(tessiq_cuda_headers SYSTEM INTERFACE "${folder}/cudnn/include")
            break()
        endif()
    endforeach()
    if(NOT TESSIQ_HAS_CUDNN)
        message(STATUS "no cuDNN headers found: convolutions run through PyTorch")
    endif()
elseif(TESSIQ_CUDA STREQUAL "ON")
    message(FATAL_ERROR "TESSIQ_CUDA=ON, but no folder holds cuda.h, cublasLt.h, crt/host_defines.h and nv/target "
        "of CUDA ${TESSIQ_TORCH_CUDA_VERSION}; looked in ${tessiq_cuda_folders}; other versions: ${tessiq_cuda_seen}. "
        "pip install 'nvidia-cuda-crt==13.0.*' 'nvidia-cuda-cccl==13.0.*' beside PyTorch, or set CUDA_HOME")
else()
    message(STATUS "no CUDA headers found: built without the CUDA device")
endif()
