//! Dockerfiles: images that are larger, slower or looser than they need to be.

use brain_role::Severity::{self, High, Low, Medium};
use file_findings::{Evidence, Issue};
use settings_scan::joined;

/// What is known of the files around a Dockerfile.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Around {
    /// A `.dockerignore` is beside it or at the root.
    pub(crate) ignores: bool,
    /// Every file of the project was there to be listed.
    pub(crate) whole: bool,
}

struct Instruction {
    line: u32,
    word: String,
    rest: String,
    /// In the last stage, whose layers are the image.
    last: bool,
}

fn read(text: &str) -> Vec<Instruction> {
    let mut all: Vec<Instruction> = joined((1u32..).zip(text.lines()))
        .into_iter()
        .filter_map(|(line, content)| {
            let (word, rest) = content.trim_start().split_once(char::is_whitespace)?;
            Some(Instruction { line, word: word.to_ascii_uppercase(), rest: rest.trim().to_owned(), last: false })
        })
        .collect();
    let start = all.iter().rposition(|one| one.word == "FROM").unwrap_or(0);
    all.iter_mut().skip(start).for_each(|one| one.last = true);
    all
}

pub(crate) fn find(text: &str, around: Around) -> Vec<Issue> {
    let all = read(text);
    let mut issues = Vec::new();
    if !all.iter().any(|one| one.word == "FROM") {
        return issues;
    }
    for one in &all {
        match one.word.as_str() {
            "RUN" => run(one, &mut issues),
            "COPY" | "ADD" => copy(one, around, &mut issues),
            "ENTRYPOINT" if one.last && !one.rest.starts_with('[') && !one.rest.starts_with("exec ") => push(
                &mut issues,
                one.line,
                "docker/shell-entrypoint",
                Low,
                "a shell stands between the container and its program: SIGTERM does not reach it, and arguments are dropped",
                "Write it as a list: ENTRYPOINT [\"program\", \"--flag\"].",
            ),
            _ => {}
        }
    }
    let serves = all.iter().find(|one| one.last && one.word == "EXPOSE");
    if let Some(one) = serves.filter(|_| !all.iter().any(|one| one.last && one.word == "HEALTHCHECK")) {
        push(
            &mut issues,
            one.line,
            "docker/no-healthcheck",
            Low,
            "for information: a service without HEALTHCHECK counts as up while it hangs (Kubernetes has probes of its own, and ignores it)",
            "Add HEALTHCHECK CMD with a request that the program answers, where Docker or Compose runs it.",
        );
    }
    issues
}

fn push(issues: &mut Vec<Issue>, line: u32, rule: &'static str, severity: Severity, text: &str, fix: &'static str) {
    issues.push(Issue { rule, severity, line, text: text.to_owned(), evidence: Evidence::Line, fix: fix.into() });
}

/// The commands of a line, without the options of RUN and what a command is started with.
fn commands(rest: &str) -> Vec<Vec<&str>> {
    rest.split(['&', ';', '|', '\n', '(', ')'])
        .map(|command| {
            command
                .split_whitespace()
                .skip_while(|word| {
                    word.starts_with("--mount") || word.starts_with("--network") || word.starts_with("--security")
                })
                .skip_while(|word| {
                    word.contains('=') && !word.starts_with('-')
                        || matches!(*word, "env" | "exec" | "then" | "do" | "sudo")
                })
                .collect::<Vec<_>>()
        })
        .filter(|words| !words.is_empty())
        .collect()
}

