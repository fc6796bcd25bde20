# Run at every build: writes the header of build facts, touching it only when something changed.
set(SHOAL_COMMIT "unknown")
execute_process(COMMAND git -C ${SOURCE_DIR} rev-parse --short=12 HEAD OUTPUT_VARIABLE commit
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(NOT failed)
  set(SHOAL_COMMIT ${commit})
  execute_process(COMMAND git -C ${SOURCE_DIR} diff-index --quiet HEAD -- RESULT_VARIABLE changed ERROR_QUIET)
  if(changed)
    string(APPEND SHOAL_COMMIT ", modified")
  endif()
endif()
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
