//! Which roles a request calls for, by rule: what plans where no model does, and what a model's plan falls back on.
//!
//! The rules are those of the seed's heuristic router, adapted in three ways. The words that call for a role come from the
//! role's own manifest, so a new role takes part without a change here. A role that is called for and not installed is said
//! to be missing, and another one answers. And a change is reviewed where a role of the plan may write: where none may,
//! there is nothing to review.

use brain_manifest::Manifest;
use brain_packet::RoleName;

use crate::clarify::{about, is_vague};
use crate::draft::{Draft, DraftTodo, DraftWorker, Edge};
use crate::words::Words;

/// The order in which roles are considered as the one that answers; those it does not name come after, by name.
const PRECEDENCE: &[&str] = &[
    "image-maker",
    "frontend",
    "backend",
    "dba",
    "designer",
    "security",
    "qa",
    "review",
    "summarize",
    "devops",
    "librarian",
];

/// The role that answers when no role's words match, and that draws the map that an edit starts from.
pub(crate) const LIBRARIAN: &str = "librarian";
/// The role that judges.
pub(crate) const REVIEW: &str = "review";
/// Roles whose work needs no map of the code.
const NO_MAP: &[&str] = &["librarian", "devops", "review", "summarize", "image-maker"];

/// Roles that a request may name and that may not be installed.
const KNOWN: &[&str] = &["frontend", "backend", "dba", "designer", "qa", "security", "review", "summarize", "devops"];

/// Which role's task comes before which other's, where both take part.
const ORDER: &[(&str, &[&str])] = &[
    ("librarian", &["backend", "frontend", "designer", "dba"]),
    ("designer", &["frontend"]),
    ("dba", &["backend"]),
    ("security", &["backend"]),
    ("backend", &["frontend", "qa", "review"]),
    ("frontend", &["qa", "review"]),
];

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
    "show",
    "tell",
    "哪里",
    "什么",
    "怎么",
    "为什么",
    "解释",
];

/// Words with which a question begins that is answered by yes or no: by the role that assesses what it asks about, where
/// one of its words is there, as in "is the parser tested?".
const YES_OR_NO: &[&str] = &["is", "are", "does", "do", "has", "have", "can"];

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
    "增加",
    "新增",
    "修复",
    "修改",
    "重构",
    "删除",
    "移除",
    "重命名",
    "替换",
    "改写",
    "编写",
];

/// Words for an image, and for making one.
const IMAGE_NOUNS: &[&str] = &[
    "image",
    "picture",
    "illustration",
    "icon",
    "logo",
    "poster",
    "wallpaper",
    "图片",
    "图像",
    "插画",
    "图标",
    "海报",
    "壁纸",
];
const IMAGE_VERBS: &[&str] =
    &["generate", "draw", "paint", "render", "create", "make", "design", "生成", "画", "绘制", "制作"];
/// Characters between a verb and its noun.
const IMAGE_NEAR: usize = 48;

/// Words of the workspace itself: what they mean when no role's own words are there.
const WORKSPACE: &[&str] = &[
    "git",
    "commit",
    "stage",
    "push",
    "pull",
    "branch",
    "merge",
    "rebase",
    "tag",
    "release",
    "ci",
    "workflow",
    "shell",
    "terminal",
    "command",
    "npm",
    "bun",
    "pnpm",
    "yarn",
    "lint",
    "typecheck",
    "提交",
    "推送",
    "分支",
    "合并",
    "发布",
    "命令",
];

/// Plans `request` by rule. None when there is no role.
pub(crate) fn plan(request: &str, roles: &[&Manifest], review_edits: bool) -> Option<Draft> {
    let mut roles = roles.to_vec();
    roles.sort_by_key(|role| precedence(role.name.as_str()));
    let words = Words::of(request);
    let installed = |name: &str| roles.iter().find(|role| role.name.as_str() == name).copied();

    let called: Vec<(&Manifest, String)> = roles
        .iter()
        .filter_map(|role| {
            let word = words.first_of(role.routing.words.iter().map(String::as_str))?;
            Some((*role, format!("the request says \"{word}\"")))
        })
        .collect();
    let edit = words.asks_to(EDIT_VERBS.iter().copied());
    let mut missing = not_installed(&words, &roles);

    let (primary, reason) = {
        let assessed = called.iter().any(|(role, _)| role.name.as_str() != LIBRARIAN);
        let word = words.first_is(QUESTION).or_else(|| words.first_is(YES_OR_NO).filter(|_| !assessed));
        let question = word.zip(installed(LIBRARIAN));
        let image = wants_image(request).then(|| installed("image-maker"));
        let workspace = words.first_of(WORKSPACE.iter().copied()).zip(installed("devops"));
        if let Some(Some(role)) = image {
            (role, "the request asks for an image".to_owned())
        } else if let Some((word, role)) = question {
            (role, format!("the request asks \"{word}\""))
        } else if let Some(first) = called.first().cloned() {
            first
        } else if let Some((word, role)) = workspace {
            (role, format!("the request says \"{word}\""))
        } else {
            let role = installed(LIBRARIAN).or(roles.first().copied())?;
            (role, "no other role's words are in the request".to_owned())
        }
    };
    if wants_image(request) && installed("image-maker").is_none() {
        missing.push("the request asks for an image, and no role here makes images".into());
    }

    let mut chosen = vec![(primary, reason.clone())];
    if primary.name.as_str() != "image-maker" {
        chosen.extend(called.iter().filter(|(role, _)| role.name != primary.name).cloned());
    }
    if let Some(verb) = edit {
        let takes_part = |name: &str| chosen.iter().any(|(role, _)| role.name.as_str() == name);
        if !NO_MAP.contains(&primary.name.as_str())
            && !takes_part(LIBRARIAN)
            && let Some(role) = installed(LIBRARIAN)
        {
            chosen.push((role, format!("the request says \"{verb}\", and an edit starts from a map of the code")));
        }
    }
    let edits = chosen.iter().any(|(role, _)| !role.files.write.is_empty());
    if let Some(verb) = edit.filter(|_| !edits && primary.name.as_str() != REVIEW) {
        missing.push(format!(
            "the request says \"{verb}\", but no role here edits files: it is analysed, and nothing is changed"
        ));
    }
    Some(Draft {
        primary: Some(primary.name.clone()),
        todos: chosen.iter().map(|(role, reason)| todo(&role.name, reason)).collect(),
        edges: edges(&chosen),
        workers: chosen
            .iter()
            .map(|(role, reason)| DraftWorker {
                role: role.name.clone(),
                goal: None,
                reason: reason.clone(),
                todo_ids: vec![todo_id(role.name.as_str())],
            })
            .collect(),
        requires_review: review_edits && edit.is_some() && edits,
        reason,
        confidence: None,
        clarification: is_vague(request).then(|| about(request)),
        missing,
    })
}

