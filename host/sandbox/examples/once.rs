//! The shortest host of a role: one process, one component, one call.
//!
//! `once <component.wasm> <cache folder>` loads the component, calls it once and prints the outcome, the number of
//! components that had to be compiled, and the milliseconds since the process began to run.
#![allow(clippy::print_stdout, reason = "its output is what it is for")]

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use brain_packet::{AgentTaskContext, HandoffPacket};
use brain_sandbox::{Call, Sandbox, SandboxConfig};

fn main() -> Result<(), Box<dyn Error>> {
    run(std::env::args_os().skip(1).map(PathBuf::from).collect())
}

/// Does what the arguments say.
pub fn run(arguments: Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let [component, cache] = arguments.as_slice() else {
        return Err("usage: once <component.wasm> <cache folder>".into());
    };
    let sandbox = Sandbox::new(SandboxConfig { cache_dir: Some(cache.clone()), ..SandboxConfig::default() })?;
    let name = "once".parse()?;
    let role = sandbox.load(&name, &std::fs::read(component)?)?;
    let task = AgentTaskContext::new("task-1".parse()?, "20260101-000000-abcdef".parse()?, name, "say something");
    let handoff = HandoffPacket::new("handoff-1".parse()?, task, "anything");
    let run = role.run(Call::new(&handoff));
    let ms = start.elapsed().as_secs_f64() * 1e3;
    println!("{}: {} ({} compiled, {ms:.1} ms)", run.ended.code(), run.result.summary, sandbox.compilations());
    Ok(())
}
