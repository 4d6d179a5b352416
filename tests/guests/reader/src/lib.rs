//! Reads files with `std::fs` as any program would. What it costs beside the same code run natively is what file calls of
//! the sandbox cost.

mod read;

use brain_role::{Handoff, Outcome};

use read::read;

brain_role::role!(run);

fn run(handoff: Handoff) -> Outcome {
    match read(handoff.goal()) {
        Ok(told) => Outcome::completed(told),
        Err(error) => Outcome::failed(format!("{}: {error}", handoff.goal())),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fs;

    use super::*;

    #[test]
    fn it_counts_what_it_reads() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("a")).unwrap();
        fs::write(root.path().join("a/one"), "12345").unwrap();
        fs::write(root.path().join("two"), "123").unwrap();
        assert_eq!(read(&format!("tree {}", root.path().display())).unwrap(), "2 files, 8 bytes");
        assert_eq!(read(&format!("stream {}", root.path().join("two").display())).unwrap(), "1 files, 3 bytes");
        assert!(read("neither").is_err());
    }
}
