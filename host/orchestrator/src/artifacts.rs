//! What a role left below `/artifacts`: kept by content, named by digest.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use brain_journal::{ArtifactDigest, ArtifactDigests};
use brain_packet::{ContextRef, ContextRefKind, WorkerResult};
use brain_sandbox::ARTIFACTS;
use sha2::{Digest, Sha256};

/// Folders below `/artifacts` that are gone into.
const MAX_DEPTH: usize = 16;

/// Moves every file below `from` into `store`, under the digest of its content, and adds those that the result does not
/// name to its artifacts. Returns the digest of each by its path below `/artifacts`.
///
/// # Errors
/// A file cannot be read or stored.
pub(crate) fn collect(from: &Path, store: &Path, result: &mut WorkerResult) -> std::io::Result<ArtifactDigests> {
    let mut files = Vec::new();
    list(from, "", 0, &mut files)?;
    files.sort();
    let mut digests = ArtifactDigests::default();
    for relative in files {
        let digest = keep(&from.join(&relative), store)?;
        let Some(digest) = ArtifactDigest::new(&digest) else { continue };
        digests.insert(&relative, digest);
        let uri = format!("{ARTIFACTS}/{relative}");
        if !result.artifacts.iter().any(|artifact| artifact.uri == uri) {
            result.artifacts.push(ContextRef::new(ContextRefKind::Artifact, uri));
        }
    }
    Ok(digests)
}

/// The regular files below a folder. The sandbox lets a role make nothing else there.
fn list(root: &Path, below: &str, depth: usize, files: &mut Vec<String>) -> std::io::Result<()> {
    if depth > MAX_DEPTH {
        return Ok(());
    }
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let relative = if below.is_empty() { name } else { format!("{below}/{name}") };
        let kind = entry.file_type()?;
        if kind.is_dir() {
            list(root, &relative, depth + 1, files)?;
        } else if kind.is_file() {
            files.push(relative);
        }
    }
    Ok(())
}

fn keep(path: &Path, store: &Path) -> std::io::Result<String> {
    let mut hasher = Sha256::new();
    let mut file = fs::File::open(path)?;
    let mut copy = tempfile::Builder::new()
        .prefix(".artifact-")
        .permissions(fs::Permissions::from_mode(0o600))
        .tempfile_in(store)?;
    let mut buffer = vec![0; 64 << 10];
    loop {
        let n = file.read(&mut buffer)?;
        let Some(chunk) = buffer.get(..n).filter(|chunk| !chunk.is_empty()) else { break };
        hasher.update(chunk);
        copy.write_all(chunk)?;
    }
    let digest = hex::encode(hasher.finalize());
    copy.persist(store.join(&digest))?;
    fs::remove_file(path)?;
    Ok(digest)
}

/// Makes a folder of the operator's alone.
pub(crate) fn private_folder(path: PathBuf) -> std::io::Result<PathBuf> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&path)?;
    Ok(path)
}

/// Writes a file of the operator's alone.
pub(crate) fn private_file(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(content)
}

/// Writes a file of the operator's alone, in place of one that may be there; it is on the disk when this returns.
pub(crate) fn replace_private(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    let mut file =
        tempfile::Builder::new().prefix(".new-").permissions(fs::Permissions::from_mode(0o600)).tempfile_in(folder)?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}
