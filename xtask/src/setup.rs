//! Set-up: the tools that must be there, and the guests' target.

use std::env;
use std::path::Path;
use std::process::Command;

use crate::place::{GUEST_TARGET, Place};
use crate::steps::{Failure, Steps, answer};

/// Checks git, the linker and the guests' target, and adds the target through rustup when it is missing.
///
/// A toolchain file that lists the target is not enough: rustup acts on it only when automatic installation is on and the
/// toolchain itself is new.
///
/// # Errors
/// A tool is missing; the help says what to install.
pub fn run(place: &Place, steps: &mut Steps) -> Result<(), Failure> {
    let missing = steps.work("setup", &format!("git, linker, target {GUEST_TARGET}"), || {
        git()?;
        linker()?;
        let rustc = answer(Command::new("rustc").arg("--version").current_dir(&place.root))?;
        let missing = !target_installed(place);
        eprintln!("    {rustc}; target {}", if missing { "is missing" } else { "is installed" });
        Ok(missing)
    })?;
    if missing { add_target(place, steps) } else { Ok(()) }
}

fn git() -> Result<(), Failure> {
    answer(Command::new("git").arg("--version")).map(drop).map_err(|_| {
        Failure::new("git was not found")
            .help("install it (Debian: apt-get install git; Fedora: dnf install git; macOS: xcode-select --install)")
    })
}

/// Rust links with the C compiler driver, except on Windows with Microsoft's linker, which rustc finds by itself.
fn linker() -> Result<(), Failure> {
    if cfg!(windows) {
        return Ok(());
    }
    let own = env::var_os("CC").into_iter();
    let mut candidates = own.chain(["cc", "gcc", "clang"].map(Into::into));
    if candidates.any(|program| answer(Command::new(program).arg("--version")).is_ok()) {
        return Ok(());
    }
    Err(Failure::new("no C compiler was found, and rustc needs one to link (looked for $CC, cc, gcc, clang)").help(
        "install one (Debian: apt-get install build-essential; Fedora: dnf install gcc; macOS: xcode-select --install)",
    ))
}

/// Asks rustc rather than rustup, so that a toolchain from elsewhere that has the target will do.
fn target_installed(place: &Place) -> bool {
    let mut ask = Command::new("rustc");
    ask.args(["--print", "target-libdir", "--target", GUEST_TARGET]).current_dir(&place.root);
    answer(&mut ask).is_ok_and(|folder| Path::new(&folder).is_dir())
}

fn add_target(place: &Place, steps: &mut Steps) -> Result<(), Failure> {
    let by_hand = format!("rustup target add {GUEST_TARGET}");
    if answer(Command::new("rustup").arg("--version").current_dir(&place.root)).is_err() {
        return Err(Failure::new(format!("the target {GUEST_TARGET} is not installed, and there is no rustup to add it"))
            .help(format!("install rustup from https://rustup.rs and run this again, or install the target's `rust-std` with the packages your toolchain came from (by hand: {by_hand})")));
    }
    let mut add = Command::new("rustup");
    add.args(["target", "add", GUEST_TARGET]).current_dir(&place.root);
    steps.run("target", &mut add)?;
    if target_installed(place) {
        return Ok(());
    }
    Err(Failure::new(format!("rustup added {GUEST_TARGET}, but the rustc on PATH does not have it"))
        .help("the rustc that is found first is not rustup's: put ~/.cargo/bin first on PATH"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tools_that_built_this_are_found() {
        git().unwrap();
        linker().unwrap();
    }
}
