# How every target of the project is made: warnings, sanitizers, precompiled headers, include paths.

add_library(funcattn_build_flags INTERFACE)
target_compile_options(funcattn_build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual
  $<$<BOOL:${FUNCATTN_WERROR}>:-Werror>
  $<$<BOOL:${FUNCATTN_ASSERTIONS}>:-UNDEBUG>)
if(FUNCATTN_SANITIZE)
  target_compile_options(funcattn_build_flags INTERFACE
    -fsanitize=${FUNCATTN_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(funcattn_build_flags INTERFACE -fsanitize=${FUNCATTN_SANITIZE})
endif()

# Applies the project's flags; TORCH adds the precompiled LibTorch header, which costs half a
# minute once instead of in every translation unit.
function(funcattn_configure_target target)
  cmake_parse_arguments(ARG "TORCH" "" "" ${ARGN})
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:funcattn_build_flags>)
  if(ARG_TORCH)
    if(NOT TARGET funcattn_torch_pch)
      file(WRITE ${PROJECT_BINARY_DIR}/funcattn_torch_pch.cpp "")
      add_library(funcattn_torch_pch OBJECT ${PROJECT_BINARY_DIR}/funcattn_torch_pch.cpp)
      target_link_libraries(funcattn_torch_pch PRIVATE
        funcattn_torch funcattn_build_flags nlohmann_json::nlohmann_json)
      target_precompile_headers(funcattn_torch_pch PRIVATE
        <ATen/ATen.h> <torch/csrc/autograd/custom_function.h> <torch/nn/module.h> <torch/types.h>
        <torch/utils.h> <nlohmann/json.hpp> <filesystem> <functional> <sstream>)
    endif()
    target_precompile_headers(${target} REUSE_FROM funcattn_torch_pch)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL EXECUTABLE)
      # The header is precompiled with -fPIC; with the -fPIE of executables it would be refused.
      set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${target} PRIVATE -fPIC)
    endif()
  endif()
endfunction()

# funcattn_add_library(core [TORCH] SOURCES ... HEADERS ... PUBLIC ... PRIVATE ...)
# One library per top-level folder. HEADERS are installed to include/funcattn/<folder>.
function(funcattn_add_library name)
  cmake_parse_arguments(ARG "TORCH" "" "SOURCES;HEADERS;PUBLIC;PRIVATE" ${ARGN})
  set(target funcattn_${name})
  add_library(${target} ${ARG_SOURCES} ${ARG_HEADERS})
  add_library(funcattn::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/funcattn>)
  target_compile_features(${target} PUBLIC cxx_std_17)
  target_link_libraries(${target} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  if(ARG_TORCH)
    funcattn_configure_target(${target} TORCH)
  else()
    funcattn_configure_target(${target})
  endif()
  foreach(header IN LISTS ARG_HEADERS)
    file(RELATIVE_PATH relative ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${header})
    get_filename_component(folder ${relative} DIRECTORY)
    install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/funcattn/${folder})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY FUNCATTN_INSTALL_TARGETS ${target})
endfunction()

# funcattn_add_test(name [TORCH] SOURCES ... LINK ...)
# A GoogleTest program. Each TEST becomes a ctest entry, except with TORCH, where the program is one
# entry: to load LibTorch takes a second, and there are hundreds of such tests.
function(funcattn_add_test name)
  cmake_parse_arguments(ARG "TORCH" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  if(ARG_TORCH)
    funcattn_configure_target(${name} TORCH)
  else()
    funcattn_configure_target(${name})
  endif()
  if(ARG_TORCH)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "${FUNCATTN_TEST_ENVIRONMENT}"
      TIMEOUT 900)
  else()
    string(REPLACE ";" "\\;" environment "${FUNCATTN_TEST_ENVIRONMENT}")
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 120
      PROPERTIES ENVIRONMENT "${environment}")
  endif()
endfunction()
