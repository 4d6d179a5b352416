//! Components that no toolchain would make, for tests: a core module in text, and the WIT that it is wrapped in.
#![allow(clippy::unwrap_used, reason = "the callers are tests")]

pub use wit_component::StringEncoding;
use wit_component::{ComponentEncoder, embed_component_metadata};
use wit_parser::Resolve;

/// Where the `worker-result` of [`core`] lies in memory. It is all zeros: status `pending`, everything else empty.
pub const RESULT: u32 = 1024;
/// Offset in a `worker-result` of the list `risks`: its address, then its length.
pub const RISKS: u32 = RESULT + 104;

/// A core module that implements `worker` by `body`, a function body that leaves the address of a result. `items` are
/// further items of the module, imports first. Its memory has one page.
pub fn core(items: &str, body: &str) -> String {
    module(items, "(memory (export \"memory\") 1)", body)
}

/// As [`core`], with a memory of its own.
pub fn module(items: &str, memory: &str, body: &str) -> String {
    format!(
        r#"(module
            {items}
            {memory}
            (global $heap (mut i32) (i32.const 32768))
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
                (local $at i32)
                (local.set $at (i32.and (i32.add (global.get $heap) (i32.const 7)) (i32.const -8)))
                (global.set $heap (i32.add (local.get $at) (local.get 3)))
                (local.get $at))
            (func (export "brain:role/worker@1.0.0#run") (param i32) (result i32) {body}))"#
    )
}

/// A component from a core module in text and the contract.
///
/// # Panics
/// When they do not fit.
pub fn role(core: &str) -> Vec<u8> {
    component(core, &[brain_sandbox::CONTRACT_WIT], "brain:role/role")
}

/// A component of `world` from a core module in text and WIT packages, those that others depend on first.
///
/// # Panics
/// When they do not fit.
pub fn component(core: &str, packages: &[&str], world: &str) -> Vec<u8> {
    component_in(StringEncoding::UTF8, core, packages, world)
}

/// As [`component`], with strings in any encoding.
///
/// # Panics
/// When they do not fit.
pub fn component_in(encoding: StringEncoding, core: &str, packages: &[&str], world: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let mut last = None;
    for (n, text) in packages.iter().enumerate() {
        last = Some(resolve.push_source(&format!("package-{n}.wit"), text).unwrap());
    }
    let world = resolve.select_world(&[last.unwrap()], Some(world)).unwrap();
    let mut module = wat::parse_str(core).unwrap();
    embed_component_metadata(&mut module, &resolve, world, encoding).unwrap();
    ComponentEncoder::default().module(&module).unwrap().validate(false).encode().unwrap()
}

/// A custom section: it changes a component's digest and nothing else.
///
/// # Panics
/// When the text is longer than 100 bytes.
pub fn with_custom_section(component: &[u8], text: &str) -> Vec<u8> {
    let name = u8::try_from(text.len()).unwrap();
    let mut bytes = component.to_vec();
    bytes.extend([0, name + 1, name]);
    bytes.extend_from_slice(text.as_bytes());
    bytes
}
