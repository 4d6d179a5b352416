//! Command lines, in scripts and inside other files.

use file_findings::text::has_word;

/// What a `chmod` that opens to all is called.
pub const CHMOD: &str = "lets everybody on the machine write";
/// What to write instead of it.
pub const CHMOD_FIX: &str = "Give the rights to the user or group that needs them: 750 or 770.";
/// What a download into an interpreter is called.
pub const PIPE: &str = "runs what it downloads, unseen";
/// What to do instead of it.
pub const PIPE_FIX: &str = "Download to a file, compare its checksum or signature, then run it.";

/// `chmod -R 777`, `chmod a+rwx`, `chmod o+w`.
pub fn opens_to_all(command: &str) -> bool {
    let mut words = command.split_whitespace();
    words.next() == Some("chmod")
        && words.find(|word| !word.starts_with('-')).is_some_and(|mode| matches!(mode, "777" | "0777" | "a+rwx" | "ugo+rwx" | "o+w" | "a+w" | "666" | "0666" | "1777" if mode != "1777"))
}

/// Whether a word names a shell.
pub fn is_shell(word: &str) -> bool {
    let word = word.trim_start_matches(['(', '"', '\'']).trim_end_matches([';', ')', '"', '\'', '&']);
    matches!(word.rsplit('/').next().unwrap_or(word), "sh" | "bash" | "zsh" | "dash" | "ash" | "ksh")
}

/// Whether a command line downloads something and gives it to an interpreter.
pub fn pipes_to_a_shell(line: &str) -> bool {
    const INTERPRETERS: &[&str] = &["python", "python3", "perl", "ruby", "node", "pwsh", "source"];
    let downloads = |part: &str| has_word(part, "curl") || has_word(part, "wget");
    // `bash <(curl …)`
    if line.contains("<(")
        && line.split("<(").skip(1).any(downloads)
        && line.split_whitespace().any(|word| is_shell(word) || word == "source")
    {
        return true;
    }
    let mut seen = false;
    for part in line.replace("||", " ; ").split('|') {
        if seen
            && part.split(';').next().is_some_and(|command| {
                let mut words = command.split_whitespace().skip_while(|word| {
                    matches!(*word, "sudo" | "env" | "-E" | "-H" | "nice" | "exec") || word.contains('=')
                });
                words.next().is_some_and(|word| {
                    let bare = word.trim_end_matches([')', ';', '"', '\'']);
                    // `python -c …` and `node -e …` read the pipe as data.
                    is_shell(word)
                        || INTERPRETERS.contains(&bare)
                            && words.next().is_none_or(|next| next == "-" || next.starts_with(['&', '>', ')']))
                })
            })
        {
            return true;
        }
        let last = part.rsplit([';', '&']).next().unwrap_or(part);
        seen = seen && !part.contains([';', '&']) || downloads(last);
    }
    false
}

/// Whether a command line is a comment.
pub fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_download_into_an_interpreter_is_seen() {
        for line in [
            "curl -fsSL https://x.io/i.sh | sh",
            "curl x | sudo -E bash -s -- -y",
            "wget -qO- x | tee log | bash",
            "bash <(curl -s x)",
            "curl x | python3 -",
            "a && curl x | bash && b",
            "curl x | FOO=1 sh",
        ] {
            assert!(pipes_to_a_shell(line), "{line}");
        }
        for line in [
            "curl x | jq .",
            "curl x | tar xz",
            "curl -o f x; sh f",
            "cat f | sh",
            "curl x || sh f",
            "curl x | python3 -c 'import json'",
            "curl x && cat y | sh",
            "curly | sh",
        ] {
            assert!(!pipes_to_a_shell(line), "{line}");
        }
    }
}
