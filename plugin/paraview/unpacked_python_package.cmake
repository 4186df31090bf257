# Debian's configuration files of ParaView insist on what is in python3-paraview, which cannot be
# installed beside the Python modules of the system's VTK. A plugin needs of it only the lists of
# classes ("hierarchy") that the wrapping tools read; they are taken from where that package has been
# unpacked (FUNCATTN_PARAVIEW_RUN). Where the package is installed nothing of this has an effect.

# Before find_package(ParaView): targets with the names of the Python modules and of
# pvpython, so that CMake does not look for them.
macro(prepare_unpacked_paraview)
  find_path(ParaView_DIR paraview-config.cmake PATH_SUFFIXES
    lib/cmake/paraview-5.11 lib/${CMAKE_LIBRARY_ARCHITECTURE}/cmake/paraview-5.11)
  if(ParaView_DIR)
    string(REGEX REPLACE "/lib/.*" "" paraview_prefix "${ParaView_DIR}")
    foreach(exported vtk/VTKPython ParaViewPython ParaViewTools)
      declare_incomplete_targets(${ParaView_DIR}/${exported}-targets)
    endforeach()
  endif()
endmacro()

function(declare_incomplete_targets export_file)
  file(GLOB location_files ${export_file}-*.cmake)
  set(complete TRUE)
  foreach(location_file IN LISTS location_files)
    file(STRINGS ${location_file} lines REGEX "IMPORTED_LOCATION")
    string(REGEX MATCHALL "}/[^\"]+" paths "${lines}")
    list(TRANSFORM paths REPLACE "^}" "${paraview_prefix}")
    foreach(path IN LISTS paths)
      if(NOT EXISTS ${path})
        set(complete FALSE)
      endif()
    endforeach()
  endforeach()
  if(complete)
    return()
  endif()
  file(STRINGS ${export_file}.cmake expected REGEX "_expected_target IN ITEMS ")
  string(REGEX MATCHALL "[A-Za-z0-9_]+::[A-Za-z0-9_]+" targets "${expected}")
  foreach(target IN LISTS targets)
    add_library(${target} INTERFACE IMPORTED GLOBAL)
  endforeach()
endfunction()

# After find_package(ParaView): the lists of classes from where they have been unpacked.
function(use_unpacked_hierarchies)
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(target IN LISTS targets)
    get_property(hierarchy TARGET ${target} PROPERTY INTERFACE_vtk_module_hierarchy)
    if(NOT hierarchy OR EXISTS ${hierarchy})
      continue()
    endif()
    string(REGEX REPLACE "^${paraview_prefix}/" "${FUNCATTN_PARAVIEW_RUN}/" unpacked "${hierarchy}")
    if(NOT EXISTS ${unpacked})
      message(FATAL_ERROR "There is neither ${hierarchy} nor ${unpacked}. Install python3-paraview, or "
        "unpack it by './dev setup --paraview' where it cannot be installed.")
    endif()
    set_property(TARGET ${target} PROPERTY INTERFACE_vtk_module_hierarchy ${unpacked})
  endforeach()
endfunction()
