# x86-64 Linux with the C library musl instead of glibc; everything is linked statically.
set(CMAKE_C_COMPILER musl-gcc)
set(CMAKE_CXX_COMPILER NOTFOUND) # there is no C++ library for it
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static -Wl,-z,stack-size=8388608") # of threads, too: else 128 KiB
