//! `brain doctor`: what Brain needs of this machine and project, checked one by one.

use std::path::Path;

use brain_orchestrator::{
    Config, Confirmed, Installed, Interrupted, Who, git_view, interrupted, nearest, open_project,
};
use brain_sandbox::{CancelToken, LimitName, Sandbox, SandboxConfig, show_bytes};
use serde::Serialize;

use crate::args::PlaceArgs;
use crate::exit::{Exit, Outcome, print, print_json};
use crate::show;

/// Doubtful grants that are told one by one.
const MAX_DOUBTS: usize = 32;

/// How one check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// As it should be.
    Ok,
    /// Brain works, but not all of it.
    Warning,
    /// Brain does not work.
    Error,
}

/// One check.
#[derive(Debug, Serialize)]
pub struct Checked {
    /// Its name.
    pub id: &'static str,
    /// How it came out.
    pub status: Health,
    /// What was found.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

/// All checks.
#[derive(Debug, Serialize)]
pub struct Diagnosis {
    /// The worst of them.
    pub status: Health,
    /// In the order in which a run needs them.
    pub checks: Vec<Checked>,
}

/// Checks everything, and fails when something does not work.
pub fn doctor(place: &PlaceArgs, json: bool) -> Outcome {
    let mut checks = vec![home(place), config(place), project(place), git(&place.project)];
    checks.extend(applies(place));
    checks.extend(grants(place));
    checks.extend(roles(place));
    checks.push(cache(place));
    let status = checks.iter().map(|c| c.status).max().unwrap_or(Health::Ok);
    let diagnosis = Diagnosis { status, checks };
    if json {
        print_json(&diagnosis)?;
    } else {
        print(&show::diagnosis(&diagnosis))?;
    }
    Ok(if status == Health::Error { Exit::Failed } else { Exit::Done })
}

fn ok(id: &'static str, message: impl Into<String>) -> Checked {
    Checked { id, status: Health::Ok, message: message.into(), fix: None }
}

fn bad(id: &'static str, status: Health, message: impl Into<String>, fix: impl Into<String>) -> Checked {
    Checked { id, status, message: message.into(), fix: Some(fix.into()) }
}

fn home(place: &PlaceArgs) -> Checked {
    let Ok(home) = place.home() else {
        return bad("home", Health::Error, "there is no BRAIN_HOME and no HOME", "set BRAIN_HOME");
    };
    let probe =
        std::fs::create_dir_all(&home).and_then(|()| tempfile::Builder::new().prefix(".doctor-").tempfile_in(&home));
    // Where it is there already, a run makes its journal in it.
    let sessions = home.join("sessions");
    let probe = probe.map_err(|e| (&home, e)).and_then(|_| match std::fs::symlink_metadata(&sessions) {
        Err(_) => Ok(()),
        Ok(_) => std::fs::read_dir(&sessions)
            .and_then(|_| tempfile::Builder::new().prefix(".doctor-").tempfile_in(&sessions).map(drop))
            .map_err(|e| (&sessions, e)),
    });
    match probe {
        Ok(()) => ok("home", format!("{} can be written", home.display())),
        Err((folder, e)) => bad(
            "home",
            Health::Error,
            format!("{} cannot be written: {e}", folder.display()),
            "check its permissions and the disk, or set BRAIN_HOME to another folder",
        ),
    }
}

/// Applies that were interrupted and that this start, as each one does, could not make good.
fn applies(place: &PlaceArgs) -> Vec<Checked> {
    let Ok(home) = place.home() else { return Vec::new() };
    let (found, more) = match interrupted(&home) {
        Ok(found) => found,
        Err(e) => {
            let message = format!("interrupted applies cannot be looked for: {e}");
            return vec![bad("apply", Health::Error, message, "check the permissions of BRAIN_HOME/applying")];
        }
    };
    let mut checks: Vec<Checked> = found
        .iter()
        .take(MAX_DOUBTS)
        .map(|Interrupted { marker, of, root_is_there }| {
            let marker = marker.display();
            let (message, fix) = match of {
                Ok(mark) if *root_is_there => (
                    format!("an apply of {} {} to {} is half done", mark.session, mark.role, mark.root),
                    format!("the first line that this start printed says why; when the tree is as you want it, remove {marker}"),
                ),
                Ok(mark) => (
                    format!("an apply of {} {} is half done, and its folder {} is not there", mark.session, mark.role, mark.root),
                    format!("put the folder back, and the next start goes on; if it was deleted for good, remove {marker}"),
                ),
                Err(e) => (
                    format!("{marker} is no marker of an apply: {e}"),
                    "Brain writes no such file: when no tree holds files named .brain-apply-…, remove it".to_owned(),
                ),
            };
            bad("apply", Health::Warning, message, fix)
        })
        .collect();
    let more = more + found.len().saturating_sub(MAX_DOUBTS);
    if more > 0 {
        let message = format!("{more} more applies may be half done");
        checks.push(bad("apply", Health::Warning, message, "see to those above first"));
    }
    if checks.is_empty() {
        checks.push(ok("apply", "no apply is half done"));
    }
    checks
}

fn config(place: &PlaceArgs) -> Checked {
    let Ok(home) = place.home() else { return bad("config", Health::Error, "no home", "set BRAIN_HOME") };
    match Config::load(&home, Some(&place.project)) {
        Ok(config) if config.sources.is_empty() => ok("config", "no configuration files: the defaults are in force"),
        Ok(config) => {
            let files: Vec<_> = config.sources.iter().map(|p| p.display().to_string()).collect();
            ok("config", format!("read {}", files.join(", ")))
        }
        Err(e) => {
            let help = miette::Diagnostic::help(&e).map(|h| h.to_string()).unwrap_or_default();
            bad("config", Health::Error, e.to_string(), help)
        }
    }
}

/// Grants that grant nothing, since what they name is not there, and roles that are not called until they are confirmed.
fn grants(place: &PlaceArgs) -> Vec<Checked> {
    let (Ok(home), Ok(catalogue)) = (place.home(), place.catalogue()) else { return Vec::new() };
    let mut checks = Vec::new();
    if let Ok(config) = Config::load(&home, Some(&place.project)) {
        let known: Vec<&str> = catalogue.iter().map(|role| role.manifest.name.as_str()).collect();
        for (role, who) in config.granted.roles().filter(|(role, _)| !known.contains(&role.as_str())) {
            let file = if who == Who::Project { "the project's .brain/brain.toml" } else { "config.toml" };
            if let Some(fault) = catalogue.fault(role.as_str()) {
                let message = format!("{file}: grants to `{role}`, which is there and cannot be used: {}", fault.error);
                checks.push(bad("grants", Health::Warning, message, fault.help()));
                continue;
            }
            let fix = match nearest(role.as_str(), known.iter().copied()) {
                Some(name) => format!("did you mean `{name}`?"),
                None => "`brain role list` shows the roles that there are".to_owned(),
            };
            checks.push(bad("grants", Health::Warning, format!("{file}: there is no role `{role}` to grant to"), fix));
        }
        for path in &config.no_projects {
            let message = format!("config.toml: there is no project {} to grant in", path.display());
            checks.push(bad("grants", Health::Warning, message, "correct the path, or take it out"));
        }
    }
    match Confirmed::read(&home) {
        Err(e) => {
            let help = miette::Diagnostic::help(&e).map(|h| h.to_string()).unwrap_or_default();
            checks.push(bad("confirmed", Health::Error, e.to_string(), help));
        }
        Ok(confirmed) => checks.extend(catalogue.iter().filter_map(|role| confirmed.allows(role).err()).map(|e| {
            let help = miette::Diagnostic::help(&e).map(|h| h.to_string()).unwrap_or_default();
            bad("confirmed", Health::Warning, e.to_string(), help)
        })),
    }
    let more = checks.len().saturating_sub(MAX_DOUBTS);
    checks.truncate(MAX_DOUBTS);
    if more > 0 {
        let message = format!("{more} more grants are in doubt");
        checks.push(bad("grants", Health::Warning, message, "correct those above first"));
    }
    checks
}

fn project(place: &PlaceArgs) -> Checked {
    match open_project(&place.project) {
        Ok(project) => ok("project", format!("{} can be read", project.display())),
        Err(e) => bad("project", Health::Error, e.to_string(), "run it in the project's folder, or give --project"),
    }
}

fn git(project: &Path) -> Checked {
    let Ok(project) = open_project(project) else {
        return bad("git", Health::Warning, "there is no project", "see above");
    };
    match git_view(&project, &CancelToken::default()) {
        Ok(view) => ok("git", format!("the project is a git work tree with {} tracked files", view.tracked.len())),
        Err(why) => bad("git", Health::Warning, why, "without a repository there is no change to review: `git init`"),
    }
}

fn roles(place: &PlaceArgs) -> Vec<Checked> {
    let (Ok(catalogue), Ok(sandbox)) = (place.catalogue(), place.sandbox()) else {
        return vec![bad(
            "sandbox",
            Health::Error,
            "the sandbox cannot start",
            "report it with this machine's details",
        )];
    };
    let home = place.home().ok();
    let config = home.and_then(|home| Config::load(&home, Some(&place.project)).ok()).unwrap_or_default();
    let (time, memory) =
        (LimitName::Deadline.show(config.ceiling.deadline_ms), show_bytes(config.ceiling.memory_bytes));
    let mut checks = vec![ok("sandbox", format!("wasmtime starts; a call has {time} and {memory} at most"))];
    for fault in &catalogue.faults {
        checks.push(bad("role", Health::Warning, format!("{}: {}", fault.name, fault.error), fault.help()));
    }
    if catalogue.is_empty() {
        let message =
            if catalogue.faults.is_empty() { "there are no roles" } else { "there are no roles that can be used" };
        checks.push(bad("roles", Health::Error, message, "build the vetted ones: `cargo xtask roles`"));
    }
    for role in catalogue.iter() {
        let name = &role.manifest.name;
        checks.push(match role.bytes() {
            Err(e) => bad("role", Health::Error, e.to_string(), "build the role again"),
            Ok(bytes) => {
                let report = sandbox.check(&bytes);
                match report.first_fault() {
                    None => ok("role", format!("{name} {} ({}) fits the contract", role.manifest.version, role.origin)),
                    Some(row) => bad(
                        "role",
                        Health::Error,
                        format!("{name}: {}: {}", row.item, row.offered),
                        row.remedy.clone().unwrap_or_default(),
                    ),
                }
            }
        });
    }
    checks
}

/// Compiles the first role that can be loaded twice: the second time has to come from the cache.
fn cache(place: &PlaceArgs) -> Checked {
    let Ok(home) = place.home() else { return bad("cache", Health::Warning, "no home", "set BRAIN_HOME") };
    let dir = home.join("cache/compiled");
    let found = std::fs::read_dir(&dir).map(|entries| entries.count()).unwrap_or(0);
    let sandbox = || Sandbox::new(SandboxConfig { cache_dir: Some(dir.clone()), ..SandboxConfig::default() }).ok();
    let loads = |role: &Installed| {
        let bytes = role.bytes().ok()?;
        sandbox()?.load(&role.manifest.name, &bytes).ok()?;
        Some((role.manifest.name.clone(), bytes))
    };
    let Some((name, bytes)) = place.catalogue().ok().and_then(|catalogue| catalogue.iter().find_map(loads)) else {
        return ok("cache", format!("{} ({found} files)", dir.display()));
    };
    let again = sandbox().and_then(|sandbox| sandbox.load(&name, &bytes).ok());
    match again.map(|role| role.compiled_in()) {
        Some(None) => ok("cache", format!("compiled roles are kept in {}", dir.display())),
        _ => bad(
            "cache",
            Health::Warning,
            format!("{} does not keep compiled roles: each start compiles them again", dir.display()),
            "check that the folder is yours alone and can be written",
        ),
    }
}
