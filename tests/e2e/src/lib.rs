//! What the tests that cross crates share: where the built guests are, and a bench to run one on.

pub mod cli;

pub mod components;

pub mod probe;

pub mod proposed;

use std::path::{Path, PathBuf};

use brain_packet::{AgentTaskContext, HandoffId, HandoffPacket, RoleName, SessionId, TaskId};
use brain_sandbox::{
    Ambient, Call, CancelToken, FileGrants, GlobLayer, Limits, Role, Run, Sandbox, SandboxConfig, WorkspaceGrant,
};

/// The root of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder that the host's binaries are built into.
pub fn target() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| repository().join("target"), PathBuf::from);
    target.join("debug")
}

/// The bytes of a built test guest.
///
/// # Panics
/// When it has not been built; the message says how.
#[allow(clippy::panic, reason = "the callers are tests")]
pub fn guest(name: &str) -> Vec<u8> {
    let path = target().join("guests").join(format!("{name}.wasm"));
    match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) => panic!("{}: {error}; build the guests first: `cargo xtask roles`", path.display()),
    }
}

/// A sandbox, a workspace and a private folder, all temporary.
pub struct Bench {
    /// The sandbox.
    pub sandbox: Sandbox,
    /// The project that roles see at `/workspace`.
    pub workspace: tempfile::TempDir,
    /// What roles see at `/context`.
    pub context: tempfile::TempDir,
    /// What roles leave at `/artifacts`.
    pub artifacts: tempfile::TempDir,
    /// Where the log of the last call is, in the file `log`.
    pub private: tempfile::TempDir,
    /// Limits of the calls.
    pub limits: Limits,
    /// Whether clock and randomness of the calls are real.
    pub ambient: Ambient,
    /// Read globs.
    pub read: Vec<String>,
    /// Write globs; none at first.
    pub write: Vec<String>,
}

impl Bench {
    /// A bench with an empty workspace that is granted whole.
    ///
    /// # Panics
    /// When the machine has no room for it.
    #[allow(clippy::unwrap_used, clippy::new_without_default, reason = "the callers are tests")]
    pub fn new() -> Self {
        // Shared by all tests, as a cache that is addressed by content may be: a guest is compiled once, not per test.
        let cache = target().join("compiled-for-tests");
        let config = SandboxConfig { cache_dir: Some(cache), ..SandboxConfig::default() };
        Self::of(Sandbox::new(config).unwrap())
    }

    /// A bench with folders of its own and a sandbox that others use too.
    ///
    /// # Panics
    /// When the machine has no room for it.
    #[allow(clippy::unwrap_used, reason = "the callers are tests")]
    pub fn of(sandbox: Sandbox) -> Self {
        Self {
            sandbox,
            workspace: tempfile::tempdir().unwrap(),
            context: tempfile::tempdir().unwrap(),
            artifacts: tempfile::tempdir().unwrap(),
            private: tempfile::tempdir().unwrap(),
            limits: Limits::default(),
            ambient: Ambient::default(),
            read: vec!["**".into()],
            write: Vec::new(),
        }
    }

    /// Loads a built guest.
    ///
    /// # Panics
    /// When it cannot be loaded.
    #[allow(clippy::unwrap_used, reason = "the callers are tests")]
    pub fn load(&self, name: &str) -> Role {
        self.sandbox.load(&name.parse().unwrap(), &guest(name)).unwrap()
    }

    /// A bench with the guest that does what it is told.
    pub fn misbehaving() -> (Self, Role) {
        let bench = Self::new();
        let role = bench.load("misbehave");
        (bench, role)
    }

    /// Loads a component that a test has made.
    ///
    /// # Panics
    /// When it cannot be loaded.
    #[allow(clippy::unwrap_used, reason = "the callers are tests")]
    pub fn load_component(&self, component: &[u8]) -> Role {
        self.sandbox.load(&"guest".parse().unwrap(), component).unwrap()
    }

    /// A handoff for `goal`.
    ///
    /// # Panics
    /// Never: the ids are well formed.
    #[allow(clippy::unwrap_used, reason = "the callers are tests")]
    pub fn handoff(&self, goal: &str) -> HandoffPacket {
        let role: RoleName = "guest".parse().unwrap();
        let task: TaskId = "task-1".parse().unwrap();
        let session: SessionId = "20260101-000000-abcdef".parse().unwrap();
        let id: HandoffId = "handoff-1".parse().unwrap();
        HandoffPacket::new(id, AgentTaskContext::new(task, session, role, goal), "whatever the goal says")
    }

    /// The files of a call.
    pub fn files(&self) -> FileGrants {
        let layers = |globs: &Vec<String>| vec![GlobLayer::new("manifest", globs.clone())];
        let write = if self.write.is_empty() { Vec::new() } else { layers(&self.write) };
        FileGrants {
            workspace: Some(WorkspaceGrant::new(self.workspace.path(), layers(&self.read), write)),
            context: Some(self.context.path().into()),
            artifacts: Some(self.artifacts.path().into()),
            staging: Some(self.private.path().into()),
            contents: Some(self.contents()),
        }
    }

    /// Where the contents of a proposed change are, by digest.
    pub fn contents(&self) -> PathBuf {
        self.private.path().join("contents")
    }

    /// Calls a role with `goal`.
    pub fn run(&self, role: &Role, goal: &str) -> Run {
        self.run_until(role, goal, CancelToken::default())
    }

    /// Calls a role with `goal`, cancellable.
    pub fn run_until(&self, role: &Role, goal: &str, cancel: CancelToken) -> Run {
        self.run_with(role, goal, cancel, |_, _| {})
    }

    /// Calls a role with `goal`, cancellable, with files and limits that are not the bench's.
    pub fn run_with(
        &self,
        role: &Role,
        goal: &str,
        cancel: CancelToken,
        change: impl FnOnce(&mut FileGrants, &mut Limits),
    ) -> Run {
        let handoff = self.handoff(goal);
        let log = Some(self.private.path().join("log"));
        let (mut files, mut limits) = (self.files(), self.limits.clone());
        change(&mut files, &mut limits);
        role.run(Call { handoff: &handoff, files, ambient: self.ambient, limits, log, cancel })
    }
}
