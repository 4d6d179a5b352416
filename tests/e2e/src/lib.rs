//! What the tests that cross crates share: where the built guests are, and a bench to run one on.

pub mod cli;

pub mod components;

use std::path::{Path, PathBuf};

use brain_packet::{AgentTaskContext, HandoffId, HandoffPacket, RoleName, SessionId, TaskId};
use brain_sandbox::{
    Call, CancelToken, FileGrants, GlobLayer, Limits, Role, Run, Sandbox, SandboxConfig, WorkspaceGrant,
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
    /// Read globs.
    pub read: Vec<String>,
}

impl Bench {
    /// A bench with an empty workspace that is granted whole.
    ///
    /// # Panics
    /// When the machine has no room for it.
    #[allow(clippy::unwrap_used, clippy::new_without_default, reason = "the callers are tests")]
    pub fn new() -> Self {
        let private = tempfile::tempdir().unwrap();
        // Shared by all tests, as a cache that is addressed by content may be: a guest is compiled once, not per test.
        let cache = target().join("compiled-for-tests");
        let config = SandboxConfig { cache_dir: Some(cache), ..SandboxConfig::default() };
        Self {
            sandbox: Sandbox::new(config).unwrap(),
            workspace: tempfile::tempdir().unwrap(),
            context: tempfile::tempdir().unwrap(),
            artifacts: tempfile::tempdir().unwrap(),
            private,
            limits: Limits::default(),
            read: vec!["**".into()],
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
        FileGrants {
            workspace: Some(WorkspaceGrant {
                root: self.workspace.path().into(),
                read: vec![GlobLayer::new("manifest", self.read.clone())],
                deny: brain_sandbox::DEFAULT_DENY.iter().map(|d| (*d).into()).collect(),
                honour_gitignore: true,
                tracked: Default::default(),
            }),
            context: Some(self.context.path().into()),
            artifacts: Some(self.artifacts.path().into()),
        }
    }

    /// Calls a role with `goal`.
    pub fn run(&self, role: &Role, goal: &str) -> Run {
        self.run_until(role, goal, CancelToken::default())
    }

    /// Calls a role with `goal`, cancellable.
    pub fn run_until(&self, role: &Role, goal: &str, cancel: CancelToken) -> Run {
        let handoff = self.handoff(goal);
        let log = Some(self.private.path().join("log"));
        role.run(Call { handoff: &handoff, files: self.files(), limits: self.limits.clone(), log, cancel })
    }
}
