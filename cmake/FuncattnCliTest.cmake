# cli_test(name ARGS ... [EXIT n] [STDOUT regex] [STDERR regex] [OUTPUT file...] [NO_OUTPUT file...]
#          [STDIN text] [STDOUT_TO file] [LABELS ...])
# Runs the built command in an empty folder of its own, with STDIN on its standard input. EXIT defaults to 0; an empty STDERR means
# that nothing may stand there; OUTPUT files must exist afterwards, NO_OUTPUT files must not, and no
# half-written file may remain. "@fixtures@" in ARGS and STDIN stands for the folder of fixtures.
set(FUNCATTN_CLI_TEST_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/run_cli_test.cmake)

function(cli_test name)
  cmake_parse_arguments(PARSE_ARGV 1 TEST "" "EXIT;STDIN;STDOUT;STDERR;STDOUT_TO"
    "ARGS;OUTPUT;NO_OUTPUT;LABELS")
  if(NOT DEFINED TEST_EXIT)
    set(TEST_EXIT 0)
  endif()
  if(NOT TEST_EXIT EQUAL 0 AND NOT TEST_STDERR)
    message(FATAL_ERROR "cli_test(${name}): a failing command needs STDERR, its message")
  endif()
  string(REPLACE "@fixtures@" "${FUNCATTN_CLI_FIXTURES}" TEST_STDIN "${TEST_STDIN}")
  list(TRANSFORM TEST_ARGS REPLACE "@fixtures@" "${FUNCATTN_CLI_FIXTURES}")
  add_test(NAME cli.${name} COMMAND ${CMAKE_COMMAND}
    "-DCOMMAND=$<TARGET_FILE:funcattn_command>"
    "-DARGUMENTS=${TEST_ARGS}"
    "-DFOLDER=${CMAKE_CURRENT_BINARY_DIR}/cli/${name}"
    "-DEXIT=${TEST_EXIT}"
    "-DSTDIN=${TEST_STDIN}"
    "-DSTDOUT=${TEST_STDOUT}"
    "-DSTDERR=${TEST_STDERR}"
    "-DSTDOUT_TO=${TEST_STDOUT_TO}"
    "-DOUTPUT=${TEST_OUTPUT}"
    "-DNO_OUTPUT=${TEST_NO_OUTPUT}"
    -P ${FUNCATTN_CLI_TEST_SCRIPT})
  set_tests_properties(cli.${name} PROPERTIES
    LABELS "cli;${TEST_LABELS}" ENVIRONMENT "${FUNCATTN_TEST_ENVIRONMENT}"
    FIXTURES_REQUIRED cli_fixtures)
endfunction()

# cli_script(name): runs tests/plugin/cli/NAME.sh in an empty folder, for what takes more than one
# command. Exit status 77: skipped.
function(cli_script name)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/cli/${name})
  add_test(NAME cli.${name} COMMAND bash -c "rm -rf '${folder}' && mkdir -p '${folder}' && \
cd '${folder}' && exec bash '${CMAKE_CURRENT_SOURCE_DIR}/cli/${name}.sh'")
  set_tests_properties(cli.${name} PROPERTIES
    LABELS cli SKIP_RETURN_CODE 77 FIXTURES_REQUIRED cli_fixtures ENVIRONMENT
    "${FUNCATTN_TEST_ENVIRONMENT};FUNCATTN=$<TARGET_FILE:funcattn_command>;FIXTURES=${FUNCATTN_CLI_FIXTURES}")
endfunction()
