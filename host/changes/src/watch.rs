//! Watching an apply, and stopping it while it can be stopped.

use std::io;

/// What an apply is about to do. Paths are those of the tree; those of temporary files are in the folder of their target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step<'a> {
    /// Compare what is at the path with what the change set expects.
    Check(&'a str),
    /// Keep the content of the file, for an undo.
    Save(&'a str),
    /// Write the intent to the log.
    Intent,
    /// Make a folder.
    MakeFolder(&'a str),
    /// Give a new folder its mode.
    SetMode(&'a str),
    /// Make a temporary file.
    Create(&'a str),
    /// Complete a temporary file, whose bytes are written: mode, owner, and out to the disk.
    Complete(&'a str),
    /// See whether the file is still the one that was checked.
    Recheck(&'a str),
    /// Write the commit to the log: what comes after it cannot be stopped.
    Commit,
    /// Remove a file.
    Remove(&'a str),
    /// Remove a folder if it is empty.
    RemoveFolder(&'a str),
    /// Move a temporary file to where it belongs.
    Place(&'a str),
    /// Write out which names are in a folder.
    Sync(&'a str),
    /// Write the end to the log.
    End,
    /// Remove a temporary file or a folder again, to roll back.
    TakeBack(&'a str),
}

/// Is told each step before it is taken.
pub trait Watch {
    /// What comes next.
    ///
    /// # Errors
    /// An error of the kind [`Interrupted`](io::ErrorKind::Interrupted) stops the apply: it is rolled back. It is disregarded
    /// where nothing can be stopped any more: after the commit, and while rolling back. Any other error stands for a failure
    /// of the step: before the commit the apply is rolled back too, after it the step is left to the recovery.
    fn before(&mut self, step: Step<'_>) -> io::Result<()>;
}

impl<F: FnMut(Step<'_>) -> io::Result<()>> Watch for F {
    fn before(&mut self, step: Step<'_>) -> io::Result<()> {
        self(step)
    }
}

/// Tells a step that cannot be stopped.
pub(crate) fn tell(watch: &mut dyn Watch, step: Step<'_>) -> io::Result<()> {
    match watch.before(step) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        told => told,
    }
}

/// Nobody watches.
pub(crate) struct Unwatched;

impl Watch for Unwatched {
    fn before(&mut self, _: Step<'_>) -> io::Result<()> {
        Ok(())
    }
}
