//! Go: what a `go.mod` stands for.

use super::package::Package;
use super::{Part, Tool};

pub(super) fn offer(package: &mut Package<'_>) {
    if !package.has("go.mod") {
        return;
    }
    let why = || "go.mod is there".to_owned();
    package.offer(Tool::Go, &["go", "vet", "./..."], "vet", Some(Part::Typecheck), why());
    package.offer(Tool::Go, &["go", "test", "./..."], "test", Some(Part::Test), why());
}
