//! Asking back before any worker runs: when a request says too little, what is asked, and how the answer is understood.

use brain_journal::{ClarificationAsked, ClarificationOption};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::reply::{list, text};
use crate::words::is_unspaced;

/// Options of one question.
pub const MAX_OPTIONS: usize = 3;
/// Things that a question says are missing.
pub const MAX_MISSING: usize = 6;
/// Characters of one text of a question.
const MAX_CHARS: usize = 600;

/// A question to ask back before any worker runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Clarification {
    /// Why the request cannot be worked on.
    pub reason: String,
    /// The question.
    pub question: String,
    /// What the request does not say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Ways to go on; the answer names one by number or id, or is text.
    pub options: Vec<ClarificationOption>,
}

fn option(id: &str, label: &str, description: &str) -> ClarificationOption {
    ClarificationOption { id: id.into(), label: label.into(), description: description.into() }
}

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
    "优化",
    "优化一下",
    "修",
    "修一下",
    "修复",
    "修复一下",
    "改",
    "改一下",
    "改进",
    "改进一下",
    "处理",
    "处理一下",
    "更新",
    "更新一下",
    "重构",
    "重构一下",
    "弄一下",
    "搞一下",
    "帮忙",
    "how are",
    "how are doing",
    "how is going",
    "how s going",
    "what s up",
    "what do",
    "what are",
    "who are",
    "is anybody",
    "is anyone",
    "test",
    "testing",
];
/// Words that make a vague request no clearer.
const FILLER: &[&str] =
    &["please", "it", "this", "that", "can", "you", "me", "the", "code", "thing", "some", "stuff", "just"];
/// Words of a greeting, of thanks or of an answer: a request of nothing else asks for nothing.
const GREETING: &[&str] = &[
    "hi",
    "hello",
    "hey",
    "hiya",
    "howdy",
    "yo",
    "greetings",
    "there",
    "brain",
    "everyone",
    "all",
    "good",
    "morning",
    "afternoon",
    "evening",
    "day",
    "thanks",
    "thank",
    "thx",
    "cheers",
    "bye",
    "goodbye",
    "ok",
    "okay",
    "yes",
    "no",
    "yep",
    "nope",
    "sure",
    "cool",
    "great",
    "nice",
    "well",
    "done",
    "wow",
    "lol",
    "你好",
    "您好",
    "嗨",
    "谢谢",
    "再见",
    "好的",
];
/// The same, in Chinese, before and after what is said.
const FILLER_UNSPACED: &[&str] = &["请", "帮我", "帮忙", "麻烦", "把", "它", "这个", "那个", "这", "那", "代码", "吧"];

/// Whether a request says nothing to go by.
pub(crate) fn is_vague(request: &str) -> bool {
    let lower = request.trim().to_lowercase();
    let kept = |c: char| c.is_alphanumeric() || matches!(c, '@' | '/' | '.' | '_');
    let words = lower.split(|c: char| !kept(c)).map(|word| word.trim_end_matches('.'));
    let says_something = |word: &&str| !word.is_empty() && !FILLER.contains(word) && !GREETING.contains(word);
    let rest: Vec<&str> = words.map(unspaced_rest).filter(says_something).collect();
    let rest = rest.join(" ");
    // A letter or a number by itself names nothing; in a script without spaces, one character may be a word.
    let is_mark = rest.chars().all(|c| c.is_ascii_digit()) || rest.len() == 1;
    rest.is_empty() || is_mark || VAGUE.contains(&rest.as_str())
}

/// A word without what is polite in front of it and behind it, in a script that is written without spaces.
fn unspaced_rest(word: &str) -> &str {
    let mut rest = word;
    while let Some(less) =
        FILLER_UNSPACED.iter().find_map(|filler| rest.strip_prefix(filler).or_else(|| rest.strip_suffix(filler)))
    {
        if less.is_empty() {
            // A request that is nothing but polite.
            return "";
        }
        rest = less;
    }
    rest
}

