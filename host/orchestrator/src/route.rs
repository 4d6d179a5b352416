//! Which roles a request calls for, by rule.
//!
//! The rules are those of the seed's heuristic router, adapted in three ways. The words that call for a role come from the
//! role's own manifest, so a new role takes part without a change here. A role that is called for and not installed is said
//! to be missing, and another one answers. And no role here edits files, so wishing for an edit adds the map of the code that
//! an editor would need, and a note.

use brain_packet::RoleName;
use serde::{Deserialize, Serialize};

use crate::roles::{Catalogue, Installed};
use crate::words::Words;

/// The order in which roles are considered as the one that answers; those it does not name come after, by name.
const PRECEDENCE: &[&str] =
    &["frontend", "backend", "dba", "designer", "security", "qa", "review", "summarize", "devops", "librarian"];

/// The role that answers when no role's words match.
const FALLBACK: &str = "librarian";

/// The role that judges. It supports only when it is asked to: without a change there is nothing to judge.
const REVIEW: &str = "review";

/// Roles that a request may name and that may not be installed.
const KNOWN: &[&str] = &["frontend", "backend", "dba", "designer", "qa", "security", "review", "summarize", "devops"];

/// Words with which a question begins. A question is answered from the code, whatever else it mentions: "where is the
/// token read?" is no request to look for leaked tokens.
const QUESTION: &[&str] = &[
    "where",
    "what",
    "which",
    "how",
    "why",
    "who",
    "when",
    "explain",
    "describe",
    "is",
    "are",
    "does",
    "do",
    "can",
    "show",
    "tell",
    "哪里",
    "什么",
    "怎么",
    "为什么",
    "解释",
];

/// Words that wish for a change of files.
const EDIT_VERBS: &[&str] = &[
    "implement",
    "build",
    "create",
    "add",
    "fix",
    "change",
    "modify",
    "refactor",
    "edit",
    "write",
    "delete",
    "rename",
    "move",
    "extract",
    "inline",
    "rewrite",
    "replace",
    "remove",
    "实现",
    "添加",
    "修复",
    "修改",
    "重构",
    "删除",
];

/// Requests that say nothing to go by: the whole request, without its polite words.
const VAGUE: &[&str] = &[
    "fix",
    "improve",
    "update",
    "change",
    "modify",
    "refactor",
    "optimise",
    "optimize",
    "handle",
    "do",
    "take care of",
    "help",
    "优化一下",
    "修一下",
    "改一下",
];
/// Words that make a vague request no clearer.
const FILLER: &[&str] =
    &["please", "it", "this", "that", "can", "you", "me", "the", "code", "thing", "some", "stuff", "just"];

/// A chosen role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// The role.
    pub role: RoleName,
    /// Why it takes part, in words.
    pub reason: String,
}

/// The roles of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The role that answers.
    pub primary: Chosen,
    /// The roles that prepare its work, in the order of [`PRECEDENCE`].
    pub support: Vec<Chosen>,
    /// What the request calls for and this run cannot do.
    pub missing: Vec<String>,
}

/// A question to ask back before any worker runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Clarification {
    /// Why the request cannot be worked on.
    pub reason: String,
    /// The question.
    pub question: String,
    /// Ways to go on.
    pub options: Vec<String>,
}

/// What routing came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Routed {
    /// The roles of the run.
    Run(Route),
    /// The request says too little.
    Unclear(Clarification),
}

/// Chooses the roles for a request. None when the catalogue is empty.
pub fn route(request: &str, catalogue: &Catalogue) -> Option<Routed> {
    let words = Words::of(request);
    if is_vague(request) {
        return Some(Routed::Unclear(clarification()));
    }
    let mut roles: Vec<&Installed> = catalogue.iter().collect();
    roles.sort_by_key(|role| precedence(role.manifest.name.as_str()));
    let called: Vec<(&Installed, String)> = roles
        .iter()
        .filter_map(|role| {
            let word = words.first_of(role.manifest.routing.words.iter().map(String::as_str))?;
            Some((*role, format!("the request says \"{word}\"")))
        })
        .collect();
    let edit = words.asks_to(EDIT_VERBS.iter().copied());

    let fallback = || {
        let role = roles.iter().find(|r| r.manifest.name.as_str() == FALLBACK).or(roles.first())?;
        Some((*role, "no other role's words are in the request".to_owned()))
    };
    let question = words.first_is(QUESTION);
    let answers = |role: &&Installed| role.manifest.name.as_str() == FALLBACK;
    let (primary, reason) = match (question, roles.iter().find(|role| answers(role))) {
        (Some(word), Some(role)) => (*role, format!("the request asks \"{word}\"")),
        _ => called.first().cloned().or_else(fallback)?,
    };
    let mut support: Vec<Chosen> = called
        .iter()
        .filter(|(role, _)| role.manifest.name != primary.manifest.name)
        .map(|(role, reason)| Chosen { role: role.manifest.name.clone(), reason: reason.clone() })
        .collect();
    let mut missing = not_installed(&words, &roles);
    if let Some(verb) = edit {
        let is_part = |name: &str| {
            primary.manifest.name.as_str() == name || support.iter().any(|chosen| chosen.role.as_str() == name)
        };
        let mapper = roles.iter().find(|r| r.manifest.name.as_str() == FALLBACK);
        if let Some(role) = mapper.filter(|_| !is_part(FALLBACK) && primary.manifest.name.as_str() != REVIEW) {
            let reason = format!("the request says \"{verb}\", and an edit starts from a map of the code");
            support.push(Chosen { role: role.manifest.name.clone(), reason });
        }
        let edits =
            |name: &RoleName| roles.iter().any(|r| r.manifest.name == *name && !r.manifest.files.write.is_empty());
        let somebody_edits = edits(&primary.manifest.name) || support.iter().any(|chosen| edits(&chosen.role));
        if primary.manifest.name.as_str() != REVIEW && !somebody_edits {
            missing.push(format!(
                "the request says \"{verb}\", but no role here edits files: it was analysed, and nothing was changed"
            ));
        }
    }
    Some(Routed::Run(Route { primary: Chosen { role: primary.manifest.name.clone(), reason }, support, missing }))
}

