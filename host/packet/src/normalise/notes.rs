//! What was repaired, alike repairs counted together.

use std::borrow::Cow;

use super::{Note, fields};
use crate::{
    limits::{MAX_NOTE_CHARS, MAX_NOTES},
    terminal::quoted,
};

/// How many names of unknown fields a note quotes; the rest is counted.
const NAMED_UNKNOWN_FIELDS: usize = 3;

/// The repairs of one reply so far. Its size depends on the kinds of fault, not on how often they occur.
#[derive(Default)]
pub(super) struct Repairs {
    tallies: Vec<Tally>,
    unknown: Vec<Unknown>,
}

struct Tally {
    field: &'static str,
    problem: Cow<'static, str>,
    action: Cow<'static, str>,
    /// `None` for a field that there is once, else how many items had the problem.
    items: Option<usize>,
}

struct Unknown {
    parent: &'static str,
    names: Vec<String>,
    count: usize,
}

impl Repairs {
    /// A repair of a field that a reply has once.
    pub(super) fn once(
        &mut self,
        field: &'static str,
        problem: impl Into<Cow<'static, str>>,
        action: impl Into<Cow<'static, str>>,
    ) {
        self.tallies.push(Tally { field, problem: problem.into(), action: action.into(), items: None });
    }

    /// A repair of one item of a list, or of a field of such an item. Alike ones become one note.
    pub(super) fn item(
        &mut self,
        field: &'static str,
        problem: impl Into<Cow<'static, str>>,
        action: impl Into<Cow<'static, str>>,
    ) {
        let (problem, action) = (problem.into(), action.into());
        let alike = |tally: &&mut Tally| {
            tally.items.is_some() && tally.field == field && tally.problem == problem && tally.action == action
        };
        match self.tallies.iter_mut().find(alike) {
            Some(tally) => tally.items = tally.items.map(|count| count + 1),
            None => self.tallies.push(Tally { field, problem, action, items: Some(1) }),
        }
    }

    /// A field of a JSON object that means nothing here; `parent` is the field that holds the object.
    pub(super) fn unknown_field(&mut self, parent: &'static str, name: &str) {
        let index = self.unknown.iter().position(|unknown| unknown.parent == parent).unwrap_or_else(|| {
            self.unknown.push(Unknown { parent, names: Vec::new(), count: 0 });
            self.unknown.len() - 1
        });
        let Some(unknown) = self.unknown.get_mut(index) else {
            return;
        };
        unknown.count += 1;
        if unknown.names.len() < NAMED_UNKNOWN_FIELDS {
            let name = quoted(name);
            if !unknown.names.contains(&name) {
                unknown.names.push(name);
            }
        }
    }

    /// The notes: those that there are already, then these, [`MAX_NOTES`] in all. What is over is counted in the last.
    pub(super) fn into_notes(self, earlier: Vec<Note>) -> Vec<Note> {
        let mut notes = earlier;
        notes.extend(self.tallies.into_iter().map(Tally::into_note));
        notes.extend(self.unknown.into_iter().map(Unknown::into_note));
        if notes.len() > MAX_NOTES {
            let over = notes.len() - (MAX_NOTES - 1);
            notes.truncate(MAX_NOTES - 1);
            notes.push(Note {
                field: "notes".to_owned(),
                problem: format!("{over} more repairs"),
                action: "counted, not listed".to_owned(),
            });
        }
        for text in notes.iter_mut().flat_map(|note| [&mut note.field, &mut note.problem, &mut note.action]) {
            if let Some(shorter) = fields::cut(text, MAX_NOTE_CHARS) {
                *text = shorter;
            }
        }
        notes
    }
}

impl Tally {
    fn into_note(self) -> Note {
        let problem = match self.items {
            None => self.problem.into_owned(),
            Some(1) => format!("1 item: {}", self.problem),
            Some(count) => format!("{count} items: {}", self.problem),
        };
        Note { field: self.field.to_owned(), problem, action: self.action.into_owned() }
    }
}

impl Unknown {
    fn into_note(self) -> Note {
        let plural = if self.count == 1 { "" } else { "s" };
        let more = if self.count > self.names.len() { ", …" } else { "" };
        Note {
            field: self.parent.to_owned(),
            problem: format!("{} unknown field{plural}: {}{more}", self.count, self.names.join(", ")),
            action: "dropped".to_owned(),
        }
    }
}
