# Writes a C file with the bytes of text files: nothing but CMake is needed.
#
#   cmake -D OUTPUT=embedded.c -D "PARTS=view_page=page.html;view_script=a.js,b.js" -P embed.cmake
#
# Each part is a name and the files that follow each other in it.

set(content "/* Made by command/embed.cmake. */\n#include \"view/embedded.h\"\n")
foreach(part IN LISTS PARTS)
  string(REGEX MATCH "^([a-z_]+)=(.*)$" all "${part}")
  set(name "${CMAKE_MATCH_1}")
  string(REPLACE "," ";" files "${CMAKE_MATCH_2}")
  set(bytes "")
  foreach(file IN LISTS files)
    file(READ "${file}" hex HEX)
    string(APPEND bytes "${hex}")
  endforeach()
  string(LENGTH "${bytes}" digits)
  math(EXPR length "${digits} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  # Lines of 24 bytes: some tools dislike lines of a hundred thousand characters.
  string(REGEX REPLACE "(........................................................................................................................)" "\\1\n" bytes "${bytes}")
  string(APPEND content "const unsigned char ${name}[] = {\n${bytes}0};\n"
                        "const size_t ${name}_length = ${length};\n")
endforeach()
file(WRITE "${OUTPUT}" "${content}")
