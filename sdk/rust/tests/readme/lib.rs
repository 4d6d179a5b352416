//! Lists the TODO comments of a project.

use brain_role::{Finding, Handoff, Outcome, Severity, WalkLimits};

brain_role::role!(run);

fn run(handoff: Handoff) -> Outcome {
    let workspace = handoff.workspace();
    let walk = workspace.walk(&WalkLimits::default());
    let mut todos = Vec::new();
    let mut unread = 0;
    for file in &walk.files {
        let Ok(text) = workspace.read_text(&file.path) else {
            unread += 1;
            continue;
        };
        for (line, number) in text.lines().zip(1..) {
            if line.contains("TODO") {
                let todo = Finding::new(Severity::Low, "left to do");
                todos.push(todo.rule("todo/comment").at(&file.path, number).evidence(line.trim()));
            }
        }
    }
    let mut outcome = Outcome::completed(format!("{} left to do", todos.len())).findings(todos);
    if unread > 0 {
        outcome = outcome.risk(format!("{unread} files are no text, or too large, and were not read"));
    }
    // What the walk left out is said, not dropped.
    outcome.risks(walk.note())
}

#[cfg(test)]
mod tests {
    use brain_role::testing::Bench;

    #[test]
    fn a_todo_is_found_with_its_line() {
        let bench = Bench::new().file("src/a.rs", "fn a() {}\n// TODO: b\n").file("logo.png", [0xff]);
        let result = bench.run(super::run);
        assert_eq!(result.summary, "1 left to do");
        assert_eq!(result.findings[0].file.as_deref(), Some("src/a.rs"));
        assert_eq!(result.findings[0].line, Some(2));
        assert_eq!(result.risks, ["1 files are no text, or too large, and were not read"]);
    }
}
