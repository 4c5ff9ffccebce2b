//! Fragments for pkg-config, make and CMake, to build with the generated files.

use lttng_catalog::Catalog;
use lttng_catalog::lowered::Provider;

use crate::GeneratedFile;

/// The stem of the names of a catalog's files: `valkey-trace`.
pub(super) fn base_name(catalog: &Catalog) -> String {
    format!("{}-trace", catalog.name)
}

pub(super) fn build_files(catalog: &Catalog, providers: &[&Provider<'_>]) -> [GeneratedFile; 3] {
    [pkg_config(catalog, providers), make(catalog, providers), cmake(catalog, providers)]
}

fn cmake(catalog: &Catalog, providers: &[&Provider<'_>]) -> GeneratedFile {
    let base = base_name(catalog);
    let sources: Vec<String> =
        providers.iter().map(|p| format!("    ${{CMAKE_CURRENT_LIST_DIR}}/{}.c\n", p.name)).collect();
    let text = format!(
        "# For a CMakeLists.txt: `include(DIR/{base}.cmake)`, then `target_link_libraries(program PRIVATE {base})`.
# `cmake -DUSE_LTTNG=yes` and `cmake -DUSE_USDT=yes` turn tracing on. The target must be in C, or in C and C++.
add_library({base} INTERFACE)
target_include_directories({base} INTERFACE ${{CMAKE_CURRENT_LIST_DIR}})
target_sources({base} INTERFACE
{sources})
if(USE_LTTNG)
    find_package(PkgConfig REQUIRED)
    pkg_check_modules(LTTNG_UST REQUIRED lttng-ust)
    target_include_directories({base} SYSTEM INTERFACE ${{LTTNG_UST_INCLUDE_DIRS}})
    target_compile_definitions({base} INTERFACE USE_LTTNG)
    target_link_libraries({base} INTERFACE ${{CMAKE_DL_LIBS}})
endif()
if(USE_USDT)
    target_compile_definitions({base} INTERFACE USE_USDT)
endif()
",
        sources = sources.concat().trim_end(),
    );
    GeneratedFile { name: format!("{base}.cmake"), text }
}

fn pkg_config(catalog: &Catalog, providers: &[&Provider<'_>]) -> GeneratedFile {
    let base = base_name(catalog);
    let sources: Vec<String> = providers.iter().map(|p| format!("${{pcfiledir}}/{}.c", p.name)).collect();
    let text = format!(
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
Libs: -ldl
",
        sources = sources.join(" "),
        name = catalog.name,
        version = catalog.version,
    );
    GeneratedFile { name: format!("{base}.pc"), text }
}

fn make(catalog: &Catalog, providers: &[&Provider<'_>]) -> GeneratedFile {
    let base = base_name(catalog);
    let upper = base.to_ascii_uppercase().replace(['-', '.'], "_");
    let sources: Vec<String> = providers.iter().map(|p| format!("$({upper}_DIR){}.c", p.name)).collect();
    let text = format!(
        "# For a Makefile: `include DIR/{base}.mk`, then compile $({upper}_SOURCES) with $({upper}_CFLAGS) and link with
# $({upper}_LIBS). `make USE_LTTNG=yes` and `make USE_USDT=yes` turn tracing on.
{upper}_DIR := $(dir $(lastword $(MAKEFILE_LIST)))
{upper}_SOURCES := {sources}
{upper}_CFLAGS := -I$({upper}_DIR)
{upper}_LIBS :=
ifeq ($(USE_LTTNG),yes)
{upper}_CFLAGS += -DUSE_LTTNG $(shell pkg-config --cflags lttng-ust)
{upper}_LIBS += -ldl
endif
ifeq ($(USE_USDT),yes)
{upper}_CFLAGS += -DUSE_USDT
endif
",
        sources = sources.join(" ")
    );
    GeneratedFile { name: format!("{base}.mk"), text }
}
