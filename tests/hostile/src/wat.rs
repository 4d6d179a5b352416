//! Components that no toolchain would make.

use brain_sandbox::CONTRACT_WIT;
use brain_tests::components::{StringEncoding, component, component_in};

const IO: &str = include_str!("../../../host/sandbox/wit/deps/io.wit");
const CLOCKS: &str = include_str!("../../../host/sandbox/wit/deps/clocks.wit");
const FILESYSTEM: &str = include_str!("../../../host/sandbox/wit/deps/filesystem.wit");
const RANDOM: &str = "package wasi:random@0.2.12;
    interface random { get-random-bytes: func(len: u64) -> list<u8>; get-random-u64: func() -> u64; }
    interface insecure { get-insecure-random-bytes: func(len: u64) -> list<u8>; }";
const CLI: &str = "package wasi:cli@0.2.12;
    interface stdin { use wasi:io/streams@0.2.12.{input-stream}; get-stdin: func() -> input-stream; }
    interface stdout { use wasi:io/streams@0.2.12.{output-stream}; get-stdout: func() -> output-stream; }
    interface stderr { use wasi:io/streams@0.2.12.{output-stream}; get-stderr: func() -> output-stream; }
    interface exit { exit: func(status: result); }
    interface environment {
        get-environment: func() -> list<tuple<string, string>>;
        get-arguments: func() -> list<string>;
        initial-cwd: func() -> option<string>;
    }
    interface terminal-output { resource terminal-output; }
    interface terminal-stdout {
        use terminal-output.{terminal-output};
        get-terminal-stdout: func() -> option<terminal-output>;
    }";
const HTTP: &str = "package wasi:http@0.2.12;
    interface types { resource fields { constructor(); append: func(name: string, value: list<u8>) -> result; } }
    interface ask { ask: func(url: string) -> result<string>; }";

/// A role of a core module in text that imports WASI interfaces, each by its name without version: `io/poll`.
///
/// # Panics
/// When they do not fit.
pub fn wasi(imports: &[&str], core: &str) -> Vec<u8> {
    let lines: String = imports.iter().map(|name| format!("import wasi:{name}@0.2.12; ")).collect();
    let world = format!("package test:test; world w {{ include brain:role/role@1.0.0; {lines} }}");
    component(core, &[CONTRACT_WIT, IO, CLOCKS, FILESYSTEM, RANDOM, CLI, HTTP, &world], "test:test/w")
}

/// A role of a core module in text whose strings are UTF-16, or of that or Latin-1 as each says.
///
/// # Panics
/// When they do not fit.
pub fn wide(encoding: StringEncoding, core: &str) -> Vec<u8> {
    component_in(encoding, core, &[CONTRACT_WIT], "brain:role/role")
}

/// `n` as unsigned LEB128.
pub fn leb(mut n: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = (n & 0x7f) as u8;
        n >>= 7;
        bytes.push(if n == 0 { low } else { low | 0x80 });
        if n == 0 {
            return bytes;
        }
    }
}

/// A component with one section more at its end.
pub fn with_section(component: &[u8], id: u8, content: &[u8]) -> Vec<u8> {
    [component, &[id], &leb(content.len()), content].concat()
}

/// A component with a custom section of that many bytes.
pub fn with_custom(component: &[u8], bytes: usize) -> Vec<u8> {
    let mut content = leb(6);
    content.extend_from_slice(b"padded");
    content.resize(content.len() + bytes, 0);
    with_section(component, 0, &content)
}

/// A component of one core module, with `count` instances more of another core module in text.
///
/// # Panics
/// When the text is no module.
pub fn with_instances(component: &[u8], module: &str, count: usize) -> Vec<u8> {
    let with_module = with_section(component, 1, &wat::parse_str(module).unwrap());
    let mut instances = leb(count);
    for _ in 0..count {
        // Instantiate module 1 with no arguments.
        instances.extend_from_slice(&[0, 1, 0]);
    }
    with_section(&with_module, 2, &instances)
}
