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
      target_link_libraries(funcattn_torch_pch PRIVATE funcattn_torch funcattn_build_flags)
      target_precompile_headers(funcattn_torch_pch PRIVATE <torch/torch.h>)
    endif()
    target_precompile_headers(${target} REUSE_FROM funcattn_torch_pch)
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

# funcattn_add_test(name [TORCH] SOURCES ... LINK ... [LABELS ...])
# A GoogleTest program; each TEST becomes a ctest entry.
function(funcattn_add_test name)
  cmake_parse_arguments(ARG "TORCH" "" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  if(ARG_TORCH)
    funcattn_configure_target(${name} TORCH)
  else()
    funcattn_configure_target(${name})
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 120
    PROPERTIES LABELS "${ARG_LABELS}" ENVIRONMENT "${FUNCATTN_TEST_ENVIRONMENT}")
endfunction()
