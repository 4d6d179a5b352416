#![doc = include_str!("../README.md")]

mod answer;
mod asked;
mod change;
mod code;
mod cover;
mod findings;
pub mod limits;
mod project;
mod public;
mod runner;
mod scope;
mod smells;

use brain_role::{Handoff, Outcome};

use answer::Answer;
use project::Project;
use scope::Scope;

brain_role::role!(run);

/// Maps what a handoff asks about to its tests.
pub fn run(handoff: Handoff) -> Outcome {
    let tree = handoff.workspace();
    let project = Project::new(&tree);
    let scope = Scope::of(&handoff, &project);
    let covers = cover::covers(&project, &scope);
    let mut answer = Answer::new(&tree, &project, &scope, &covers);
    let composed = brain_role::compose(&handoff.prior_results());
    answer.summary.extend(composed.lines().map(secret_scan::mask_runs));
    let mut outcome = Outcome::completed(answer.summary.join("\n"));
    for step in answer.steps {
        outcome = outcome.step(step);
    }
    for (path, label) in answer.tests {
        outcome = outcome.file_ref(path, label);
    }
    outcome.findings(answer.findings).risks(answer.risks)
}
