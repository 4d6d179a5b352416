//! Compiled components, kept on disk by the digest of what they were compiled from.
//!
//! A file is `<sha256 of the component>-<what it is compiled by>.cwasm`, the latter a hash of the engine's compatibility and
//! of the version of what is done to components before ([`rewrite`](crate::rewrite)), with mode 0600: 32 bytes, the SHA-256 of the file's
//! name and of all that follows, and the compiled code. So an entry under another's name is damage too. It is written under a temporary name and renamed, never changed in place. Whatever is
//! wrong with one (damage, another owner, another wasmtime) makes it a miss; it is then replaced.
//!
//! Compiled code is run as it is, so the folder must be the operator's alone. It is made with mode 0700, and a file that
//! belongs to somebody else, or that somebody else may write to, is not read.

use std::fs;
use std::hash::{Hash, Hasher};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use brain_packet::Digest;
use rustix::fs::OFlags;
use sha2::{Digest as _, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::rewrite;

/// Bytes of a cache file that is read; compiled code of the largest component allowed is below it.
const MAX_FILE_BYTES: u64 = 1 << 30;

pub(crate) struct CompileCache {
    dir: Option<PathBuf>,
    compatibility: u64,
    compilations: AtomicU64,
}

impl CompileCache {
    pub(crate) fn new(engine: &Engine, dir: Option<PathBuf>) -> Self {
        let mut hasher = std::hash::DefaultHasher::new();
        engine.precompile_compatibility_hash().hash(&mut hasher);
        rewrite::VERSION.hash(&mut hasher);
        Self { dir, compatibility: hasher.finish(), compilations: AtomicU64::new(0) }
    }

    /// How many components this process compiled.
    pub(crate) fn compilations(&self) -> u64 {
        self.compilations.load(Relaxed)
    }

    /// The compiled form of `bytes`, from the cache or else compiled and put there, with the time that compiling took. A
    /// cache that cannot be read or written is as good as none.
    pub(crate) fn component(
        &self,
        engine: &Engine,
        bytes: &[u8],
        digest: &Digest,
    ) -> wasmtime::Result<(Component, Option<Duration>)> {
        let path =
            self.dir.as_ref().map(|dir| dir.join(format!("{}-{:016x}.cwasm", digest.as_str(), self.compatibility)));
        if let Some(component) = path.as_deref().and_then(read).and_then(|code| deserialize(engine, &code)) {
            return Ok((component, None));
        }
        self.compilations.fetch_add(1, Relaxed);
        let start = Instant::now();
        let component = Component::from_binary(engine, &rewrite::rewrite(bytes)?)?;
        let took = start.elapsed();
        if let Some(path) = path {
            // The role runs all the same; the next start compiles again, and `brain doctor` looks at the folder.
            let _ = component.serialize().map(|code| publish(&path, &code));
        }
        Ok((component, Some(took)))
    }
}

/// The code in a cache file, if it is whole and nobody else's.
fn read(path: &Path) -> Option<Vec<u8>> {
    let file = fs::OpenOptions::new()
        .read(true)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
        .open(path)
        .ok()?;
    let metadata = file.metadata().ok()?;
    let ours = metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o022 == 0;
    if !metadata.is_file() || !ours || metadata.len() > MAX_FILE_BYTES {
        return None;
    }
    let mut content = Vec::new();
    file.take(MAX_FILE_BYTES).read_to_end(&mut content).ok()?;
    let (expected, code) = content.split_first_chunk::<32>()?;
    if seal(path, code).as_slice() != expected {
        return None;
    }
    Some(code.to_vec())
}

/// What an entry begins with.
fn seal(path: &Path, code: &[u8]) -> [u8; 32] {
    let name = path.file_name().unwrap_or_default();
    Sha256::new().chain_update(name.as_encoded_bytes()).chain_update([0]).chain_update(code).finalize().into()
}

fn deserialize(engine: &Engine, code: &[u8]) -> Option<Component> {
    // SAFETY: the code was written by `publish`: the file is the operator's alone, and its digest was checked. wasmtime
    // checks in addition that it was compiled by the same version for the same configuration and machine.
    #[allow(unsafe_code)]
    unsafe { Component::deserialize(engine, code) }.ok()
}

fn publish(path: &Path, code: &[u8]) -> std::io::Result<()> {
    let dir = path.parent().ok_or(std::io::ErrorKind::InvalidInput)?;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    let mut file = tempfile::Builder::new()
        .prefix(".compiling-")
        .permissions(fs::Permissions::from_mode(0o600))
        .tempfile_in(dir)?;
    file.write_all(&seal(path, code))?;
    file.write_all(code)?;
    file.flush()?;
    file.persist(path)?;
    Ok(())
}
