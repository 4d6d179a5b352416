//! Which part of a summary a sentence belongs to, by the words of itself and of the headings above it.

/// A part of the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// What was asked.
    Asked,
    /// What was decided or found.
    Found,
    /// What is open: questions, risks, what failed.
    Open,
    /// What is to be done.
    Next,
}

const DECIDED: &[&str] = &[
    "decided",
    "decision",
    "decide",
    "agreed",
    "chose",
    "chosen",
    "conclusion",
    "concluded",
    "resolved",
    "we will use",
    "approved",
    "accepted",
    "rejected",
];
const DECIDED_UNSPACED: &[&str] = &["决定", "结论", "同意", "采用", "选定", "确定", "批准", "通过了"];
/// Words of doubt, wherever they stand.
const DOUBT: &[&str] = &[
    "unclear",
    "unresolved",
    "undecided",
    "tbd",
    "not clear",
    "not yet clear",
    "open question",
    "open questions",
    "still open",
    "remains open",
];
const DOUBT_UNSPACED: &[&str] = &["待定", "尚未", "不清楚", "未解决", "未决", "疑问", "有待"];
/// Words of a heading, or of a sentence whose heading says nothing.
const OPEN: &[&str] = &[
    "open point",
    "open points",
    "risk",
    "risks",
    "blocker",
    "blockers",
    "still missing",
    "not looked at",
    "known issue",
    "known issues",
    "limitations",
];
const OPEN_UNSPACED: &[&str] = &["还没有", "风险", "阻塞", "问题是"];
const NEXT: &[&str] = &[
    "todo",
    "fixme",
    "next step",
    "next steps",
    "action item",
    "action items",
    "follow up",
    "follow-up",
    "we should",
    "we need to",
    "needs to",
    "need to",
    "plan to",
    "recommend",
    "recommended",
    "roadmap",
];
const NEXT_UNSPACED: &[&str] = &["下一步", "待办", "接下来", "后续", "需要", "应该", "建议", "计划", "行动项"];
const ASKED: &[&str] = &["request", "question", "task", "goal", "goals", "background", "problem"];
const ASKED_UNSPACED: &[&str] = &["请求", "需求", "任务", "目标", "背景"];

/// Whether a text says that something was decided.
pub fn is_decided(text: &str) -> bool {
    says(text, DECIDED, DECIDED_UNSPACED)
}

/// The part that a sentence of prose belongs to.
pub fn part(text: &str, headings: &[String], ticked: Option<bool>) -> Part {
    match ticked {
        Some(false) => return Part::Next,
        Some(true) => return Part::Found,
        None => {}
    }
    let heading = headings.iter().rev().find_map(|heading| of_heading(heading));
    let end = text.trim_end_matches(['"', '\'', ')', '”', '’', '」', '）', '*', '_']);
    let doubt = end.ends_with(['?', '？']) || says(text, DOUBT, DOUBT_UNSPACED);
    match heading {
        Some(Part::Asked) => Part::Asked,
        _ if doubt => Part::Open,
        Some(part) => part,
        None if is_decided(text) => Part::Found,
        None if says(text, OPEN, OPEN_UNSPACED) => Part::Open,
        None if says(text, NEXT, NEXT_UNSPACED) => Part::Next,
        None => Part::Found,
    }
}

fn of_heading(heading: &str) -> Option<Part> {
    if says(heading, NEXT, NEXT_UNSPACED) {
        return Some(Part::Next);
    }
    if says(heading, DOUBT, DOUBT_UNSPACED) || says(heading, OPEN, OPEN_UNSPACED) {
        return Some(Part::Open);
    }
    if is_decided(heading)
        || says(heading, &["decisions", "results", "findings", "summary", "answer"], &["结果", "发现"])
    {
        return Some(Part::Found);
    }
    // Only a heading that is such a word: `Request handling` is a part of a program.
    let heading = heading.trim().to_lowercase();
    (ASKED.contains(&heading.as_str()) || ASKED_UNSPACED.contains(&heading.as_str())).then_some(Part::Asked)
}

fn says(text: &str, words: &[&str], unspaced: &[&str]) -> bool {
    if unspaced.iter().any(|word| text.contains(word)) {
        return true;
    }
    let mut plain = String::from(" ");
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric() && c != '-').filter(|word| !word.is_empty()) {
        plain.push_str(word);
        plain.push(' ');
    }
    words.iter().any(|word| plain.contains(&format!(" {word} ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_headings_tell_the_part() {
        for (text, headings, ticked, expected) in [
            ("We decided to use SQLite.", &[] as &[&str], None, Part::Found),
            ("The lock is held while writing.", &[], None, Part::Found),
            ("Who owns the migration?", &[], None, Part::Open),
            ("It is unclear whether it scales.", &[], None, Part::Open),
            ("We need to write a test.", &[], None, Part::Next),
            ("TODO: remove it.", &[], None, Part::Next),
            ("Write a test", &["Plan", "Next steps"], None, Part::Next),
            ("Postgres is gone", &["Decisions"], None, Part::Found),
            ("It may leak", &["Risks"], None, Part::Open),
            ("ship it", &[], Some(false), Part::Next),
            ("ship it?", &[], Some(true), Part::Found),
            ("我们决定采用 SQLite。", &[], None, Part::Found),
            ("尚未确认谁来迁移。", &[], None, Part::Open),
            ("下一步写测试。", &[], None, Part::Next),
            ("谁来负责？", &[], None, Part::Open),
            ("尚不清楚，谁来测量？", &["待办"], None, Part::Open),
            ("Say what to do about it", &[], None, Part::Found),
            ("Handles it", &["Request handling"], None, Part::Found),
        ] {
            let headings: Vec<String> = headings.iter().map(|heading| (*heading).to_owned()).collect();
            assert_eq!(part(text, &headings, ticked), expected, "{text}");
        }
    }
}