fn precedence(name: &str) -> (usize, String) {
    (PRECEDENCE.iter().position(|known| *known == name).unwrap_or(PRECEDENCE.len()), name.to_owned())
}

fn not_installed(words: &Words, roles: &[&Installed]) -> Vec<String> {
    KNOWN
        .iter()
        .filter(|name| words.has(name) && !roles.iter().any(|role| role.manifest.name.as_str() == **name))
        .map(|name| format!("the request names the role `{name}`, which is not installed"))
        .collect()
}

fn is_vague(request: &str) -> bool {
    let lower = request.trim().to_lowercase();
    let rest: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric() && c != '@' && c != '/' && c != '.' && c != '_')
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| !word.is_empty() && !FILLER.contains(word))
        .collect();
    let rest = rest.join(" ");
    rest.is_empty() || VAGUE.contains(&rest.as_str())
}

fn clarification() -> Clarification {
    Clarification {
        reason: "the request names no file, symptom or goal".into(),
        question: "What should be looked at, and what do you want to know about it?".into(),
        options: vec![
            "ask where something is: brain run \"where is … handled?\"".into(),
            "ask for a check: brain run \"find secrets and dangerous calls\"".into(),
            "ask for a review of the pending change: brain run \"review my changes\"".into(),
        ],
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;
    use crate::roles::Origin;

    fn catalogue(roles: &[(&str, &str)]) -> Catalogue {
        let home = tempfile::tempdir().unwrap();
        for (name, words) in roles {
            let folder = home.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            let manifest = format!(
                "name = \"{name}\"\nversion = \"1\"\ndescription = \"d\"\ncontract = \"brain:role@1.0.0\"\ncomponent = \"x.wasm\"\n[routing]\nwords = [{words}]\n"
            );
            std::fs::write(folder.join("role.toml"), manifest).unwrap();
        }
        let found = Catalogue::find(&[(home.path().to_owned(), Origin::Named)], home.path());
        assert!(found.faults.is_empty(), "{:?}", found.faults);
        found
    }

    fn vetted() -> Catalogue {
        catalogue(&[
            ("librarian", "\"where\", \"find\""),
            ("security", "\"secret\", \"security\""),
            ("review", "\"review\", \"changes\""),
            ("licences", "\"licence\""),
        ])
    }

    /// The primary, then the support roles.
    fn roles(request: &str) -> Vec<String> {
        match route(request, &vetted()).unwrap() {
            Routed::Run(route) => {
                [&route.primary].into_iter().chain(&route.support).map(|c| c.role.to_string()).collect()
            }
            Routed::Unclear(question) => panic!("{question:?}"),
        }
    }

    #[test]
    fn the_request_chooses_the_roles() {
        for (request, expected) in [
            ("where is the journal written?", &["librarian"] as &[_]),
            ("hello there", &["librarian"]),
            ("find secrets", &["security", "librarian"]),
            ("review my changes", &["review"]),
            ("find secrets and review my changes", &["security", "review", "librarian"]),
            ("check every licence, and find secrets", &["security", "librarian", "licences"]),
            ("where is a secret read?", &["librarian", "security"]),
            ("how are changes reviewed", &["librarian", "review"]),
            ("add a login form", &["librarian"]),
            ("check security and fix it", &["security", "librarian"]),
        ] {
            assert_eq!(roles(request), expected, "{request}");
        }
    }

    #[test]
    fn what_is_called_for_and_not_there_is_said() {
        let Routed::Run(route) = route("implement it as the dba would", &vetted()).unwrap() else { panic!() };
        assert!(route.missing.iter().any(|m| m.contains("`dba`, which is not installed")), "{:?}", route.missing);
        assert!(route.missing.iter().any(|m| m.contains("no role here edits files")), "{:?}", route.missing);
    }

    #[test]
    fn a_request_that_says_nothing_is_asked_back() {
        for request in ["fix it", "please improve this", "优化一下", "help me", "update", "???"] {
            assert!(matches!(route(request, &vetted()), Some(Routed::Unclear(_))), "{request}");
        }
        for request in ["fix @src/a.rs", "improve the parser", "审查", "why?"] {
            assert!(matches!(route(request, &vetted()), Some(Routed::Run(_))), "{request}");
        }
    }

    #[test]
    fn without_roles_there_is_no_route() {
        assert_eq!(route("where is it?", &catalogue(&[])), None);
    }
}