/// The question about a request that says nothing.
pub(crate) fn about(request: &str) -> Clarification {
    if request.chars().any(is_unspaced) {
        return Clarification {
            reason: "请求没有说明文件、现象或目标".into(),
            question: "要看什么，想知道什么？".into(),
            missing: vec!["文件或模块".into(), "现象或目标".into()],
            options: default_options(true),
        };
    }
    Clarification {
        reason: "the request names no file, symptom or goal".into(),
        question: "What should be looked at, and what do you want to know about it?".into(),
        missing: vec!["a file, folder or module".into(), "a symptom or a goal".into()],
        options: default_options(false),
    }
}

fn default_options(chinese: bool) -> Vec<ClarificationOption> {
    if chinese {
        return vec![
            option("map-first", "先了解代码", "概览 (overview) 这个项目"),
            option("check-safety", "检查安全", "查找密钥、危险调用和不安全的设置"),
            option("review-change", "审查改动", "审查尚未提交的改动"),
        ];
    }
    vec![
        option("map-first", "Map the code first", "give an overview of this project"),
        option("check-safety", "Check for security hazards", "look for secrets, dangerous calls and unsafe settings"),
        option("review-change", "Review the pending change", "review what is not committed yet"),
    ]
}

/// A question as a planner's reply gives it; none unless it says that one is required.
pub(crate) fn from_reply(value: Option<&Value>, request: &str) -> Option<Clarification> {
    let object = value?.as_object()?;
    if object.get("required") != Some(&Value::Bool(true)) {
        return None;
    }
    let default = about(request);
    let mut options: Vec<ClarificationOption> = Vec::new();
    for option in list(object.get("options")).iter().filter_map(Value::as_object) {
        let Some(label) = text(option.get("label")).map(clip) else { continue };
        let id = slug(&text(option.get("id")).unwrap_or_else(|| label.clone()));
        let id = if id.is_empty() { format!("option-{}", options.len() + 1) } else { id };
        if options.len() < MAX_OPTIONS && !options.iter().any(|known| known.id == id) {
            let description = text(option.get("description")).map(clip).unwrap_or_default();
            options.push(ClarificationOption { id, label, description });
        }
    }
    let mut missing: Vec<String> = Vec::new();
    for item in list(object.get("missing")).iter().filter_map(|item| text(Some(item))).map(clip) {
        if missing.len() < MAX_MISSING && !missing.contains(&item) {
            missing.push(item);
        }
    }
    Some(Clarification {
        reason: text(object.get("reason")).map(clip).unwrap_or(default.reason),
        question: text(object.get("question")).map(clip).unwrap_or(default.question),
        missing,
        options: if options.len() < 2 { default.options } else { options },
    })
}

fn clip(text: String) -> String {
    if text.chars().count() <= MAX_CHARS { text } else { text.chars().take(MAX_CHARS - 1).chain(['…']).collect() }
}

/// Lower case, with `-` for every run of anything that is neither letter, digit, `_` nor `-`, and none at either end.
pub(crate) fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.to_lowercase().chars() {
        if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') {
            slug.push(c);
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_matches('-').to_owned()
}

impl From<&Clarification> for ClarificationAsked {
    fn from(asked: &Clarification) -> Self {
        let Clarification { reason, question, missing, options } = asked.clone();
        Self { required: true, reason, question, missing, options }
    }
}

impl From<ClarificationAsked> for Clarification {
    fn from(asked: ClarificationAsked) -> Self {
        let ClarificationAsked { required: _, reason, question, missing, options } = asked;
        Self { reason, question, missing, options }
    }
}

impl Clarification {
    /// The option that `answer` names: by its number, its id, or its label.
    pub fn chosen(&self, answer: &str) -> Option<&ClarificationOption> {
        let answer = answer.trim().trim_end_matches(['.', ')', '。']).trim();
        if let Some(number) = number(answer) {
            return number.checked_sub(1).and_then(|at| self.options.get(at));
        }
        let lower = answer.to_lowercase();
        self.options.iter().find(|option| option.id == slug(answer) || option.label.to_lowercase() == lower)
    }

