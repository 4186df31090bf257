# The Debian package: `./dev package`, or `cpack -G DEB` in the build folder.
set(FUNCATTN_PACKAGE_MAINTAINER "funcattn developers <funcattn@example.org>"
    CACHE STRING "Name <address> of whoever answers for the Debian package")
set(FUNCATTN_PACKAGE_DATE "Thu, 01 Jan 2026 00:00:00 +0000"
    CACHE STRING "Date of the Debian package's changelog, as `date -R` writes it")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ${PROJECT_NAME})
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT ${FUNCATTN_PACKAGE_MAINTAINER})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"A trained operator reads a mesh with fields, at whatever number of points it
has, and hands the same mesh on with predicted fields added. The package holds
the command funcattn, the C library libfuncattn with its header and Fortran
module, the C++ libraries with a CMake package, and, where they were built, the
VTK filter and the Python module.")
set(CPACK_PACKAGE_HOMEPAGE_URL "https://arxiv.org/abs/2605.31559")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL OFF)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
# What the programs link with is found by dpkg-shlibdeps; what compiling against the libraries needs is
# for the few.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libopenblas0-openmp")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
  "gfortran, libboost-dev, libboost-program-options-dev, libeigen3-dev, libhdf5-dev, libtorch-dev, \
libvtk9-dev, nlohmann-json3-dev, paraview")
if(FUNCATTN_WITH_PYTHON)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "python3, python3-numpy, python3-vtk9")
endif()
# Programs linked with the C library depend on this package, and ldconfig hears of it.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY >=)
include(CPack)

# What Debian's policy asks for in /usr/share/doc.
set(FUNCATTN_DEBIAN_DOC ${PROJECT_BINARY_DIR}/debian)
configure_file(cmake/debian/copyright.in ${FUNCATTN_DEBIAN_DOC}/copyright @ONLY)
configure_file(cmake/debian/changelog.in ${FUNCATTN_DEBIAN_DOC}/changelog @ONLY)
find_program(FUNCATTN_GZIP gzip)
if(FUNCATTN_GZIP)
  execute_process(COMMAND ${FUNCATTN_GZIP} -9nkf ${FUNCATTN_DEBIAN_DOC}/changelog)
  install(FILES ${FUNCATTN_DEBIAN_DOC}/changelog.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/funcattn)
endif()
install(FILES ${FUNCATTN_DEBIAN_DOC}/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/funcattn)
