# tessiq-opt, the command line over the IR and the passes: no CUDA and no PyTorch in it.

file(GLOB tessiq_opt_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tools/tessiq-opt/*.cpp")
if(NOT tessiq_opt_sources)
    return()
endif()
find_path(TESSIQ_CLI11_INCLUDE_DIR CLI/CLI.hpp)
if(NOT TESSIQ_CLI11_INCLUDE_DIR)
    message(WARNING "CLI/CLI.hpp was not found (apt-get install libcli11-dev): tessiq-opt is not built")
    return()
endif()

add_executable(tessiq-opt ${tessiq_opt_sources})
target_include_directories(tessiq-opt SYSTEM PRIVATE "${TESSIQ_CLI11_INCLUDE_DIR}")
tessiq_define_configuration(tessiq-opt)
tessiq_link(tessiq-opt tessiq_support tessiq_ir tessiq_optable tessiq_analysis tessiq_passes tessiq_emit)
