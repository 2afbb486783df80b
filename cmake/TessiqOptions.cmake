# The choices a person can make about a build, and their defaults. Nothing here looks at the machine, except
# that TESSIQ_CUDA=AUTO is settled later, where the headers are looked for (TessiqCuda.cmake).

set(TESSIQ_CUDA AUTO CACHE STRING "CUDA device: ON, OFF, or AUTO (on where CUDA headers are found)")
set_property(CACHE TESSIQ_CUDA PROPERTY STRINGS AUTO ON OFF)
option(TESSIQ_PYTORCH "the Python extension module tessiq._C" ON)
option(TESSIQ_TESTS "the C++ tests" ON)
option(TESSIQ_WERROR "compiler warnings are errors" OFF)
option(TESSIQ_CHECKS "assertions, and the verifier between any two passes" ON)
option(TESSIQ_CCACHE "compile through ccache where it is installed" ON)
set(TESSIQ_SANITIZE "" CACHE STRING "sanitizers for the core and its tests, as in -fsanitize= (address,undefined or thread)")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "build type" FORCE)
endif()

if(TESSIQ_SANITIZE AND TESSIQ_PYTORCH)
    # PyTorch's own libraries carry no instrumentation, so reports about the extension would be noise.
    message(FATAL_ERROR "TESSIQ_SANITIZE needs TESSIQ_PYTORCH=OFF: sanitizers cover the core and its C++ tests")
endif()
