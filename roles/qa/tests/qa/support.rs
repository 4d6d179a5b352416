//! Small projects, and how a result is told.

use brain_role::testing::Bench;
use brain_role::{Severity, WorkerResult};

/// A Python project whose manager is uv.
pub fn python() -> Bench {
    Bench::new()
        .file("pyproject.toml", "[project]\nname = \"app\"\n[dependency-groups]\ndev = [\"pytest\"]\n")
        .file("uv.lock", "")
        .file("app/__init__.py", "")
        .file("app/billing.py", "def refund(invoice):\n    return -invoice\n")
        .file(
            "app/session.py",
            "class Session:\n    def __init__(self, user):\n        self.user = user\n\n    def expired(self, limit):\n        return _age(self) > limit\n\n\ndef _age(session):\n    return 1\n\n\ndef open_session(user):\n    return Session(user)\n\n\ndef close_all(sessions):\n    pass\n",
        )
        .file(
            "tests/test_session.py",
            "import pytest\nfrom app.session import Session, open_session\n\n\nclass TestSession:\n    def test_expires(self):\n        assert Session('a').expired(-1)\n\n    @pytest.mark.skip\n    def test_later(self):\n        assert Session('a')\n\n\ndef test_open():\n    open_session('a')\n",
        )
}

/// A change of one line of a file.
pub fn change(path: &str, line: u32, old: &str, new: &str) -> String {
    format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -{line} +{line} @@\n-{old}\n+{new}\n")
}

/// `rule file:line severity` of each finding.
pub fn told(result: &WorkerResult) -> Vec<String> {
    let severity = |severity| match severity {
        Severity::Low => "low",
        Severity::Medium => "medium",
        Severity::High => "high",
    };
    let place = |finding: &brain_role::Finding| {
        let line = finding.line.map_or(String::new(), |line| format!(":{line}"));
        format!("{}{line}", finding.file.as_deref().unwrap_or("-"))
    };
    let told = |finding: &brain_role::Finding| {
        format!("{} {} {}", finding.rule.as_deref().unwrap_or("-"), place(finding), severity(finding.severity))
    };
    result.findings.iter().map(told).collect()
}

/// The commands of the summary.
pub fn commands(result: &WorkerResult) -> Vec<&str> {
    result.summary.lines().filter_map(|line| line.strip_prefix("  ")).collect()
}

/// The first line of the summary, without the command behind it.
pub fn first(result: &WorkerResult) -> &str {
    let line = result.summary.lines().next().unwrap_or_default();
    line.split_once(" Run: ").map_or(line, |(verdict, _)| verdict)
}
