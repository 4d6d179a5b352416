//! The file that was looked at last. Programs look at a name and open it in the next call, and the system need not be asked
//! twice within so short a time whether it is a regular file.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::meta::Meta;

/// How long a look counts. Whoever may put something else in a file's place can do so between a look and an opening that
/// follow each other at once, too, since a thread may have to wait longer than this. What was opened is looked at again.
const FRESH: Duration = Duration::from_millis(1);

#[derive(Default)]
pub(crate) struct Recent(Mutex<Option<Look>>);

struct Look {
    path: String,
    meta: Meta,
    at: Instant,
}

impl Recent {
    /// Notes what was found at a path of the real tree.
    pub(crate) fn note(&self, path: &str, meta: Meta) {
        let (mut look, at) = (self.0.lock().unwrap_or_else(PoisonError::into_inner), Instant::now());
        match &mut *look {
            Some(look) => {
                path.clone_into(&mut look.path);
                (look.meta, look.at) = (meta, at);
            }
            None => *look = Some(Look { path: path.to_owned(), meta, at }),
        }
    }

    /// What was found at `path`, where that was just now.
    pub(crate) fn at(&self, path: &str) -> Option<Meta> {
        let look = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        look.as_ref().filter(|look| look.path == path && look.at.elapsed() < FRESH).map(|look| look.meta)
    }
}
