//! Python.

use brain_role::Severity::{self, High, Low, Medium};

use super::{Rule, Site};

const EVAL: &str = "evaluates text as Python code";
const EVAL_FIX: &str = "Use ast.literal_eval for data, or a dispatch table for choices.";
const SHELL: &str = "runs a command line through a shell";
const SHELL_FIX: &str =
    "Use subprocess.run with a list of arguments and no shell; quote with shlex.quote where a shell is needed.";
const PICKLE: &str = "deserialises with a format that runs code from its input";
const PICKLE_FIX: &str = "Use JSON or another data-only format, or check a signature before loading.";
const TLS: &str = "turns off the check of TLS certificates";
const TLS_FIX: &str = "Leave verification on; give the path of a private CA in verify= or in the SSL context.";

const fn rule(
    rule: &'static str,
    word: &'static str,
    judge: fn(&Site<'_>) -> Option<Severity>,
    text: &'static str,
    fix: &'static str,
) -> Rule {
    Rule { rule, word, judge, text, fix }
}

pub(super) const RULES: &[Rule] = &[
    rule("danger/python-eval", "eval", evaluates, EVAL, EVAL_FIX),
    rule("danger/python-exec", "exec", evaluates, "runs text as Python code", EVAL_FIX),
    rule("danger/python-os-system", "os.system", command, SHELL, SHELL_FIX),
    rule("danger/python-os-system", "os.popen", command, SHELL, SHELL_FIX),
    rule("danger/python-os-system", "commands.getoutput", command, SHELL, SHELL_FIX),
    rule("danger/python-os-system", "subprocess.getoutput", command, SHELL, SHELL_FIX),
    rule("danger/python-os-system", "subprocess.getstatusoutput", command, SHELL, SHELL_FIX),
    rule("danger/python-shell-true", "shell", shell_true, SHELL, SHELL_FIX),
    rule("danger/python-shell-true", "create_subprocess_shell", command, SHELL, SHELL_FIX),
    rule("danger/python-pickle", "pickle.loads", loads, PICKLE, PICKLE_FIX),
    rule("danger/python-pickle", "pickle.load", loads, PICKLE, PICKLE_FIX),
    rule("danger/python-pickle", "cPickle.loads", loads, PICKLE, PICKLE_FIX),
    rule("danger/python-pickle", "cPickle.load", loads, PICKLE, PICKLE_FIX),
    rule("danger/python-pickle", "dill.loads", loads, PICKLE, PICKLE_FIX),
    rule("danger/python-pickle", "dill.load", loads, PICKLE, PICKLE_FIX),
    rule("danger/python-pickle", "cloudpickle.loads", loads, PICKLE, PICKLE_FIX),
    rule("danger/python-pickle", "marshal.loads", loads, PICKLE, PICKLE_FIX),
    rule(
        "danger/python-yaml-load",
        "yaml.load",
        yaml,
        "loads YAML with a loader that builds any object",
        "Use yaml.safe_load, or Loader=yaml.SafeLoader.",
    ),
    rule(
        "danger/python-yaml-load",
        "yaml.load_all",
        yaml,
        "loads YAML with a loader that builds any object",
        "Use yaml.safe_load_all.",
    ),
    rule(
        "danger/python-yaml-load",
        "yaml.unsafe_load",
        called,
        "loads YAML with a loader that builds any object",
        "Use yaml.safe_load.",
    ),
    rule("danger/python-tls-verify", "verify", verify_false, TLS, TLS_FIX),
    rule(
        "danger/python-jwt-verify",
        "verify",
        decodes_unverified,
        "reads a signed token without checking its signature",
        "Leave verification on, and name the allowed algorithms.",
    ),
    rule("danger/python-tls-verify", "ssl._create_unverified_context", always, TLS, TLS_FIX),
    rule("danger/python-tls-verify", "CERT_NONE", cert_none, TLS, TLS_FIX),
    rule(
        "danger/python-weak-hash",
        "hashlib.md5",
        weak_hash,
        "hashes a secret with MD5",
        "Use hashlib.scrypt, argon2 or bcrypt for passwords; SHA-256 for the rest.",
    ),
    rule(
        "danger/python-weak-hash",
        "hashlib.sha1",
        weak_hash,
        "hashes a secret with SHA-1",
        "Use hashlib.scrypt, argon2 or bcrypt for passwords; SHA-256 for the rest.",
    ),
    rule(
        "danger/python-mktemp",
        "tempfile.mktemp",
        called,
        "names a temporary file that another process can create first",
        "Use tempfile.mkstemp or NamedTemporaryFile.",
    ),
    rule(
        "danger/python-mktemp",
        "os.tempnam",
        called,
        "names a temporary file that another process can create first",
        "Use tempfile.mkstemp.",
    ),
    rule(
        "danger/python-debug",
        "debug",
        debug_true,
        "starts a web server with its debugger, which runs code for whoever reaches it",
        "Read the flag from the configuration of the developer's machine; never start it in production.",
    ),
    rule("danger/python-weak-random", "random.choice", weak_random, WEAK, WEAK_FIX),
    rule("danger/python-weak-random", "random.choices", weak_random, WEAK, WEAK_FIX),
    rule("danger/python-weak-random", "random.randint", weak_random, WEAK, WEAK_FIX),
    rule("danger/python-weak-random", "random.random", weak_random, WEAK, WEAK_FIX),
    rule("danger/python-weak-random", "random.sample", weak_random, WEAK, WEAK_FIX),
];

const WEAK: &str = "makes a secret with a random generator that can be predicted";
const WEAK_FIX: &str = "Use the secrets module.";

fn always(_: &Site<'_>) -> Option<Severity> {
    Some(High)
}

fn called(site: &Site<'_>) -> Option<Severity> {
    site.arguments().map(|_| Medium)
}

/// `eval(x)` as a function of its own; `frame.eval(x)` is somebody else's.
fn evaluates(site: &Site<'_>) -> Option<Severity> {
    if (site.is_method() && site.receiver() != "builtins") || site.is_definition() {
        return None;
    }
    let first = site.first()?;
    // `exec(compile(open(f).read(), …))` is how a build script reads its version; still code from a file.
    site.grade(first)
}

fn command(site: &Site<'_>) -> Option<Severity> {
    if site.is_definition() {
        return None;
    }
    site.grade(site.first()?)
}

/// `shell=True` inside a call; its first argument decides.
fn shell_true(site: &Site<'_>) -> Option<Severity> {
    if !site.is_keyword("True") {
        return None;
    }
    let (name, arguments) = site.source.enclosing_call(site.at.start)?;
    let is_definition = site.source.code(site.source.line_around(arguments.start)).trim_start().starts_with("def ");
    if is_definition || name.is_empty() {
        return None;
    }
    let first = site.source.split(arguments).into_iter().next()?;
    if site.source.is_constant(first.clone()) { Some(Low) } else { site.grade(first) }
}

fn loads(site: &Site<'_>) -> Option<Severity> {
    let arguments = site.arguments()?;
    // `pickle.loads(pickle.dumps(x))` is a deep copy.
    if site.source.code(arguments.clone()).contains(".dumps(") {
        return None;
    }
    Some(if site.comes_from_outside(arguments) { High } else { Medium })
}

fn yaml(site: &Site<'_>) -> Option<Severity> {
    let arguments = site.source.code(site.arguments()?);
    // PyYAML's module, and not an object or another module of that name: ruamel's round-trip object is usually called `yaml` too.
    let is_module = site
        .source
        .code
        .lines()
        .map(str::trim)
        .any(|line| line.starts_with("import ") && crate::source::has_word(line, "yaml"));
    if !is_module || site.is_method() || arguments.contains("Safe") || arguments.contains("BaseLoader") {
        return None;
    }
    let loader = arguments.contains("Loader");
    let any = arguments.contains("UnsafeLoader") || arguments.contains("yaml.Loader");
    Some(if loader && !any { Medium } else { High })
}

fn verify_false(site: &Site<'_>) -> Option<Severity> {
    if site.is_keyword("False") && !is_decoding(site) {
        // In a call, or on a session: `session.verify = False`.
        let in_call = site.source.enclosing_call(site.at.start).is_some_and(|(name, arguments)| {
            !name.is_empty()
                && !site.source.code(site.source.line_around(arguments.start)).trim_start().starts_with("def ")
        });
        return (in_call || site.is_method()).then_some(High);
    }
    None
}

/// `jwt.decode(token, verify=False)`.
fn decodes_unverified(site: &Site<'_>) -> Option<Severity> {
    (site.is_keyword("False") && is_decoding(site)).then_some(Medium)
}

fn is_decoding(site: &Site<'_>) -> bool {
    site.source.enclosing_call(site.at.start).is_some_and(|(name, _)| name.ends_with("decode"))
}

/// `cert_reqs=ssl.CERT_NONE`, `context.verify_mode = ssl.CERT_NONE`; a comparison is none.
fn cert_none(site: &Site<'_>) -> Option<Severity> {
    let line = site.source.code(site.line().start..site.at.start);
    if line.trim_start().starts_with("def ") {
        return None;
    }
    let given = line.trim_end_matches(|c: char| c.is_alphanumeric() || matches!(c, '.' | '_')).trim_end();
    (given.ends_with('=') && !given.ends_with("==") && !given.ends_with("!=")).then_some(High)
}

fn weak_hash(site: &Site<'_>) -> Option<Severity> {
    let arguments = site.arguments()?;
    if site.source.code(arguments).contains("usedforsecurity") {
        return None;
    }
    (site.is_sensitive_line() || around_is_sensitive(site)).then_some(Medium)
}

/// Whether the function around it is about passwords: its `def` line says so.
fn around_is_sensitive(site: &Site<'_>) -> bool {
    let start = crate::source::floor(site.source.raw, site.at.start.saturating_sub(600));
    let before = site.source.code(start..site.at.start).to_ascii_lowercase();
    before.rsplit("def ").next().is_some_and(|_| {
        let head =
            before.rfind("def ").map(|at| before.get(at..).unwrap_or_default().lines().next().unwrap_or_default());
        head.is_some_and(|head| head.contains("password") || head.contains("passwd"))
    })
}

/// `app.run(debug=True)`.
fn debug_true(site: &Site<'_>) -> Option<Severity> {
    if !site.is_keyword("True") {
        return None;
    }
    let (name, _) = site.source.enclosing_call(site.at.start)?;
    (name.ends_with(".run") && !name.starts_with("asyncio")).then_some(Medium)
}

fn weak_random(site: &Site<'_>) -> Option<Severity> {
    if site.is_method() && site.receiver() != "random" {
        return None;
    }
    site.arguments()?;
    // What stands before it on the line: what it is for.
    let before = site.source.code(site.line().start..site.at.start).to_ascii_lowercase();
    super::SENSITIVE.iter().any(|word| before.contains(word)).then_some(Medium)
}
