//! Everything that is neither a file nor endless: the surroundings, the imports, the network.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Instant, SystemTime};

use brain_role::model::{self, Content, Message, Request, Speaker};

use crate::told;

pub(crate) fn env() -> String {
    let vars: Vec<_> = std::env::vars_os().collect();
    let args: Vec<_> = std::env::args_os().collect();
    let cwd = told(std::env::current_dir(), |cwd| cwd.display().to_string());
    format!("vars={vars:?} args={args:?} cwd={cwd}")
}

pub(crate) fn stdin() -> String {
    let mut bytes = Vec::new();
    told(io::stdin().lock().take(1 << 20).read_to_end(&mut bytes), |len| format!("{len} bytes"))
}

pub(crate) fn model() -> String {
    let info = model::info();
    let answer = model::complete(&Request {
        messages: vec![Message { speaker: Speaker::User, content: vec![Content::Text("hello".to_owned())] }],
        tools: Vec::new(),
        output_schema: None,
        max_output_tokens: Some(16),
        temperature: Some(f64::NAN),
    });
    format!("info={info:?} complete={answer:?}")
}

pub(crate) fn tools() -> String {
    let offered = brain_role::tools::offered();
    let called = brain_role::tools::call("no-such-tool", "{not json");
    format!("offered={offered:?} call={called:?}")
}

pub(crate) fn tools_large(len: u64) -> String {
    let called = brain_role::tools::call("no-such-tool", &"x".repeat(len as usize));
    format!("call={called:?}")
}

pub(crate) fn clock() -> String {
    let wall = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map(|since| since.as_millis());
    let start = Instant::now();
    let passed = start.elapsed();
    format!("wall={wall:?} monotonic={passed:?}")
}

pub(crate) fn threads() -> String {
    told(std::thread::Builder::new().spawn(|| ()), |_| "spawned".to_owned())
}

pub(crate) fn connect(addr: &str) -> String {
    told(TcpStream::connect(addr), |_| "connected".to_owned())
}

pub(crate) fn resolve(host: &str) -> String {
    told((host, 80).to_socket_addrs(), |addrs| format!("{} addresses", addrs.count()))
}

pub(crate) fn say(text: &str) -> String {
    let say = || {
        writeln!(io::stdout(), "{text}")?;
        writeln!(io::stderr(), "{text}")
    };
    told(say(), |()| text.to_owned())
}
