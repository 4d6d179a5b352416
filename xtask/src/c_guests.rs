//! Test guests in C: compiled with clang and wasi-libc, made into components by the linker that Rust brings for its guests.
//!
//! That linker, `wasm-component-ld`, holds wit-component and the adapter for the system interface of wasi-libc, so that
//! neither this crate nor another has to depend on them. The demonstration and an installation need no C guest, and so no
//! clang.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::files;
use crate::place::Place;
use crate::steps::{Failure, Steps, answer};

/// The file that makes a folder below `tests/guests` a guest in C: it implements the export.
const WORKER: &str = "worker.c";
/// What `wit-bindgen` made of the contract, in the guest's folder.
const BINDINGS: [&str; 2] = ["bindings/role.c", "bindings/role_component_type.o"];
/// The target: a core module that wasi-libc knows.
const TARGET: &str = "--target=wasm32-wasi";
/// The compilers that are tried, after `$WASM_CC`.
const COMPILERS: [&str; 2] = ["clang-19", "clang"];
/// How to get what is needed.
const INSTALL: &str = "install it (Debian: apt-get install --no-install-recommends clang-19 lld-19 wasi-libc libclang-rt-19-dev-wasm32); \
     $WASM_CC names another clang";

/// The names of the guests in C, which [`run`] places at `<bin>/guests/<name>.wasm`.
///
/// # Errors
/// The folder of the guests cannot be read.
pub fn names(place: &Place) -> Result<Vec<String>, Failure> {
    let folders = files::folders_with(&place.root.join("tests/guests"), WORKER)?;
    Ok(folders.iter().filter_map(|folder| Some(folder.file_name()?.to_string_lossy().into_owned())).collect())
}

/// Builds and places every guest in C.
///
/// # Errors
/// A tool is missing (the help says what to install), a guest does not compile, or it cannot be placed.
pub fn run(place: &Place, steps: &mut Steps) -> Result<(), Failure> {
    let names = names(place)?;
    let clang = steps.work("clang", "a C compiler with wasi-libc, for test guests", || clang(place))?;
    let linker = linker(place)?;
    let built = place.roles_target().join("c");
    std::fs::create_dir_all(&built).map_err(|error| Failure::io("make the folder", &built, &error))?;
    for name in names {
        let wasm = built.join(format!("{name}.wasm"));
        let folder = place.root.join("tests/guests").join(&name);
        steps.run(&name, &mut compile(&clang, &linker, &folder, &wasm)?)?;
        files::copy_if_changed(&wasm, &place.bin.join("guests").join(format!("{name}.wasm")))?;
    }
    Ok(())
}

/// The command that makes a guest's folder into a component: every `.c` file of the folder itself, and the bindings.
fn compile(clang: &Path, linker: &Path, folder: &Path, into: &Path) -> Result<Command, Failure> {
    let mut command = Command::new(clang);
    command.current_dir(folder);
    command.args([TARGET, "-mexec-model=reactor", "-std=gnu17", "-Wall", "-Wextra", "-Werror", "-Os"]);
    // Nothing of this machine in the component, and a stack that fits a role rather than clang's 64 KiB.
    command.args(["-Wl,--strip-all", "-Wl,-z,stack-size=262144"]);
    command.arg(OsString::from_iter(["-fuse-ld=".into(), linker.as_os_str().to_owned()]));
    command.args(files::names_ending(folder, ".c")?).args(BINDINGS).arg("-o").arg(into);
    Ok(command)
}

/// A clang that has the headers, the libraries and the linker of the target.
fn clang(place: &Place) -> Result<PathBuf, Failure> {
    let own = env::var_os("WASM_CC").into_iter();
    let candidates = own.chain(COMPILERS.map(Into::into)).map(PathBuf::from);
    let mut there = candidates.filter(|clang| answer(Command::new(clang).arg("--version")).is_ok());
    let Some(clang) = there.next() else {
        let looked_for = format!("looked for $WASM_CC, {}", COMPILERS.join(", "));
        return Err(Failure::new(format!("no clang was found to build test guests in C ({looked_for})")).help(INSTALL));
    };
    let file =
        |name: &str| answer(Command::new(&clang).args([TARGET, name]).current_dir(&place.root)).map(PathBuf::from);
    let version = answer(Command::new(&clang).arg("--version"))?;
    for (what, found) in [
        ("wasi-libc", file("--print-file-name=crt1-reactor.o")),
        ("the runtime library of compiler-rt", file("--print-libgcc-file-name")),
        ("wasm-ld", file("--print-prog-name=wasm-ld")),
    ] {
        // Where there is no such file, clang prints the bare name.
        if !found?.is_file() {
            let version = version.lines().next().unwrap_or_default();
            return Err(
                Failure::new(format!("{} ({version}) has no {what} for wasm32-wasi", clang.display())).help(INSTALL)
            );
        }
    }
    eprintln!("    {}", version.lines().next().unwrap_or_default());
    Ok(clang)
}

/// The linker that makes components, which lies beside the libraries of the toolchain's own platform.
fn linker(place: &Place) -> Result<PathBuf, Failure> {
    let libraries = answer(Command::new("rustc").args(["--print", "target-libdir"]).current_dir(&place.root))?;
    let name = format!("wasm-component-ld{}", env::consts::EXE_SUFFIX);
    let linker = Path::new(&libraries).with_file_name("bin").join(name);
    if linker.is_file() {
        return Ok(linker);
    }
    Err(Failure::new(format!("the Rust toolchain has no {}", linker.display()))
        .help("toolchains from rustup have it; one from elsewhere may need the package of its wasm32-wasip2 target"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Place {
        Place::find().unwrap()
    }

    #[test]
    fn the_guest_in_c_is_found_and_its_program_for_comparison_is_not_part_of_it() {
        let place = place();
        assert!(names(&place).unwrap().contains(&"editor-c".to_owned()));
        let folder = place.root.join("tests/guests/editor-c");
        let command = compile(Path::new("clang"), Path::new("/t/wasm-component-ld"), &folder, Path::new("o")).unwrap();
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
        for expected in
            ["worker.c", "bindings/role.c", "bindings/role_component_type.o", "-fuse-ld=/t/wasm-component-ld"]
        {
            assert!(words.iter().any(|word| word == expected), "{expected} is not in {words:?}");
        }
        assert!(!words.iter().any(|word| word.contains("main.c")), "{words:?}");
    }

    #[test]
    fn the_linker_that_links_the_guests_is_found() {
        assert!(linker(&place()).unwrap().is_file());
    }
}
