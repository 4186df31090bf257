# Everything that is found outside the project, in one place.
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(FUNCATTN_CCACHE ccache)
if(FUNCATTN_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers carry time stamps; without this every object would miss the cache.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${FUNCATTN_CCACHE})
endif()

include(GNUInstallDirs)
set(FUNCATTN_VTK_COMPONENTS
    CommonCore CommonDataModel CommonExecutionModel FiltersCore FiltersGeneral FiltersGeometry
    FiltersModeling FiltersSources FiltersVerdict IOCore IOEnSight IOExodus IOGeometry IOHDF IOLegacy
    IOPLY IOXML IOXMLParser hdf5 loguru)
find_package(Torch REQUIRED)
find_package(VTK 9.1 REQUIRED COMPONENTS ${FUNCATTN_VTK_COMPONENTS})
find_package(Eigen3 3.4 REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS program_options)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(OpenMP COMPONENTS CXX REQUIRED)
find_package(Threads REQUIRED)
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
