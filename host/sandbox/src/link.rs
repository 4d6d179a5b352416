//! Least-authority linking: only what a component imports, and of that only what may be real.
//!
//! Language runtimes import WASI that they never use, so an import is not read as a need: a standard interface that is never
//! granted is linked to a stub that denies and counts. An import that nobody has heard of fails the load.

use wasmtime::Engine;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, HasSelf, Linker};
use wasmtime_wasi::cli::WasiCli;
use wasmtime_wasi::clocks::WasiClocks;
use wasmtime_wasi::p2::bindings::sync::io;
use wasmtime_wasi::p2::bindings::{cli, clocks, random};

use crate::contract::bindings::brain::role as contract;
use crate::files::HasFiles;
use crate::files::bindings::wasi::filesystem;
use crate::state::State;
use crate::wasi::ambient::HasSurroundings;
use crate::wasi::io::{HasIo, HasTable};
use crate::wasi::stdio::HasStdio;
use crate::wasi::stub;

/// What this host has for an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    /// An interface of the contract.
    Contract,
    /// A WASI interface that is linked for real, scoped by the call's grants.
    Real,
    /// A standard interface that no role is granted.
    Stub,
    /// The same interface in a version that is not compatible: the one that there is.
    OtherVersion(String),
    /// Nothing.
    Unknown,
}

/// WASI interfaces that are linked for real when a component imports them.
const REAL: &[&str] = &[
    "wasi:cli/environment",
    "wasi:cli/exit",
    "wasi:cli/stderr",
    "wasi:cli/stdin",
    "wasi:cli/stdout",
    "wasi:cli/terminal-input",
    "wasi:cli/terminal-output",
    "wasi:cli/terminal-stderr",
    "wasi:cli/terminal-stdin",
    "wasi:cli/terminal-stdout",
    "wasi:clocks/monotonic-clock",
    "wasi:clocks/wall-clock",
    "wasi:filesystem/preopens",
    "wasi:filesystem/types",
    "wasi:io/error",
    "wasi:io/poll",
    "wasi:io/streams",
    "wasi:random/insecure",
    "wasi:random/insecure-seed",
    "wasi:random/random",
];

/// Standard packages of which every other interface is stubbed.
const STANDARD: &[&str] =
    &["wasi:cli/", "wasi:clocks/", "wasi:config/", "wasi:http/", "wasi:keyvalue/", "wasi:logging/", "wasi:sockets/"];

/// Interfaces of the contract that a component may import. `packets` has types only.
const CONTRACT: &[&str] = &["brain:role/packets", "brain:role/model", "brain:role/tools"];

/// The version of the WASI packages that are linked, and the range that they serve.
const WASI: &str = "0.2";
const CONTRACT_VERSION: &str = "1.0.0";

/// What this host has for the import `name`, such as `wasi:io/streams@0.2.9`.
pub(crate) fn offer(name: &str) -> Offer {
    let (interface, version) = name.split_once('@').unwrap_or((name, ""));
    if CONTRACT.contains(&interface) {
        return if version == CONTRACT_VERSION {
            Offer::Contract
        } else {
            Offer::OtherVersion(format!("{interface}@{CONTRACT_VERSION}"))
        };
    }
    let known = REAL.contains(&interface);
    if !known && !STANDARD.iter().any(|package| interface.starts_with(package)) {
        return Offer::Unknown;
    }
    // WASI 0.2.x is compatible within itself; the stubs take their types from the component, whatever it imports.
    let compatible = version.strip_prefix(WASI).is_some_and(|rest| rest.starts_with('.') && !rest.contains('-'));
    match (known, compatible) {
        (true, true) => Offer::Real,
        (true, false) => Offer::OtherVersion(format!("{interface}@{WASI}")),
        (false, _) => Offer::Stub,
    }
}

/// A linker with what `component` imports, and nothing else.
pub(crate) fn linker_for(engine: &Engine, component: &Component) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    let ty = component.component_type();
    for (name, item) in ty.imports(engine) {
        match (offer(name), &item.ty) {
            (Offer::Contract | Offer::Real, _) => link_real(&mut linker, name)?,
            (Offer::Stub, ComponentItem::ComponentInstance(instance)) => stub::link(&mut linker, name, instance)?,
            // The check has refused the component already, and names the row.
            _ => {}
        }
    }
    Ok(linker)
}

