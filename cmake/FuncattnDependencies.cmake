# Everything that is found outside the project, in one place.
include(${PROJECT_SOURCE_DIR}/meshio/sources.cmake)
include(${PROJECT_SOURCE_DIR}/plugin/sources.cmake)
set(FUNCATTN_VTK_COMPONENTS ${FUNCATTN_MESH_VTK_COMPONENTS} ${FUNCATTN_MESH_FILE_VTK_COMPONENTS}
    ${FUNCATTN_STAGE_VTK_COMPONENTS})
find_package(Torch REQUIRED)
find_package(VTK 9.1 REQUIRED COMPONENTS ${FUNCATTN_VTK_COMPONENTS})
find_package(Eigen3 3.4 REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS program_options)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(OpenMP COMPONENTS CXX REQUIRED)
find_package(Threads REQUIRED)
include(FuncattnMPI)
include(FuncattnPython)
if(FUNCATTN_BUILD_BENCH)
  find_package(benchmark 1.7 QUIET)  # For the kernels alone; ./dev setup --bench installs it.
endif()

# Torch's flags stay on the targets that use Torch (VTK's wrapping tools must not see them).
if(NOT TARGET funcattn_torch)
  add_library(funcattn_torch INTERFACE)
  add_library(funcattn::torch ALIAS funcattn_torch)
  set_target_properties(funcattn_torch PROPERTIES EXPORT_NAME torch)
  target_link_libraries(funcattn_torch INTERFACE torch OpenMP::OpenMP_CXX)
endif()
if(TORCH_CXX_FLAGS MATCHES "_GLIBCXX_USE_CXX11_ABI=0")
  message(FATAL_ERROR
    "This LibTorch was built with the old C++ ABI (_GLIBCXX_USE_CXX11_ABI=0) and VTK with the new "
    "one; they cannot share a program. Use the 'cxx11 ABI' build of LibTorch or the package libtorch-dev.")
endif()

# Fortran, for the example of its use; the library does without.
include(CheckLanguage)
check_language(Fortran)
if(CMAKE_Fortran_COMPILER)
  enable_language(Fortran)
endif()
