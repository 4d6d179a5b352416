//! Which checks run for a kind of change. What comes of it is data: whoever may allow it is shown it, and then it is run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::{ChecksConfig, ReviewPolicy, Strategy};
use crate::detect::{Check, Detected, Part};
use crate::kind::PatchKind;

/// Most checks that run for one change; further ones are skipped.
pub const MAX_CHECKS: usize = 32;

/// What would be run. Running it means running what the change wrote, with the rights of the operator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckPlan {
    /// The kind of the change.
    pub patch_kind: PatchKind,
    /// The checks, in the order in which they run, one after the other.
    pub checks: Vec<Check>,
    /// What the configuration names and the tree does not have: each is a failed check.
    pub missing: Vec<String>,
    /// The checks that the tree has and that do not run, and why.
    pub skipped: Vec<SkippedCheck>,
    /// By which names the checks were chosen: those of the configuration, or parts.
    pub selected_scripts: Vec<String>,
    /// Why these, or why none.
    pub reason: Option<String>,
    /// Whether a review of the change has to follow.
    pub review_required: bool,
    /// Whether somebody has to agree to just these checks, whatever was agreed to in general.
    pub always_ask: bool,
    /// What was left out or could not be read on looking for checks.
    pub notes: Vec<String>,
}

/// A check that does not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkippedCheck {
    /// Which.
    pub name: String,
    /// Why.
    pub why: String,
}

impl CheckPlan {
    /// Whether there is nothing to run and nothing that is missing: such a change is not checked, for its
    /// [reason](Self::reason).
    pub fn is_empty(&self) -> bool {
        self.checks.is_empty() && self.missing.is_empty()
    }
}

/// What is worth running for a kind of change.
pub fn smart(kind: PatchKind) -> &'static [Part] {
    match kind {
        PatchKind::DocsOnly => &[],
        PatchKind::TestOnly => &[Part::Test],
        PatchKind::Frontend => &[Part::Typecheck, Part::Lint, Part::Test],
        PatchKind::Backend => &[Part::Typecheck, Part::Test],
        PatchKind::PackageChange
        | PatchKind::AuthRisk
        | PatchKind::DbRisk
        | PatchKind::CiRisk
        | PatchKind::UnknownCode => ALL,
    }
}

const ALL: &[Part] = &[Part::Check, Part::Typecheck, Part::Lint, Part::Test];

/// Chooses from the checks of a tree. The first that holds: checks are off; they are off for the kind; scripts are named for
/// the kind; scripts are named for all kinds; the strategy.
pub fn select(kind: PatchKind, config: &ChecksConfig, detected: &Detected) -> CheckPlan {
    let policy = config.policies.get(&kind).cloned().unwrap_or_default();
    let review_required = match policy.review {
        Some(review) => review == ReviewPolicy::Required,
        None => kind.wants_review(),
    };
    let mut plan = CheckPlan {
        patch_kind: kind,
        checks: Vec::new(),
        missing: Vec::new(),
        skipped: Vec::new(),
        selected_scripts: Vec::new(),
        reason: policy.reason.clone(),
        review_required,
        always_ask: kind.always_asks(),
        notes: detected.notes.clone(),
    };
    if let Some(why) = config.runs_nothing(kind) {
        plan.skip_rest(&detected.checks, &why);
        // What the operator wrote about it comes first.
        plan.reason.get_or_insert(why);
        return plan;
    }
    if let Some(scripts) = config.named(kind) {
        plan.by_name(scripts, detected);
        plan.skip_rest(&detected.checks, "other scripts are named");
    } else {
        plan.by_part(config.parts(kind), &detected.checks);
        plan.skip_rest(&detected.checks, &format!("it is not among the checks of {kind} changes"));
    }
    if plan.is_empty() {
        plan.reason.get_or_insert_with(|| format!("the project has no checks for {kind} changes"));
    }
    plan
}

impl ChecksConfig {
    /// Why no check of any project would run for a kind of change, if that is so: then nobody has to look for them.
    pub fn runs_nothing(&self, kind: PatchKind) -> Option<String> {
        if !self.enabled {
            return Some("checks are off ([checks] enabled = false)".to_owned());
        }
        if self.policies.get(&kind).is_some_and(|policy| policy.enabled == Some(false)) {
            return Some(format!("checks are off for {kind} changes ([checks.policies.{kind}] enabled = false)"));
        }
        let nothing = self.named(kind).is_none() && self.parts(kind).is_empty();
        nothing.then(|| format!("{kind} changes need no checks"))
    }

