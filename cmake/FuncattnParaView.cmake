# ParaView's plugin. ParaView brings a VTK of its own, which one configure step cannot find beside the
# system's, and which must not meet it in one process either. So plugin/paraview is a project of its
# own that compiles what knows VTK (meshes, stage, filter) once more, against ParaView's VTK, and takes
# what does not (core, operators) from this build.
include(ExternalProject)

set(FUNCATTN_BUILD_PARAVIEW AUTO CACHE STRING
    "Build the ParaView plugin: ON, OFF, or AUTO (where ParaView's development files are)")
set_property(CACHE FUNCATTN_BUILD_PARAVIEW PROPERTY STRINGS AUTO ON OFF)
set(ParaView_DIR "" CACHE PATH "Folder of paraview-config.cmake; empty: where CMake looks for it")

find_program(FUNCATTN_PVPYTHON pvpython HINTS ${PROJECT_SOURCE_DIR}/build/paraview-run/usr/bin)
# The one beside it: another, found before pvpython was there, does not know where its modules are.
get_filename_component(FUNCATTN_PVBATCH ${FUNCATTN_PVPYTHON} DIRECTORY)
string(APPEND FUNCATTN_PVBATCH /pvbatch)
if(NOT EXISTS ${FUNCATTN_PVBATCH})
  set(FUNCATTN_PVBATCH FUNCATTN_PVBATCH-NOTFOUND)
endif()

get_filename_component(FUNCATTN_PARAVIEW_RUN ${FUNCATTN_PVPYTHON}/../.. ABSOLUTE)

set(FUNCATTN_PARAVIEW_BUILD_DIR ${PROJECT_BINARY_DIR}/paraview)
set(paraview_arguments
  -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE}
  -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
  -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER}
  -DFUNCATTN_VERSION=${PROJECT_VERSION}
  -DFUNCATTN_PARAVIEW_RUN=${FUNCATTN_PARAVIEW_RUN})
if(ParaView_DIR)
  list(APPEND paraview_arguments -DParaView_DIR=${ParaView_DIR})
endif()
if(CMAKE_PREFIX_PATH)
  list(JOIN CMAKE_PREFIX_PATH "|" prefix_path)
endif()

# Why there is no plugin, for the summary; empty where there is one.
set(FUNCATTN_PARAVIEW_LEFT_OUT "")
if(NOT FUNCATTN_BUILD_PARAVIEW)
  set(FUNCATTN_PARAVIEW_LEFT_OUT "FUNCATTN_BUILD_PARAVIEW is OFF")
elseif(FUNCATTN_SANITIZE)
  set(FUNCATTN_PARAVIEW_LEFT_OUT "ParaView's programs do not run with sanitizers")
elseif(NOT FUNCATTN_PARAVIEW_VERSION)
  # The same project, stopped once it has found ParaView. What is missing is looked for anew each time.
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${PROJECT_SOURCE_DIR}/plugin/paraview
      -B ${PROJECT_BINARY_DIR}/paraview-found -G ${CMAKE_GENERATOR} ${paraview_arguments}
      "-DCMAKE_PREFIX_PATH=${CMAKE_PREFIX_PATH}" -DFUNCATTN_FIND_ONLY=ON
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT status EQUAL 0)
    file(WRITE ${PROJECT_BINARY_DIR}/paraview-found/errors.log "${output}${errors}")
    if(errors MATCHES "Could not find a package configuration file provided by \"ParaView\"")
      set(FUNCATTN_PARAVIEW_LEFT_OUT "no development files of ParaView (./dev setup --paraview)")
    else()
      set(FUNCATTN_PARAVIEW_LEFT_OUT
        "what ParaView needs is not complete (./dev setup --paraview); see ${PROJECT_BINARY_DIR}/paraview-found/errors.log")
    endif()
    if(NOT FUNCATTN_BUILD_PARAVIEW STREQUAL "AUTO")
      message(FATAL_ERROR "FUNCATTN_BUILD_PARAVIEW is ON: ${FUNCATTN_PARAVIEW_LEFT_OUT}")
    endif()
  elseif(output MATCHES "funcattn-paraview-version: ([0-9.]+)")
    set(FUNCATTN_PARAVIEW_VERSION ${CMAKE_MATCH_1} CACHE INTERNAL "ParaView that was found")
  endif()
endif()
if(FUNCATTN_PARAVIEW_LEFT_OUT)
  return()
endif()

export(TARGETS funcattn_build_flags funcattn_torch funcattn_core funcattn_operators
  NAMESPACE funcattn:: FILE ${PROJECT_BINARY_DIR}/funcattn_without_vtk.cmake)

ExternalProject_Add(funcattn_paraview
  SOURCE_DIR ${PROJECT_SOURCE_DIR}/plugin/paraview
  BINARY_DIR ${FUNCATTN_PARAVIEW_BUILD_DIR}
  LIST_SEPARATOR |
  CMAKE_ARGS ${paraview_arguments} -DCMAKE_PREFIX_PATH=${prefix_path}
    -DFUNCATTN_WERROR=${FUNCATTN_WERROR}
    -DFUNCATTN_ASSERTIONS=${FUNCATTN_ASSERTIONS}
    -DFUNCATTN_WITHOUT_VTK=${PROJECT_BINARY_DIR}/funcattn_without_vtk.cmake
    -DCMAKE_INSTALL_LIBDIR=${CMAKE_INSTALL_LIBDIR}
    -DCMAKE_EXPORT_COMPILE_COMMANDS=${CMAKE_EXPORT_COMPILE_COMMANDS}
  DEPENDS funcattn_core funcattn_operators
  BUILD_ALWAYS ON
  USES_TERMINAL_BUILD ON
  INSTALL_COMMAND "")

# ParaView's own folder for plugins, below the library folder.
string(REGEX MATCH "^[0-9]+\\.[0-9]+" paraview_series ${FUNCATTN_PARAVIEW_VERSION})
set(FUNCATTN_PARAVIEW_PLUGIN ${FUNCATTN_PARAVIEW_BUILD_DIR}/${CMAKE_INSTALL_LIBDIR}/paraview-${paraview_series}/plugins/NeuralOperator/NeuralOperator.so)

# Only on demand, cmake --install BUILD --component paraview: a system without ParaView has no use for it.
install(CODE "
  execute_process(COMMAND \"${CMAKE_COMMAND}\" --install \"${FUNCATTN_PARAVIEW_BUILD_DIR}\"
    --prefix \"\${CMAKE_INSTALL_PREFIX}\" --component paraview_plugins RESULT_VARIABLE status)
  if(status)
    message(FATAL_ERROR \"the ParaView plugin could not be installed; build it first\")
  endif()" COMPONENT paraview EXCLUDE_FROM_ALL)
