#![doc = include_str!("../README.md")]

pub mod answer;
pub mod describe;
pub mod entry;
pub mod file;
pub mod limits;
pub mod map;
mod overview;
pub mod query;
pub mod rank;
pub mod survey;
pub mod tested;

pub use code_map::{language, outline, words};

use brain_role::{ContextRef, ContextRefKind, Handoff, Outcome};

use answer::Answer;
use describe::Described;
use limits::MAX_THREADS;
use query::Query;
use rank::Ranking;
use survey::Survey;
use tested::Tested;

brain_role::role!(run);

/// Words that a goal has at most, beside its references, to be a question about what they refer to.
const MAX_WORDS_OF_A_REFERENCE: usize = 1;

/// Maps the granted tree for the goal of a handoff.
pub fn run(handoff: Handoff) -> Outcome {
    let tree = handoff.workspace();
    let mut query = Query::new(handoff.goal());
    let mut unread = Vec::new();
    for thread in handoff.refs_of(ContextRefKind::Thread).take(MAX_THREADS) {
        match handoff.read_text(thread) {
            Ok(text) => query.earlier(&text),
            Err(error) => unread.push(format!("An earlier session could not be read: {}: {error}.", thread.uri)),
        }
    }
    let over = handoff.refs_of(ContextRefKind::Thread).count().saturating_sub(MAX_THREADS);
    if over > 0 {
        unread.push(format!("{over} of the earlier sessions were not read, over the limit of {MAX_THREADS}."));
    }
    let wanted: Vec<String> = handoff
        .refs_of(ContextRefKind::File)
        .filter_map(|reference| reference.uri.strip_prefix("/workspace/"))
        // The whole project is no reference to a part of it.
        .filter(|path| !path.trim_matches('/').is_empty())
        .map(str::to_owned)
        .collect();
    let survey = Survey::new(&tree, &query, &wanted);
    query.keep_names(|name| {
        let mut all = survey.files.iter().flat_map(|file| &file.definitions);
        all.any(|defined| defined.kept && defined.definition.name == name)
    });
    let ranking = Ranking::new(&survey, &query, &wanted);
    let few = query.own_words() <= MAX_WORDS_OF_A_REFERENCE && query.identifiers.is_empty() && query.names.is_empty();
    let described = (few && !wanted.is_empty()).then(|| Described::new(&tree, &survey, &wanted));
    let described = described.filter(|described| !described.is_empty());
    let mut tested = match &described {
        Some(described) => {
            let files: Vec<usize> = described.iter().map(|described| described.file).collect();
            Some(Tested::of_files(&tree, &survey, &files))
        }
        None => query.tests.then(|| Tested::new(&tree, &survey, &ranking)),
    };
    if let Some(tested) = &mut tested {
        tested.narrow = !wanted.is_empty() && survey.files.iter().all(|file| file::refers(&wanted, &file.path));
    }
    let mut answer = Answer::new(&survey, &query, &ranking, tested.as_ref(), described.as_deref());
    answer.risks.extend(unread);
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
