//! Returns at once and touches nothing: the smallest role there is. What a run of it costs is what the sandbox costs.

use brain_role::{Handoff, Outcome};

brain_role::role!(run);

fn run(_handoff: Handoff) -> Outcome {
    Outcome::completed("nothing to do")
}

#[cfg(test)]
mod tests {
    use brain_role::TaskStatus;
    use brain_role::testing::Bench;

    #[test]
    fn it_completes() {
        assert_eq!(Bench::new().run(super::run).progress.status, TaskStatus::Completed);
    }
}