fn precedence(name: &str) -> (usize, String) {
    (PRECEDENCE.iter().position(|known| *known == name).unwrap_or(PRECEDENCE.len()), name.to_owned())
}

fn not_installed(words: &Words, roles: &[&Manifest]) -> Vec<String> {
    KNOWN
        .iter()
        .filter(|name| words.has(name) && !roles.iter().any(|role| role.name.as_str() == **name))
        .map(|name| format!("the request names the role `{name}`, which is not installed"))
        .collect()
}

/// Whether a verb of making stands within [`IMAGE_NEAR`] characters before a noun for an image.
fn wants_image(request: &str) -> bool {
    let places = |words: &[&str]| -> Vec<usize> {
        let spaced = Words::of(request).into_text();
        let mut found = Vec::new();
        for word in words {
            let word = if word.is_ascii() { format!(" {word} ") } else { (*word).to_owned() };
            found.extend(spaced.match_indices(&word).filter_map(|(at, _)| Some(spaced.get(..at)?.chars().count())));
        }
        found
    };
    let (verbs, nouns) = (places(IMAGE_VERBS), places(IMAGE_NOUNS));
    verbs.iter().any(|verb| nouns.iter().any(|noun| noun > verb && noun - verb <= IMAGE_NEAR))
}

/// The edges between the tasks of these roles: the fixed ones, and what their manifests say they come after.
fn edges(chosen: &[(&Manifest, String)]) -> Vec<Edge> {
    let takes_part = |name: &str| chosen.iter().any(|(role, _)| role.name.as_str() == name);
    let edge = |from: &str, to: &str, reason: &str| Edge {
        from: todo_id(from),
        to: todo_id(to),
        reason: Some(reason.to_owned()),
    };
    let mut edges = Vec::new();
    for (from, targets) in ORDER.iter().filter(|(from, _)| takes_part(from)) {
        edges.extend(targets.iter().filter(|to| takes_part(to)).map(|to| edge(from, to, "by rule")));
    }
    for (role, _) in chosen {
        let after = role.routing.after.iter().map(RoleName::as_str);
        edges.extend(
            after.filter(|from| takes_part(from)).map(|from| edge(from, role.name.as_str(), "the role's manifest")),
        );
    }
    edges
}

fn todo(role: &RoleName, reason: &str) -> DraftTodo {
    DraftTodo {
        id: todo_id(role.as_str()),
        title: title(role.as_str()),
        role: role.clone(),
        reason: Some(reason.to_owned()),
    }
}

/// The id of a role's task: the seed's where it has one.
pub(crate) fn todo_id(role: &str) -> String {
    match role {
        "librarian" => "map-context".into(),
        "designer" => "design-experience".into(),
        "dba" => "plan-data".into(),
        "security" => "assess-security".into(),
        "backend" => "build-backend".into(),
        "frontend" => "build-frontend".into(),
        "qa" => "verify-behavior".into(),
        "review" => "review-result".into(),
        "devops" => "handle-workspace".into(),
        "image-maker" => "generate-image".into(),
        "summarize" => "final-report".into(),
        other => format!("ask-{}", other.to_lowercase()),
    }
}

pub(crate) fn title(role: &str) -> String {
    match role {
        "librarian" => "map the code for the request".into(),
        "security" => "look for secrets, dangerous calls and unsafe settings".into(),
        "review" => "review the change".into(),
        "qa" => "find the tests of the code, and what has none".into(),
        "dba" => "look at the migrations and the schema".into(),
        "devops" => "look at workflows, images and deployment".into(),
        "summarize" => "put together what is known".into(),
        other => format!("do the {other} part"),
    }
}
