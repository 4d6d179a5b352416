//! Where things are on this machine.

use std::path::PathBuf;
use std::time::Duration;

use brain_orchestrator::{Catalogue, Config, Mode, Orchestrator, RunError, open_project};
use brain_sandbox::{CancelToken, Sandbox, SandboxConfig};
use miette::Diagnostic;

use crate::args::PlaceArgs;
use crate::exit::{Exit, Failure};

/// How long an interrupted run may take to end in good order.
const GRACE: Duration = Duration::from_secs(5);

/// A folder of roles that was named does not exist.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{} is not a folder of role folders", .0.display())]
#[diagnostic(code("cli.roles"), help("give --roles a folder that holds one folder for each role, with its role.toml"))]
struct NoFolder(PathBuf);

/// A folder of roles that was named is a role's own.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{} is the folder of one role, and no folder of role folders", .0.display())]
#[diagnostic(code("cli.roles"), help("give --roles the folder that it lies in"))]
struct RoleFolder(PathBuf);

/// There is no home folder to keep state in.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("there is no place for sessions and caches: neither BRAIN_HOME nor HOME is set")]
#[diagnostic(code("cli.home"), help("set BRAIN_HOME, or give --home DIR"))]
struct NoHome;

impl PlaceArgs {
    /// `BRAIN_HOME`, absolute.
    pub fn home(&self) -> Result<PathBuf, Failure> {
        let home = self
            .home
            .clone()
            .or_else(|| std::env::var_os("BRAIN_HOME").map(PathBuf::from))
            .filter(|home| !home.as_os_str().is_empty())
            .or_else(|| {
                std::env::home_dir().filter(|home| !home.as_os_str().is_empty()).map(|home| home.join(".brain"))
            })
            .ok_or_else(|| Failure { error: Box::new(NoHome), exit: Exit::Usage })?;
        Ok(std::path::absolute(&home).unwrap_or(home))
    }

    /// The roles that there are.
    pub fn catalogue(&self) -> Result<Catalogue, Failure> {
        let home = self.home()?;
        if let Some(folder) = self.roles.iter().find(|folder| !folder.is_dir()) {
            return Err(Failure { error: Box::new(NoFolder(folder.clone())), exit: Exit::Usage });
        }
        if let Some(folder) = self.roles.iter().find(|folder| folder.join("role.toml").is_file()) {
            return Err(Failure { error: Box::new(RoleFolder(folder.clone())), exit: Exit::Usage });
        }
        Ok(Catalogue::find(&Catalogue::folders(&self.roles, &home), &home))
    }

    /// The sandbox, with the compile cache of the home.
    pub fn sandbox(&self) -> Result<Sandbox, Failure> {
        let cache_dir = Some(self.home()?.join("cache/compiled"));
        let config = SandboxConfig { cache_dir, ..SandboxConfig::default() };
        Sandbox::new(config).map_err(|e| RunError::from(e).into())
    }

    /// All that a run needs. Ctrl-C interrupts it.
    pub fn orchestrator(&self) -> Result<Orchestrator, Failure> {
        let (home, project) = (self.home()?, open_project(&self.project)?);
        let config = Config::load(&home, Some(&project)).map_err(RunError::from)?;
        let cancel = CancelToken::default();
        let token = cancel.clone();
        // Without a handler the signal ends the process, which is the next best thing.
        let _ = ctrlc::set_handler(move || {
            if token.is_cancelled() {
                std::process::exit(Exit::Interrupted as i32);
            }
            token.cancel();
            // Roles end within a tick. What else might hold the run up, such as a disk that does not answer, gets this long.
            std::thread::spawn(|| {
                std::thread::sleep(GRACE);
                std::process::exit(Exit::Interrupted as i32);
            });
        });
        Ok(Orchestrator {
            sandbox: self.sandbox()?,
            catalogue: self.catalogue()?,
            config,
            home,
            project,
            mode: Mode::default(),
            may_check: false,
            cancel,
        })
    }
}
