include(CMakePackageConfigHelpers)
set(FUNCATTN_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/funcattn)
list(JOIN FUNCATTN_VTK_COMPONENTS " " FUNCATTN_VTK_COMPONENT_LIST)

get_property(install_targets GLOBAL PROPERTY FUNCATTN_INSTALL_TARGETS)
install(TARGETS ${install_targets} funcattn_torch EXPORT funcattnTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET funcattn_command)
  install(TARGETS funcattn_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(EXPORT funcattnTargets NAMESPACE funcattn:: DESTINATION ${FUNCATTN_PACKAGE_DIR})

configure_package_config_file(cmake/funcattnConfig.cmake.in
  ${PROJECT_BINARY_DIR}/funcattnConfig.cmake INSTALL_DESTINATION ${FUNCATTN_PACKAGE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/funcattnConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/funcattnConfig.cmake
  ${PROJECT_BINARY_DIR}/funcattnConfigVersion.cmake DESTINATION ${FUNCATTN_PACKAGE_DIR})
