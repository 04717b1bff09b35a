# The site and the manual pages: target docs, by tools/build-docs. They are installed if they
# were built. WEFT_BUILD_DOCS builds them with everything else.

option(WEFT_BUILD_DOCS "Build the site and the manual pages with everything else" OFF)
set(WEFT_DOCS_DIR ${PROJECT_BINARY_DIR} CACHE PATH "Where the folders site and man are built")
find_package(Python3 COMPONENTS Interpreter QUIET)
find_program(WEFT_CMARK_GFM cmark-gfm)

# Packages of other kinds have the library's sources alone.
set(weft_docs_possible OFF)
if(Python3_Interpreter_FOUND AND WEFT_CMARK_GFM AND
   EXISTS ${PROJECT_SOURCE_DIR}/tools/build-docs)
  set(weft_docs_possible ON)
endif()

if(weft_docs_possible)
  set(weft_docs_all)
  if(WEFT_BUILD_DOCS)
    set(weft_docs_all ALL)
  endif()
  add_custom_target(weft_docs ${weft_docs_all}
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/build-docs
            --site ${WEFT_DOCS_DIR}/site --man ${WEFT_DOCS_DIR}/man/man3
    COMMENT "Building the site and the manual pages" VERBATIM)
elseif(WEFT_BUILD_DOCS)
  message(FATAL_ERROR "weft: WEFT_BUILD_DOCS needs Python 3, cmark-gfm "
                      "(on Debian: apt-get install python3 cmark-gfm) and the whole of the sources")
else()
  add_custom_target(weft_docs
    COMMAND ${CMAKE_COMMAND} -E echo
      "The documentation needs Python 3 and cmark-gfm (on Debian: apt-get install python3 cmark-gfm)"
    COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
endif()
if(PROJECT_IS_TOP_LEVEL)
  add_custom_target(docs DEPENDS weft_docs)
endif()

install(DIRECTORY ${WEFT_DOCS_DIR}/man/man3 DESTINATION ${CMAKE_INSTALL_MANDIR}
        COMPONENT documentation OPTIONAL)
install(DIRECTORY ${WEFT_DOCS_DIR}/site/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/html
        COMPONENT documentation OPTIONAL)