    /// The scripts that are named for a kind, or for all of them.
    fn named(&self, kind: PatchKind) -> Option<&[String]> {
        let of_kind = self.policies.get(&kind).and_then(|policy| policy.scripts.as_ref());
        [of_kind, Some(&self.scripts)].into_iter().flatten().find(|scripts| !scripts.is_empty()).map(Vec::as_slice)
    }

    fn parts(&self, kind: PatchKind) -> &'static [Part] {
        match self.strategy {
            Strategy::Smart => smart(kind),
            Strategy::All => ALL,
        }
    }
}

impl CheckPlan {
    fn by_part(&mut self, parts: &[Part], checks: &[Check]) {
        for part in parts {
            let before = self.checks.len() + self.skipped.len();
            for check in checks.iter().filter(|check| check.part == Some(*part)) {
                self.add(check);
            }
            if self.checks.len() + self.skipped.len() > before {
                self.selected_scripts.push(part.as_str().to_owned());
            }
        }
    }

    fn by_name(&mut self, scripts: &[String], detected: &Detected) {
        self.selected_scripts = scripts.to_vec();
        for script in scripts {
            let called = |checks: &'_ [Check]| -> Vec<Check> {
                // A check of just this name is meant before those that only look at what is so called.
                let exact: Vec<_> =
                    checks.iter().filter(|c| c.name == *script || c.script == *script).cloned().collect();
                let looser = || checks.iter().filter(|check| check.is_called(script)).cloned().collect();
                if exact.is_empty() { looser() } else { exact }
            };
            let mut found = called(&detected.checks);
            if found.is_empty() {
                found = called(&detected.at_root);
            }
            if found.is_empty() {
                self.missing.push(script.clone());
            }
            for check in &found {
                self.add(check);
            }
        }
    }

    fn add(&mut self, check: &Check) {
        if self.checks.iter().any(|chosen| chosen.name == check.name) {
            return;
        }
        if self.checks.len() < MAX_CHECKS {
            self.checks.push(check.clone());
        } else if !self.skipped.iter().any(|skipped| skipped.name == check.name) {
            let why = format!("more than {MAX_CHECKS} checks would run");
            self.skipped.push(SkippedCheck { name: check.name.clone(), why });
        }
    }

    /// Says of the checks that could have run, and were not chosen, why.
    fn skip_rest(&mut self, checks: &[Check], why: &str) {
        for check in checks.iter().filter(|check| check.part.is_some()) {
            let known = self.checks.iter().map(|check| &check.name).chain(self.skipped.iter().map(|skip| &skip.name));
            if !known.into_iter().any(|name| *name == check.name) {
                self.skipped.push(SkippedCheck { name: check.name.clone(), why: why.to_owned() });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::config::ChecksTable;
    use crate::detect::Tool;

    fn check(script: &str, part: Option<Part>) -> Check {
        Check {
            name: format!("npm run {script}"),
            program: "npm".into(),
            args: vec!["run".into(), script.into()],
            folder: String::new(),
            tool: Tool::Npm,
            script: script.into(),
            part,
            why: String::new(),
        }
    }

    fn detected() -> Detected {
        let parts = [Part::Test, Part::Lint, Part::Typecheck, Part::Check];
        let mut checks: Vec<Check> = parts.iter().map(|part| check(part.as_str(), Some(*part))).collect();
        checks.push(check("build", None));
        Detected { checks, ..Detected::default() }
    }

    fn chosen(kind: PatchKind, text: &str) -> CheckPlan {
        select(kind, &toml::from_str::<ChecksTable>(text).unwrap().resolve(), &detected())
    }

    fn scripts(plan: &CheckPlan) -> Vec<&str> {
        plan.checks.iter().map(|check| check.script.as_str()).collect()
    }

    #[test]
    fn each_kind_has_its_checks_in_order() {
        let all = ["check", "typecheck", "lint", "test"];
        for (kind, expected, review, asks) in [
            (PatchKind::DocsOnly, &[][..], false, false),
            (PatchKind::TestOnly, &["test"], false, false),
            (PatchKind::Frontend, &["typecheck", "lint", "test"], false, false),
            (PatchKind::Backend, &["typecheck", "test"], false, false),
            (PatchKind::PackageChange, &all, false, false),
            (PatchKind::UnknownCode, &all, false, false),
            (PatchKind::AuthRisk, &all, true, false),
            (PatchKind::DbRisk, &all, true, false),
            (PatchKind::CiRisk, &all, true, true),
        ] {
            let plan = chosen(kind, "");
            assert_eq!(scripts(&plan), expected, "{kind}");
            assert_eq!(plan.selected_scripts, expected, "{kind}");
            assert_eq!((plan.review_required, plan.always_ask), (review, asks), "{kind}");
            assert_eq!(plan.skipped.len(), 4 - expected.len(), "{kind}: {:?}", plan.skipped);
            assert_eq!(plan.reason.is_some(), expected.is_empty(), "{kind}: {:?}", plan.reason);
            assert_eq!(scripts(&chosen(kind, "strategy = \"all\"")), all, "{kind}");
        }
    }

    #[test]
    fn what_is_said_for_a_kind_counts_before_what_is_said_for_all() {
        let text = "scripts = [\"lint\"]\n[policies.backend]\nscripts = [\"build\", \"test\"]\n\
                    [policies.frontend]\nenabled = false\nreview = \"required\"\n[policies.auth-risk]\nreview = \"optional\"\n";
        assert_eq!(scripts(&chosen(PatchKind::Backend, text)), ["build", "test"]);
        assert_eq!(scripts(&chosen(PatchKind::DocsOnly, text)), ["lint"]);
        let off = chosen(PatchKind::Frontend, text);
        assert!(off.is_empty() && off.review_required && off.skipped.len() == 4);
        assert!(off.reason.unwrap().contains("[checks.policies.frontend]"));
        assert!(!chosen(PatchKind::AuthRisk, text).review_required);
        let off = chosen(PatchKind::Backend, &format!("enabled = false\n{text}"));
        assert!(off.is_empty() && off.reason.unwrap().contains("enabled = false"));
        assert_eq!(chosen(PatchKind::DocsOnly, "").reason.as_deref(), Some("docs-only changes need no checks"));
        // A policy that names nothing leaves the choice to the rest.
        assert_eq!(scripts(&chosen(PatchKind::Backend, "[policies.backend]\nscripts = []")), ["typecheck", "test"]);
    }

    #[test]
    fn what_is_named_and_not_there_is_missing() {
        let plan = chosen(PatchKind::Backend, "scripts = [\"npm run test\", \"e2e\"]");
        assert_eq!(scripts(&plan), ["test"]);
        assert_eq!(plan.missing, ["e2e"]);
        assert!(!plan.is_empty());
        // What a strategy would run and the project does not have is nothing that is missing.
        let plan = select(PatchKind::Backend, &ChecksConfig::default(), &Detected::default());
        assert!(plan.is_empty() && plan.reason.unwrap().contains("no checks"));
    }

    #[test]
    fn the_root_is_asked_for_names_that_the_packages_do_not_have() {
        let detected = Detected { checks: Vec::new(), at_root: detected().checks, notes: Vec::new() };
        let config = ChecksTable { scripts: Some(vec!["build".into()]), ..ChecksTable::default() }.resolve();
        assert_eq!(scripts(&select(PatchKind::Backend, &config, &detected)), ["build"]);
        assert!(select(PatchKind::Backend, &ChecksConfig::default(), &detected).is_empty());
    }

    #[test]
    fn checks_are_bounded_in_number() {
        let checks = (0..=MAX_CHECKS).map(|n| check(&format!("t{n}"), Some(Part::Test))).collect();
        let detected = Detected { checks, ..Detected::default() };
        let plan = select(PatchKind::Backend, &ChecksConfig::default(), &detected);
        assert_eq!(plan.checks.len(), MAX_CHECKS);
        assert_eq!(plan.skipped.len(), 1);
        assert!(plan.skipped[0].why.contains("more than"));
    }
}