    /// The request that `answer` makes of `request`, about which this was asked: both, where the request says something. None
    /// for a number that no option has.
    pub fn answered(&self, request: &str, answer: &str) -> Option<String> {
        let answer = answer.trim();
        let said = match self.chosen(answer) {
            Some(option) if option.description.is_empty() => option.label.clone(),
            Some(option) => option.description.clone(),
            None if answer.is_empty() || number(answer).is_some() => return None,
            None => answer.to_owned(),
        };
        // A request that says nothing is no part of what is looked for.
        Some(if is_vague(request) { said } else { format!("{request}\n\n{said}") })
    }
}

/// A number in digits, as wide as they may be.
fn number(text: &str) -> Option<usize> {
    let narrow = |c: char| match c {
        '０'..='９' => char::from_u32(c as u32 - '０' as u32 + '0' as u32).unwrap_or(c),
        c => c,
    };
    let digits: String = text.chars().map(narrow).collect();
    // A number that is too large for any option is one that none has.
    let is_number = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    #[test]
    fn what_says_nothing_is_vague_in_both_languages() {
        for request in [
            "fix it",
            "please improve this",
            "优化一下",
            "help me",
            "update",
            "???",
            "",
            "请帮我修复一下",
            "把这个代码改一下吧",
            "处理它",
            "Take care of it, please.",
            "帮忙",
        ] {
            assert!(is_vague(request), "{request}");
        }
        for request in [
            "fix @src/a.rs",
            "improve the parser",
            "审查",
            "why?",
            "修复登录",
            "优化一下查询",
            "do the dishes",
            "fix a.rs",
        ] {
            assert!(!is_vague(request), "{request}");
        }
    }

    #[test]
    fn an_answer_is_a_number_an_id_a_label_or_text() {
        let asked = about("fix it");
        let map = Some("give an overview of this project");
        for answer in ["1", " 1. ", "１", "map-first", "Map-First", "map the code first"] {
            assert_eq!(asked.answered("fix it", answer).as_deref(), map, "{answer}");
        }
        assert_eq!(asked.answered("fix it", "the parser in a.rs").as_deref(), Some("the parser in a.rs"));
        let both = asked.answered("speed up the parser", "the one in a.rs");
        assert_eq!(both.as_deref(), Some("speed up the parser\n\nthe one in a.rs"));
        for none in ["4", "0", "99999999999999999999"] {
            assert_eq!(asked.answered("fix it", none), None, "{none}");
        }
        assert_eq!(asked.answered("fix it", "  "), None);
    }

    #[test]
    fn a_planners_question_is_bounded_and_has_options() {
        assert_eq!(from_reply(Some(&json!({"required": "yes"})), "x"), None);
        assert_eq!(from_reply(Some(&json!(true)), "x"), None);
        let bare = from_reply(Some(&json!({"required": true})), "修").unwrap();
        assert_eq!((bare.options.len(), bare.question.as_str()), (3, "要看什么，想知道什么？"));
        let full = json!({
            "required": true, "question": " Which? ", "reason": 7, "missing": ["a", "a", " ", 1, "b", "c", "d", "e", "f", "g"],
            "options": [{"id": "One!", "label": "first"}, {"id": "one", "label": "same"}, {"label": "Second thing"}, {"id": "x"},
                {"id": "y", "label": "y"}, {"id": "z", "label": "z"}],
        });
        let full = from_reply(Some(&full), "x").unwrap();
        let ids: Vec<&str> = full.options.iter().map(|option| option.id.as_str()).collect();
        assert_eq!((full.question.as_str(), ids), ("Which?", vec!["one", "second-thing", "y"]));
        assert_eq!(full.missing, ["a", "b", "c", "d", "e", "f"]);
        let one = json!({"required": true, "options": [{"id": "a", "label": "a"}]});
        assert_eq!(from_reply(Some(&one), "x").unwrap().options.len(), 3);
    }

    #[test]
    fn slugs_are_plain() {
        assert_eq!(slug(" Do  It, Now!_x "), "do-it-now-_x");
        assert_eq!(slug("修复"), "");
    }
}