fn run(one: &Instruction, issues: &mut Vec<Issue>) {
    let rest = one.rest.as_str();
    let commands = commands(rest);
    let starts =
        |words: &[&str], with: &[&str]| words.len() >= with.len() && words.iter().zip(with).all(|(a, b)| a == b);
    let apt = |verb: &str| {
        commands.iter().find(|words| matches!(words.first(), Some(&"apt-get" | &"apt")) && words.contains(&verb))
    };
    let caches = rest.contains("--mount=type=cache");
    if let Some(install) = apt("install") {
        let cleaned = rest.contains("/var/lib/apt/lists") && rest.contains("rm ");
        if one.last && !cleaned && !caches {
            push(
                issues,
                one.line,
                "docker/apt-not-cleaned",
                Low,
                "the package lists stay in the image: tens of megabytes that are out of date at once",
                "End the same RUN with && rm -rf /var/lib/apt/lists/*; a later RUN cannot take them out of this layer.",
            );
        }
        if one.last
            && !install.iter().any(|word| word.contains("no-install-recommends"))
            && !rest.contains("Install-Recommends")
        {
            push(
                issues,
                one.line,
                "docker/apt-recommends",
                Low,
                "packages that are only recommended are installed too",
                "Write apt-get install --no-install-recommends, and name what is missed.",
            );
        }
    } else if apt("update").is_some()
        && apt("upgrade").is_none()
        && apt("dist-upgrade").is_none()
        && apt("build-dep").is_none()
        && !rest.contains(".sh")
    {
        push(
            issues,
            one.line,
            "docker/apt-update-alone",
            Medium,
            "the layer with the package lists is cached, so that a later install takes versions that are gone",
            "Put apt-get update and apt-get install into one RUN.",
        );
    }
    if rest.split(['&', ';', '|']).any(|command| command.split_whitespace().next() == Some("sudo")) {
        push(
            issues,
            one.line,
            "docker/sudo",
            Low,
            "RUN is root already, and sudo in an image is a way back to root",
            "Leave sudo out; change USER between instructions.",
        );
    }
    for words in &commands {
        let pip = match words.as_slice() {
            [tool, "install", packages @ ..] if tool.starts_with("pip") => Some(packages),
            [python, "-m", "pip", "install", packages @ ..] if python.starts_with("python") => Some(packages),
            _ => None,
        };
        if let Some(package) = pip.and_then(unpinned_pip) {
            unpinned(
                issues,
                one.line,
                "pip",
                package,
                "Give each a version (name==1.2.3), or install from a lock file with -r and --require-hashes.",
            );
        }
        if starts(words, &["npm", "install"]) || starts(words, &["npm", "i"]) {
            npm(one, words.get(2..).unwrap_or_default(), issues);
        }
    }
}

fn unpinned(issues: &mut Vec<Issue>, line: u32, tool: &str, package: &str, fix: &'static str) {
    let text = format!("{tool} installs {} in whatever version there is on that day", crate::said::name(package));
    push(issues, line, "docker/unpinned-package", Low, &text, fix);
}

/// The first package that has no version. Files, folders and addresses are none.
fn unpinned_pip<'w>(words: &[&'w str]) -> Option<&'w str> {
    const TAKES: &[&str] = &[
        "-r",
        "--requirement",
        "-c",
        "--constraint",
        "-e",
        "--editable",
        "-i",
        "--index-url",
        "--extra-index-url",
        "-f",
        "--find-links",
        "-t",
        "--target",
        "--prefix",
        "--root",
        "--trusted-host",
        "--platform",
        "--python-version",
        "--cache-dir",
    ];
    if words.iter().any(|word| matches!(*word, "-c" | "--constraint" | "--require-hashes")) {
        return None;
    }
    let mut skip = false;
    for word in words {
        let bare = word.trim_matches(['"', '\'']);
        if std::mem::take(&mut skip) {
            continue;
        }
        if TAKES.contains(word) {
            skip = true;
        } else if matches!(bare, "pip" | "setuptools" | "wheel") {
            // What installs the rest may be the newest.
        } else if bare.starts_with(|c: char| c.is_ascii_alphanumeric())
            && !bare.contains(['=', '/', '$', '@', ':', '<', '~'])
            && !bare.ends_with(".whl")
            && !bare.ends_with(".gz")
        {
            return Some(bare);
        }
    }
    None
}

fn npm(one: &Instruction, words: &[&str], issues: &mut Vec<Issue>) {
    let packages: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| !word.starts_with('-'))
        .map(|word| word.trim_matches(['"', '\'']))
        .collect();
    if packages.is_empty() && !words.iter().any(|word| matches!(*word, "-g" | "--global")) {
        push(
            issues,
            one.line,
            "docker/npm-install",
            Low,
            "npm install may change the lock file, and so the versions that are built",
            "Write npm ci, which installs what the lock file says or fails.",
        );
    }
    // A scope begins with `@`; a version comes behind another one.
    let free = packages.iter().find(|package| {
        !package.trim_start_matches('@').contains('@')
            && !package.contains(['$', ':'])
            && !package.starts_with(['.', '/'])
            && **package != "npm"
    });
    if let Some(package) = free {
        unpinned(issues, one.line, "npm", package, "Give it a version: name@1.2.3.");
    }
}

