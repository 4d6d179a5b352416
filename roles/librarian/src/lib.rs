#![doc = include_str!("../README.md")]

pub mod answer;
pub mod entry;
pub mod file;
pub mod language;
pub mod limits;
pub mod map;
pub mod outline;
pub mod query;
pub mod rank;
pub mod survey;
pub mod tested;
pub mod words;

use brain_role::{ContextRef, ContextRefKind, Handoff, Outcome};

use answer::Answer;
use query::Query;
use rank::Ranking;
use survey::Survey;
use tested::Tested;

brain_role::role!(run);

/// Maps the granted tree for the goal of a handoff.
pub fn run(handoff: Handoff) -> Outcome {
    let tree = handoff.workspace();
    let query = Query::new(handoff.goal());
    let wanted: Vec<String> = handoff
        .refs_of(ContextRefKind::File)
        .filter_map(|reference| reference.uri.strip_prefix("/workspace/"))
        .map(str::to_owned)
        .collect();
    let survey = Survey::new(&tree, &query, &wanted);
    let ranking = Ranking::new(&survey, &query, &wanted);
    let tested = query.tests.then(|| Tested::new(&tree, &survey, &ranking));
    let mut answer = Answer::new(&survey, &query, &ranking, tested.as_ref());
    answer.compose(&handoff.prior_results());
    let map = map::json(handoff.goal(), &survey, &query, &ranking, tested.as_ref())
        .map_err(|error| error.to_string())
        .and_then(|json| handoff.artifacts().write(map::NAME, json).map_err(|error| error.to_string()));

    let mut outcome = Outcome::completed(answer.summary.join("\n"))
        .step(format!("listed {} files and read {} of them", survey.files.len(), survey.files_read))
        .step(format!("kept {} definitions and {} entry points", survey.definitions_kept, survey.entries.len()));
    for reference in answer.references {
        outcome = outcome.file_ref(reference.path, reference.label);
    }
    match map {
        Ok(()) => {
            outcome = outcome.artifact(
                ContextRef::artifact(map::NAME)
                    .label("languages, entry points, ranking with scores, and all definitions"),
            )
        }
        Err(error) => answer.risks.push(format!("The map could not be written: {error}.")),
    }
    outcome = outcome.risks(answer.risks);
    for question in answer.questions {
        outcome = outcome.question(question);
    }
    outcome
}
