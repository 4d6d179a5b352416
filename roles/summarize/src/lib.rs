#![doc = include_str!("../README.md")]

mod answer;
pub mod limits;
mod mark;
mod prose;
mod rank;
mod source;
mod split;
mod terms;

use brain_role::{Handoff, Outcome};

use answer::Answer;
use rank::Ranking;
use source::Sources;

brain_role::role!(run);

/// Summarises what a handoff hands over.
pub fn run(handoff: Handoff) -> Outcome {
    let mut sources = Sources::new(&handoff);
    let ranking = Ranking::new(&sources.sentences, handoff.goal());
    let mut answer = Answer::new(handoff.goal(), &sources, &ranking);
    answer.open_points(&sources, &ranking);
    if ranking.same > 0 {
        sources.risks.push(match ranking.same {
            1 => "1 sentence says what a quoted one says and is not repeated".to_owned(),
            same => format!("{same} sentences say what quoted ones say and are not repeated"),
        });
    }
    if answer.cut > 0 {
        sources.risks.push(match answer.cut {
            1 => "1 quoted sentence is cut, which … marks".to_owned(),
            cut => format!("{cut} quoted sentences are cut, which … marks"),
        });
    }
    let read: usize = sources.counts.iter().map(|(_, count)| count).sum();
    let mut outcome = Outcome::completed(answer.summary.join("\n"))
        .step(format!("read {read} sources with {} sentences", sources.sentences.len()))
        .findings(answer.findings)
        .risks(sources.risks);
    for file in &sources.files {
        outcome = outcome.file_ref(file, "summarised");
    }
    match answer.question {
        Some(question) => outcome.question(question),
        None => outcome,
    }
}
