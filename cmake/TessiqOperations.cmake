# How a folder of custom operations becomes part of a library.
#
#   tessiq_add_operations(<target> FOLDER <folder>)     the operations in <folder>/<name>/ join a target
#   tessiq_operation_library(<target> FOLDER <folder>)  a library of them that tessiq.load_operations(path) loads
#
# OPERATIONS <names> after the folder takes those only; without it every folder but those whose name starts with _.
#
# An operation is a folder named as itself with definition.cpp in it; its kernel, <name>.cu, and its pattern,
# pattern.tir, are embedded as text. A new folder or a changed file configures again by itself.

# A literal may not be longer than the standard asks of compilers, so long texts come in pieces.
function(tessiq_embed_text file out)
    if(NOT EXISTS "${file}")
        set(${out} "nullptr" PARENT_SCOPE)
        return()
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(READ "${file}" text)
    string(LENGTH "${text}" length)
    set(literal "")
    set(at 0)
    while(at LESS length)
        string(SUBSTRING "${text}" ${at} 8000 piece)
        string(APPEND literal "\n    R\"tessiq_text(${piece})tessiq_text\"")
        math(EXPR at "${at} + 8000")
    endwhile()
    if(literal STREQUAL "")
        set(literal "\"\"")
    endif()
    set(${out} "${literal}" PARENT_SCOPE)
endfunction()

function(tessiq_add_operations target)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "FOLDER" "OPERATIONS")
    if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_FOLDER)
        message(FATAL_ERROR "tessiq_add_operations(${target}) takes FOLDER <folder>, and was given ${ARGN}")
    endif()
    cmake_path(ABSOLUTE_PATH ARG_FOLDER BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    file(GLOB definitions CONFIGURE_DEPENDS "${ARG_FOLDER}/*/definition.cpp")
    # Looked at again on every build, so that a kernel or a pattern that is new is embedded.
    file(GLOB texts CONFIGURE_DEPENDS "${ARG_FOLDER}/*/*.cu" "${ARG_FOLDER}/*/pattern.tir")
    if(ARG_OPERATIONS)
        list(JOIN ARG_OPERATIONS "|" wanted)
        list(FILTER definitions INCLUDE REGEX "/(${wanted})/definition.cpp$")
    else()
        list(FILTER definitions EXCLUDE REGEX "/_[^/]*/definition.cpp$")
    endif()
    if(NOT definitions)
        message(FATAL_ERROR "tessiq_add_operations(${target}): no ${ARG_FOLDER}/<name>/definition.cpp")
    endif()
    set(content "// Written by CMake: the files beside each definition.\n#include \"pytorch/custom/definition.h\"\n\n")
    foreach(definition IN LISTS definitions)
        cmake_path(GET definition PARENT_PATH folder)
        cmake_path(GET folder FILENAME name)
        tessiq_embed_text("${folder}/${name}.cu" kernel)
        tessiq_embed_text("${folder}/pattern.tir" pattern)
        string(APPEND content "[[maybe_unused]] static const bool files_of_${name} = ::tessiq::custom::record(\n"
            "    ::tessiq::custom::RecordedFiles{\"${name}\", ${kernel}, ${pattern}});\n")
    endforeach()
    set(written "${CMAKE_CURRENT_BINARY_DIR}/${target}_operation_files.cpp")
    file(CONFIGURE OUTPUT "${written}" CONTENT "@content@" @ONLY)
    target_sources(${target} PRIVATE ${definitions} "${written}")
endfunction()

function(tessiq_operation_library target)
    add_library(${target} MODULE)
    target_link_libraries(${target} PRIVATE tessiq_operation_headers tessiq_torch)
    set_target_properties(${target} PROPERTIES
        PREFIX "" CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_VISIBILITY_PRESET hidden
        # PyTorch's libraries are in the process by the time this is loaded.
        SKIP_BUILD_RPATH ON)
    target_compile_definitions(${target} PRIVATE NDEBUG)
    tessiq_add_operations(${target} ${ARGN})
    set(written "${CMAKE_CURRENT_BINARY_DIR}/${target}_entry.cpp")
    file(CONFIGURE OUTPUT "${written}" CONTENT [[
// Written by CMake: what tessiq.load_operations asks a library for.
#include "pytorch/custom/definition.h"

extern "C" __attribute__((visibility("default"))) const char* tessiq_operations_interface() {
  return TESSIQ_OPERATIONS_INTERFACE;
}
extern "C" __attribute__((visibility("default"))) const void* tessiq_operations() {
  return &::tessiq::custom::records();
}
]] @ONLY)
    target_sources(${target} PRIVATE "${written}")
endfunction()
