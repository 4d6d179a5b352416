//! What the tests share.

use brain_role::WorkerResult;
use brain_role::testing::Bench;

/// Asks about the project in `tests/fixtures/ledger`.
pub fn ask(goal: &str) -> WorkerResult {
    Bench::new().workspace_dir(ledger()).goal(goal).run(librarian::run)
}

/// The folder of that project.
pub fn ledger() -> String {
    format!("{}/tests/fixtures/ledger", env!("CARGO_MANIFEST_DIR"))
}

/// The project files that a result names, in order.
pub fn files(result: &WorkerResult) -> Vec<&str> {
    result.artifacts.iter().filter_map(|artifact| artifact.uri.strip_prefix("/workspace/")).collect()
}

/// Why a result names a file; empty when it does not.
pub fn label<'a>(result: &'a WorkerResult, path: &str) -> &'a str {
    let named = result.artifacts.iter().find(|artifact| artifact.uri.strip_prefix("/workspace/") == Some(path));
    named.and_then(|artifact| artifact.label.as_deref()).unwrap_or("")
}
