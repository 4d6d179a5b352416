//! From the quoted sentences to what the user reads. Headings and counts are this role's own; everything else is quoted.

use brain_role::{Finding, Severity};
use unified_diff::shown;

use crate::limits::MAX_SENTENCE_CHARS;
use crate::mark::Part;
use crate::rank::{self, Quoted, Ranking};
use crate::source::{Kind, Sentence, Sources};
use crate::terms::is_unspaced;

/// The words of one language.
struct Words {
    asked: &'static str,
    found: &'static str,
    open: &'static str,
    next: &'static str,
    nothing: &'static str,
    question: &'static str,
    chinese: bool,
}

const ENGLISH: Words = Words {
    asked: "Asked:",
    found: "Decided and found:",
    open: "Open:",
    next: "Next steps:",
    nothing: "There is nothing to summarise: no session, no result and no file of prose was handed over.",
    question: "Which session (@@id) or file (@docs/plan.md) should be summarised?",
    chinese: false,
};

const CHINESE: Words = Words {
    asked: "请求：",
    found: "决定与发现：",
    open: "未决：",
    next: "下一步：",
    nothing: "没有可以总结的内容：没有交来会话、结果或文字文件。",
    question: "要总结哪个会话（@@id）或文件（@docs/plan.md）？",
    chinese: true,
};

/// What the role says.
#[derive(Debug, Default)]
pub struct Answer {
    /// Lines.
    pub summary: Vec<String>,
    /// Open points in files of the project, with their places.
    pub findings: Vec<Finding>,
    /// A question, when there is nothing to summarise.
    pub question: Option<&'static str>,
    /// Sentences that were cut.
    pub cut: usize,
}

/// Whether a text is written more in Chinese than in letters.
fn is_chinese(text: &str) -> bool {
    let (mut wide, mut letters) = (0usize, 0usize);
    for c in text.chars() {
        wide += usize::from(is_unspaced(c));
        letters += usize::from(c.is_alphabetic() && !is_unspaced(c));
    }
    3 * wide > letters
}

impl Answer {
    /// Puts the summary together, in the language of the request.
    pub fn new(goal: &str, sources: &Sources, ranking: &Ranking) -> Self {
        let words = if is_chinese(&rank::said(goal)) { &CHINESE } else { &ENGLISH };
        let mut answer = Self::default();
        let quoted: usize = ranking.parts.values().map(Vec::len).sum();
        if quoted == 0 {
            answer.question = Some(words.question);
            answer.summary.push(words.nothing.to_owned());
            return answer;
        }
        answer.summary.push(head(words, sources, quoted));
        for (part, heading) in
            [(Part::Asked, words.asked), (Part::Found, words.found), (Part::Open, words.open), (Part::Next, words.next)]
        {
            let Some(sentences) = ranking.parts.get(&part).filter(|sentences| !sentences.is_empty()) else { continue };
            answer.summary.push(heading.to_owned());
            for one in sentences {
                let Some(sentence) = sources.sentences.get(one.sentence) else { continue };
                let line = answer.quote(sentence, one);
                answer.summary.push(line);
            }
            let left = ranking.left.get(&part).copied().unwrap_or(0);
            if left > 0 {
                answer.summary.push(if words.chinese {
                    format!("- （另有 {left} 句未引用）")
                } else {
                    format!("- ({left} more not quoted)")
                });
            }
        }
        answer
    }

    /// `- sentence [who says it, where]`
    fn quote(&mut self, sentence: &Sentence, quoted: &Quoted) -> String {
        let (text, cut) = clipped(&sentence.text);
        self.cut += usize::from(cut);
        let mut from = sentence.from.clone();
        if let Some((file, line)) = &sentence.place {
            let file = shown(file);
            let file = if *line > 0 { format!("{file}:{line}") } else { file };
            // Of a file of the project, the place says all.
            from = if from == shown(sentence.place.as_ref().map_or("", |(file, _)| file)) {
                file
            } else {
                format!("{from}, {file}")
            };
        }
        for other in &quoted.also {
            // Of an answer that repeats what a role said, the role is named.
            match other.strip_prefix(&format!("{}, ", sentence.from)) {
                Some(role) => from.push_str(&format!(", {role}")),
                None => from.push_str(&format!("; {other}")),
            }
        }
        format!("- {text} [{from}]")
    }

    /// The open points that stand in files of the project.
    pub fn open_points(&mut self, sources: &Sources, ranking: &Ranking) {
        for part in [Part::Open, Part::Next] {
            for one in ranking.parts.get(&part).into_iter().flatten() {
                let Some(sentence) = sources.sentences.get(one.sentence) else { continue };
                let Some((file, line)) = sentence.place.as_ref().filter(|(file, _)| sources.files.contains(file))
                else {
                    continue;
                };
                let (text, _) = clipped(&sentence.text);
                let rule = if part == Part::Open { "summarize/open-point" } else { "summarize/next-step" };
                let fix = if part == Part::Open {
                    "Decide it, or say who will."
                } else {
                    "Do it, or track it where it is seen."
                };
                self.findings.push(
                    Finding::new(Severity::Low, text.clone())
                        .rule(rule)
                        .at(file.clone(), *line)
                        .evidence(text)
                        .suggest(fix),
                );
            }
        }
    }
}

/// `Summary of 1 session and 2 results: 9 of 40 sentences, each quoted with its source.`
fn head(words: &Words, sources: &Sources, quoted: usize) -> String {
    let named = |kind: Kind, count: usize| {
        let (english, chinese) = match kind {
            Kind::Request => return None,
            Kind::Thread => ("session", "个会话"),
            Kind::Result => ("result", "个结果"),
            Kind::Pack => ("pack", "个上下文包"),
            Kind::File => ("file", "个文件"),
        };
        Some(if words.chinese {
            format!("{count} {chinese}")
        } else {
            format!("{count} {english}{}", if count == 1 { "" } else { "s" })
        })
    };
    let kinds: Vec<String> = sources.counts.iter().filter_map(|(kind, count)| named(*kind, *count)).collect();
    let all = sources.sentences.len();
    if words.chinese {
        return format!("{}的摘要：引用 {all} 句中的 {quoted} 句，每句注明出处。", kinds.join("、"));
    }
    let kinds = match kinds.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    };
    format!("Summary of {kinds}: {quoted} of {all} sentences, each quoted with its source.")
}

/// A sentence on one line without characters that control a terminal, cut at [`MAX_SENTENCE_CHARS`].
fn clipped(text: &str) -> (String, bool) {
    let clean: String = text
        .chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c })
        .filter(|c| !c.is_control() && !unified_diff::is_bidi_control(*c))
        .collect();
    match clean.char_indices().nth(MAX_SENTENCE_CHARS) {
        Some((at, _)) => (format!("{}…", clean.get(..at).unwrap_or_default().trim_end()), true),
        None => (clean, false),
    }
}
