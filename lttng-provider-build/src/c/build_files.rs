//! Fragments for build systems, to build with the generated files.

use std::str::FromStr;

use lttng_catalog::Catalog;
use lttng_catalog::lowered::Provider;

use super::names::{base_name, macro_stem, stem};
use crate::GeneratedFile;

/// A build system that there is a fragment for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildFile {
    /// `NAME-trace.am`
    Automake,
    /// `NAME-trace.cmake`
    CMake,
    /// `NAME-trace.mk`
    Make,
    /// `NAME-trace.pc`
    PkgConfig,
}

impl FromStr for BuildFile {
    type Err = String;

    fn from_str(name: &str) -> Result<BuildFile, String> {
        match name {
            "automake" => Ok(BuildFile::Automake),
            "cmake" => Ok(BuildFile::CMake),
            "make" => Ok(BuildFile::Make),
            "pkg-config" => Ok(BuildFile::PkgConfig),
            _ => Err("there are fragments for automake, cmake, make and pkg-config".to_owned()),
        }
    }
}

impl BuildFile {
    pub(super) fn file(self, catalog: &Catalog, providers: &[&Provider<'_>], fast: bool) -> GeneratedFile {
        let fragment = Fragment { catalog, providers, fast };
        let (ending, text) = match self {
            BuildFile::Automake => ("am", fragment.automake()),
            BuildFile::CMake => ("cmake", fragment.cmake()),
            BuildFile::Make => ("mk", fragment.make()),
            BuildFile::PkgConfig => ("pc", fragment.pkg_config()),
        };
        GeneratedFile { name: format!("{}.{ending}", base_name(catalog)), text }
    }
}

struct Fragment<'f> {
    catalog: &'f Catalog,
    providers: &'f [&'f Provider<'f>],
    fast: bool,
}

impl Fragment<'_> {
    /// The C files, each after the folder as the build system writes it.
    fn sources(&self, folder: &str, between: &str) -> String {
        let names = self.providers.iter().map(|provider| format!("{folder}{}-tp.c", provider.name));
        names.collect::<Vec<_>>().join(between)
    }

    /// What a program with LTTng-UST links.
    fn libraries(&self) -> &'static str {
        if self.fast { "-ldl" } else { "-llttng-ust -ldl" }
    }

    fn automake(&self) -> String {
        format!(
            "# For a Makefile.am: `include DIR/{base}.am`, then `program_SOURCES += $({stem}_sources)` and, under a conditional for each,
# `program_CPPFLAGS += -I$(srcdir)/DIR -DUSE_LTTNG` with `program_LDADD += {libraries}`, and `program_CPPFLAGS += -DUSE_USDT`.
{stem}_sources = {sources}
",
            base = base_name(self.catalog),
            stem = stem(self.catalog),
            libraries = self.libraries(),
            sources = self.sources("%D%/", " "),
        )
    }

    fn cmake(&self) -> String {
        let (directory, link) = match self.fast {
            true => ("${LTTNG_UST_INCLUDE_DIRS}", "${CMAKE_DL_LIBS}"),
            false => ("${LTTNG_UST_INCLUDE_DIRS}", "${LTTNG_UST_LINK_LIBRARIES} ${CMAKE_DL_LIBS}"),
        };
        format!(
            "# For a CMakeLists.txt: `include(DIR/{base}.cmake)`, then `target_link_libraries(program {base})`, with PRIVATE after the
# program if its other lines have a keyword. `cmake -DUSE_LTTNG=yes` and `cmake -DUSE_USDT=yes` turn tracing on.
add_library({base} INTERFACE)
target_include_directories({base} INTERFACE ${{CMAKE_CURRENT_LIST_DIR}})
target_sources({base} INTERFACE
    {sources})
if(USE_LTTNG)
    find_package(PkgConfig REQUIRED)
    pkg_check_modules(LTTNG_UST REQUIRED lttng-ust)
    target_include_directories({base} SYSTEM INTERFACE {directory})
    target_compile_definitions({base} INTERFACE USE_LTTNG)
    target_link_libraries({base} INTERFACE {link})
endif()
if(USE_USDT)
    target_compile_definitions({base} INTERFACE USE_USDT)
endif()
",
            base = base_name(self.catalog),
            sources = self.sources("${CMAKE_CURRENT_LIST_DIR}/", "\n    "),
        )
    }

    fn make(&self) -> String {
        format!(
            "# For a Makefile: `include DIR/{base}.mk`, then compile $({upper}_SOURCES) with $({upper}_CFLAGS) and link with
# $({upper}_LIBS). `make USE_LTTNG=yes` and `make USE_USDT=yes` turn tracing on.
{upper}_DIR := $(dir $(lastword $(MAKEFILE_LIST)))
{upper}_SOURCES := {sources}
{upper}_CFLAGS := -I$({upper}_DIR)
{upper}_LIBS :=
ifeq ($(USE_LTTNG),yes)
{upper}_CFLAGS += -DUSE_LTTNG $(shell pkg-config --cflags lttng-ust)
{upper}_LIBS += {libraries}
endif
ifeq ($(USE_USDT),yes)
{upper}_CFLAGS += -DUSE_USDT
endif
",
            base = base_name(self.catalog),
            upper = macro_stem(self.catalog),
            libraries = self.libraries(),
            sources = self.sources(&format!("$({}_DIR)", macro_stem(self.catalog)), " "),
        )
    }

    fn pkg_config(&self) -> String {
        format!(
            "# How to build with {base}.h:
#   cc -DUSE_LTTNG $(pkg-config --cflags lttng-ust {base}) \\
#      program.c $(pkg-config --variable=sources {base}) $(pkg-config --libs {base})
# with this folder in PKG_CONFIG_PATH. Add -DUSE_USDT, or use it instead of -DUSE_LTTNG; without both, nothing is
# recorded and lttng-ust is not needed.
sources={sources}

Name: {base}
Description: Events of the catalog {name}
Version: {version}
Cflags: -I${{pcfiledir}}
Libs: {libraries}
",
            base = base_name(self.catalog),
            name = self.catalog.name,
            version = self.catalog.version,
            libraries = self.libraries(),
            sources = self.sources("${pcfiledir}/", " "),
        )
    }
}
