# Writes python/tessiq/_build_info.py: which PyTorch the extension was built for, readable before it is loaded. A
# module built for another PyTorch may not load at all, so the module itself cannot be asked.
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/_build_info.py" @ONLY CONTENT
"\"\"\"Written by CMake: what the extension module tessiq._C was built for.\"\"\"

TESSIQ_VERSION = \"@PROJECT_VERSION@\"
TORCH_VERSION = \"@TESSIQ_TORCH_VERSION@\"
")
if(SKBUILD)
    install(FILES "${PROJECT_BINARY_DIR}/_build_info.py" DESTINATION tessiq COMPONENT python)
else()
    # Used from the checkout, where the module is put beside it.
    file(COPY_FILE "${PROJECT_BINARY_DIR}/_build_info.py" "${PROJECT_SOURCE_DIR}/python/tessiq/_build_info.py"
        ONLY_IF_DIFFERENT)
endif()