/// Names of files that hold a secret by what they are.
fn is_secret_file(path: &str) -> bool {
    let path = path.trim_matches(['"', '\'', ',', '[', ']']);
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
    matches!(
        name,
        ".env"
            | ".npmrc"
            | ".netrc"
            | ".pypirc"
            | ".git-credentials"
            | ".pgpass"
            | "id_rsa"
            | "id_ed25519"
            | "id_ecdsa"
            | ".ssh"
            | ".aws"
            | ".kube"
            | ".htpasswd"
            | "credentials.json"
            | "service-account.json"
            | "serviceaccount.json"
    ) || path.ends_with(".docker/config.json")
        || path.ends_with(".aws/credentials")
        || [".pem", ".p12", ".pfx", ".jks"].iter().any(|end| name.ends_with(end))
            && !name.contains("ca")
            && !name.contains("cert")
            && !name.contains("pub")
            && !name.contains("chain")
        || name.starts_with(".env.") && !["example", "sample", "template", "dist"].iter().any(|end| name.ends_with(end))
}

fn copy(one: &Instruction, around: Around, issues: &mut Vec<Issue>) {
    let words: Vec<&str> = one.rest.split(|c: char| c.is_whitespace()).filter(|word| !word.is_empty()).collect();
    let from = words.iter().any(|word| word.starts_with("--from="));
    let paths: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| !word.starts_with("--"))
        .map(|word| word.trim_matches(['[', ']', ',', '"', '\'']))
        .collect();
    let sources = paths.split_last().map(|(_, sources)| sources).unwrap_or_default();
    if let Some(secret) = sources.iter().find(|path| is_secret_file(path)) {
        let severity = if one.last { High } else { Medium };
        let text = if one.last {
            format!(
                "{} is copied into the image: whoever pulls it has it, also when a later layer deletes it",
                crate::said::name(secret)
            )
        } else {
            format!("{} is copied into a build stage, whose layers stay in the build cache", crate::said::name(secret))
        };
        push(
            issues,
            one.line,
            "docker/copied-secret",
            severity,
            &text,
            "Mount it for the one command: RUN --mount=type=secret,id=…; give the container its secrets when it starts.",
        );
    }
    let all = sources.iter().any(|path| matches!(*path, "." | "./" | "*" | "/"));
    if all && !from && !around.ignores && around.whole {
        push(
            issues,
            one.line,
            "docker/no-dockerignore",
            if one.last { Medium } else { Low },
            "everything in the folder is copied, .git and .env too, since there is no .dockerignore",
            "Add a .dockerignore with .git, .env*, node_modules and what is built; or name the folders to copy.",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_known_where_there_is_one() {
        for (command, expected) in [
            ("flask", Some("flask")),
            ("--no-cache-dir flask==3.0 gunicorn", Some("gunicorn")),
            ("\"flask>=3\"", None),
            ("-r requirements.txt", None),
            ("--upgrade pip setuptools", None),
            ("./dist/a.whl", None),
            ("-e .", None),
            (".", None),
            ("git+https://x.io/a", None),
            ("flask -c constraints.txt", None),
            ("$PACKAGES", None),
        ] {
            let words: Vec<&str> = command.split_whitespace().collect();
            assert_eq!(unpinned_pip(&words), expected, "{command}");
        }
    }

    #[test]
    fn files_that_are_secrets_are_known_by_their_name() {
        for path in [
            ".env",
            "/root/.ssh/id_rsa",
            "conf/.npmrc",
            "server-key.pem",
            "/root/.aws",
            ".env.production",
            "/root/.docker/config.json",
        ] {
            assert!(is_secret_file(path), "{path}");
        }
        for path in [".env.example", "ca.pem", "tls/cert.pem", "public.pem", "config.json", "environment.ts", "key.rs"]
        {
            assert!(!is_secret_file(path), "{path}");
        }
    }
}
