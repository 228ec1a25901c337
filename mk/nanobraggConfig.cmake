# find_package(nanobragg) and target_link_libraries(mine nanobragg::nanobragg): the shared library and its headers.
get_filename_component(_nanobragg_lib "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
find_path(nanobragg_INCLUDE_DIR nanobragg.h NO_DEFAULT_PATH
    PATHS "${_nanobragg_lib}/../include" "${_nanobragg_lib}/../../include") # the second one: lib/MACHINE, as in Debian
if(NOT TARGET nanobragg::nanobragg)
    add_library(nanobragg::nanobragg SHARED IMPORTED)
    set_target_properties(nanobragg::nanobragg PROPERTIES IMPORTED_LOCATION "${_nanobragg_lib}/libnanobragg.so"
        INTERFACE_INCLUDE_DIRECTORIES "${nanobragg_INCLUDE_DIR}")
endif()
unset(_nanobragg_lib)