fn link_real(l: &mut Linker<State>, name: &str) -> wasmtime::Result<()> {
    let interface = name.split_once('@').map_or(name, |(interface, _)| interface);
    match interface {
        "brain:role/model" => contract::model::add_to_linker::<_, HasSelf<_>>(l, |s| s),
        "brain:role/tools" => contract::tools::add_to_linker::<_, HasSelf<_>>(l, |s| s),
        "wasi:cli/environment" => cli::environment::add_to_linker::<_, WasiCli>(l, State::cli),
        "wasi:cli/exit" => cli::exit::add_to_linker::<_, WasiCli>(l, State::cli),
        "wasi:cli/stderr" => cli::stderr::add_to_linker::<_, HasStdio>(l, State::stdio),
        "wasi:cli/stdin" => cli::stdin::add_to_linker::<_, WasiCli>(l, State::cli),
        "wasi:cli/stdout" => cli::stdout::add_to_linker::<_, HasStdio>(l, State::stdio),
        "wasi:cli/terminal-input" => cli::terminal_input::add_to_linker::<_, WasiCli>(l, State::cli),
        "wasi:cli/terminal-output" => cli::terminal_output::add_to_linker::<_, WasiCli>(l, State::cli),
        "wasi:cli/terminal-stderr" => cli::terminal_stderr::add_to_linker::<_, WasiCli>(l, State::cli),
        "wasi:cli/terminal-stdin" => cli::terminal_stdin::add_to_linker::<_, WasiCli>(l, State::cli),
        "wasi:cli/terminal-stdout" => cli::terminal_stdout::add_to_linker::<_, WasiCli>(l, State::cli),
        "wasi:clocks/monotonic-clock" => clocks::monotonic_clock::add_to_linker::<_, WasiClocks>(l, State::clocks),
        "wasi:clocks/wall-clock" => clocks::wall_clock::add_to_linker::<_, HasSurroundings>(l, State::surroundings),
        "wasi:filesystem/preopens" => filesystem::preopens::add_to_linker::<_, HasFiles>(l, State::files),
        "wasi:filesystem/types" => filesystem::types::add_to_linker::<_, HasFiles>(l, State::files),
        "wasi:io/error" => wasmtime_wasi_io::bindings::wasi::io::error::add_to_linker::<_, HasTable>(l, State::table),
        "wasi:io/poll" => io::poll::add_to_linker::<_, HasIo>(l, State::io),
        "wasi:io/streams" => io::streams::add_to_linker::<_, HasIo>(l, State::io),
        "wasi:random/insecure" => random::insecure::add_to_linker::<_, HasSurroundings>(l, State::surroundings),
        "wasi:random/insecure-seed" => {
            random::insecure_seed::add_to_linker::<_, HasSurroundings>(l, State::surroundings)
        }
        "wasi:random/random" => random::random::add_to_linker::<_, HasSurroundings>(l, State::surroundings),
        // `packets` has types and no functions.
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offers_follow_the_interface_and_its_version() {
        for (name, expected) in [
            ("wasi:io/streams@0.2.0", Offer::Real),
            ("wasi:io/streams@0.2.99", Offer::Real),
            ("wasi:io/streams@0.3.0", Offer::OtherVersion("wasi:io/streams@0.2".into())),
            ("wasi:io/streams@0.20.0", Offer::OtherVersion("wasi:io/streams@0.2".into())),
            ("wasi:sockets/tcp@0.2.9", Offer::Stub),
            ("wasi:http/outgoing-handler@0.2.12", Offer::Stub),
            ("wasi:nn/graph@0.2.0", Offer::Unknown),
            ("brain:role/model@1.0.0", Offer::Contract),
            ("brain:role/model@2.0.0", Offer::OtherVersion("brain:role/model@1.0.0".into())),
            ("brain:role/secrets@1.0.0", Offer::Unknown),
            ("env", Offer::Unknown),
        ] {
            assert_eq!(offer(name), expected, "{name}");
        }
    }
}
