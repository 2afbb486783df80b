# How a folder of csrc/ becomes a static library.
#
#   tessiq_add_library(tessiq_ir DEPENDS tessiq_support SOURCES_GLOB "*.cpp" "text/*.cpp")
#   tessiq_add_library(tessiq_passes WHOLE_ARCHIVE DEPENDS ... SOURCES_GLOB ...)
#   tessiq_library_sources(tessiq_runtime DEPENDS tessiq_cuda_api SOURCES_GLOB "cuda/*.cpp")
#
# Globs are relative to the calling folder and are looked at again on every build (CONFIGURE_DEPENDS).
# DEPENDS names libraries of this project or any imported target; PRIVATE_DEPENDS the same without passing
# include paths on. WHOLE_ARCHIVE marks a library that registers itself from static objects: nothing refers
# to those objects by name, so a linker that takes archive members on demand would drop them in silence.

# Adds a folder where it has a CMakeLists.txt.
function(tessiq_add_folder folder)
    if(EXISTS "${PROJECT_SOURCE_DIR}/${folder}/CMakeLists.txt")
        add_subdirectory("${PROJECT_SOURCE_DIR}/${folder}" "${PROJECT_BINARY_DIR}/${folder}")
    endif()
endfunction()

function(tessiq_add_library name)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "WHOLE_ARCHIVE" "" "DEPENDS;PRIVATE_DEPENDS;SOURCES_GLOB")
    if(ARG_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "tessiq_add_library(${name}): unknown arguments ${ARG_UNPARSED_ARGUMENTS}")
    endif()
    add_library(${name} STATIC)
    # Every static library may end up inside the extension module, which is a shared object.
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON LINKER_LANGUAGE CXX)
    target_link_libraries(${name} PUBLIC tessiq_build)
    tessiq_define_configuration(${name})
    set_property(GLOBAL APPEND PROPERTY TESSIQ_LIBRARIES ${name})
    if(ARG_WHOLE_ARCHIVE)
        set_property(GLOBAL APPEND PROPERTY TESSIQ_WHOLE_ARCHIVE_LIBRARIES ${name})
    endif()
    tessiq_library_sources(${name} DEPENDS ${ARG_DEPENDS} PRIVATE_DEPENDS ${ARG_PRIVATE_DEPENDS}
        SOURCES_GLOB ${ARG_SOURCES_GLOB})
endfunction()

# More sources for a library, usually under a condition such as if(TESSIQ_HAS_CUDA).
function(tessiq_library_sources name)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "DEPENDS;PRIVATE_DEPENDS;SOURCES_GLOB")
    set(patterns ${ARG_SOURCES_GLOB})
    list(TRANSFORM patterns PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
    file(GLOB sources CONFIGURE_DEPENDS ${patterns})
    if(patterns AND NOT sources)
        message(FATAL_ERROR "${name}: no source matches ${ARG_SOURCES_GLOB} in ${CMAKE_CURRENT_SOURCE_DIR}")
    endif()
    target_sources(${name} PRIVATE ${sources})
    tessiq_depend(${name} PUBLIC ${ARG_DEPENDS})
    tessiq_depend(${name} PRIVATE ${ARG_PRIVATE_DEPENDS})
endfunction()

# Records a dependency that may be added later in the same configure run; tessiq_check_dependencies() reports
# those that never were.
function(tessiq_depend target visibility)
    foreach(dependency IN LISTS ARGN)
        target_link_libraries(${target} ${visibility} $<TARGET_NAME_IF_EXISTS:${dependency}>)
        set_property(GLOBAL APPEND PROPERTY TESSIQ_DEPENDENCIES "${target}>${dependency}")
    endforeach()
endfunction()

# Links an executable or module, and takes every self-registering library whole, however it is reached.
function(tessiq_link target)
    target_link_libraries(${target} PRIVATE tessiq_build)
    tessiq_depend(${target} PRIVATE ${ARGN})
    get_property(whole GLOBAL PROPERTY TESSIQ_WHOLE_ARCHIVE_LIBRARIES)
    foreach(library IN LISTS whole)
        # Passes register themselves by name; with ordinary linking their object files would be left out.
        set_property(TARGET ${target} PROPERTY LINK_LIBRARY_OVERRIDE_${library} WHOLE_ARCHIVE)
    endforeach()
endfunction()

function(tessiq_check_dependencies)
    get_property(edges GLOBAL PROPERTY TESSIQ_DEPENDENCIES)
    foreach(edge IN LISTS edges)
        string(REPLACE ">" ";" pair "${edge}")
        list(GET pair 0 target)
        list(GET pair 1 dependency)
        if(NOT TARGET ${dependency})
            message(SEND_ERROR "${target} depends on ${dependency}, which this configuration does not build")
        endif()
    endforeach()
endfunction()
