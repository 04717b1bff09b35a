"""Conan 2 recipe of the sources it lies in:

    conan create packaging/conan
    conan create packaging/conan -o "weft/*:shared=True"
"""
import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

required_conan_version = ">=2.0"


class Weft(ConanFile):
    name = "weft"
    description = "Work-stealing fork-join parallelism for C"
    license = "MIT"
    topics = ("parallel", "threads", "work-stealing", "fork-join", "thread-pool")
    package_type = "library"
    settings = "os", "compiler", "build_type", "arch"
    options = {"shared": [True, False], "fPIC": [True, False], "command": [True, False]}
    default_options = {"shared": False, "fPIC": True, "command": False}

    def _root(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        header = load(self, os.path.join(self._root(), "include", "weft", "base.h"))
        self.version = ".".join(
            re.search(rf"#define WEFT_VERSION_{part} (\d+)", header).group(1)
            for part in ("MAJOR", "MINOR", "PATCH"))

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "weft.pc.in", "cmake/*", "command/*",
                        "include/*", "src/*"):
            copy(self, pattern, self._root(), self.export_sources_folder)

    def configure(self):
        # A library in C: neither the C++ standard nor its library matter.
        self.settings.rm_safe("compiler.cppstd")
        self.settings.rm_safe("compiler.libcxx")
        if self.options.shared:
            self.options.rm_safe("fPIC")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["WEFT_BUILD_TESTS"] = False
        toolchain.cache_variables["WEFT_BUILD_BENCH"] = False
        toolchain.cache_variables["WEFT_BUILD_EXAMPLES"] = False
        toolchain.cache_variables["WEFT_PTHREADPOOL"] = False
        toolchain.cache_variables["WEFT_BUILD_COMMAND"] = bool(self.options.command)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build(target="weft_installable")

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        # Conan writes its own files for CMake and pkg-config, and wants one kind of library.
        library = os.path.join(self.package_folder, "lib")
        rmdir(self, os.path.join(library, "cmake"))
        rmdir(self, os.path.join(library, "pkgconfig"))
        for name in os.listdir(library):
            if (name == "libweft.a") == bool(self.options.shared):
                os.remove(os.path.join(library, name))

    def package_info(self):
        self.cpp_info.libs = ["weft"]
        self.cpp_info.set_property("cmake_file_name", "weft")
        self.cpp_info.set_property("cmake_target_name", "weft::weft")
        self.cpp_info.set_property("pkg_config_name", "weft")
        if self.settings.os in ("Linux", "FreeBSD"):
            self.cpp_info.system_libs = ["pthread"]
