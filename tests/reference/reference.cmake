# All examples of the reference are one program: examples.
#
# They are small and run in milliseconds, so the time to build them counts: one program links
# faster than one for each file, and only plain builds have it (label tools).

file(GLOB example_sources CONFIGURE_DEPENDS reference/*.c)
if(CMAKE_CXX_COMPILER)
  file(GLOB example_cpp_sources CONFIGURE_DEPENDS reference/*.cpp)
endif()
add_executable(test_reference_examples ${example_sources} ${example_cpp_sources})
weft_compile_like_weft(test_reference_examples)
target_link_libraries(test_reference_examples PRIVATE weft_harness weft_static m)
set_target_properties(test_reference_examples PROPERTIES ENABLE_EXPORTS ON CXX_STANDARD 17
  CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
add_test(NAME test_reference_examples COMMAND test_reference_examples)
set_tests_properties(test_reference_examples PROPERTIES LABELS "reference;tools" TIMEOUT 300)

# The site and the manual pages: built without a warning, complete, and looked at in a browser
# (tests/command/site.c).
if(Python3_Interpreter_FOUND AND NOT WEFT_SANITIZE AND NOT WEFT_COVERAGE)
  set(docs ${PROJECT_BINARY_DIR}/tests/documentation)
  set(build_docs ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/build-docs
                 --site ${docs}/site --man ${docs}/man/man3)
  add_test(NAME docs_build COMMAND ${build_docs})
  add_test(NAME docs_check COMMAND ${build_docs} --check)
  set_tests_properties(docs_build docs_check PROPERTIES LABELS "reference;tools" TIMEOUT 300
                       SKIP_RETURN_CODE 77)
  set_tests_properties(docs_build PROPERTIES FIXTURES_SETUP docs)
  set_tests_properties(docs_check PROPERTIES FIXTURES_REQUIRED docs)
  if(TARGET test_command_site)
    set_tests_properties(test_command_site PROPERTIES FIXTURES_REQUIRED docs
                         LABELS "command;tools")
  endif()
endif()
