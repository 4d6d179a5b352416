//! The planted faults of the sample repository, and which of them a run named.

use std::fmt;

use serde_json::Value;

use crate::steps::Failure;

/// One fault that was put into the sample repository on purpose: an entry of `planted.toml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Path below the sample's root.
    pub file: String,
    /// 1-based.
    pub line: u64,
    /// The rule that should find it, such as `secret/aws-access-key`; without one any rule will do.
    pub rule: Option<String>,
    /// What is wrong there, for the reader.
    pub what: String,
}

/// One result of a SARIF log: what Brain reported, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    file: String,
    line: Option<u64>,
    rule: Option<String>,
}

/// What a run made of a planted fault.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Reported at its place by its rule, and printed as `file:line`.
    Named,
    /// Reported at its place by its rule, but the printed report does not show the place.
    NotPrinted,
    /// Its rule reported this file, at another line.
    OtherLine(u64),
    /// Its place was reported, by another rule.
    OtherRule(String),
    /// Not reported.
    Missed,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named => f.write_str("named"),
            Self::NotPrinted => f.write_str("not in the printed report"),
            Self::OtherLine(line) => write!(f, "wrong line: {line}"),
            Self::OtherRule(rule) => write!(f, "other rule: {rule}"),
            Self::Missed => f.write_str("missed"),
        }
    }
}

/// Reads `planted.toml`: a list `[[fault]]` of `file`, `line`, `what` and an optional `rule`. A fault that two roles are to
/// find under one rule is listed for each of them, and is one fault here.
///
/// # Errors
/// It is not TOML, holds no fault, or a fault lacks a field; the message says which.
pub fn faults(text: &str) -> Result<Vec<Fault>, Failure> {
    let table: toml::Table =
        text.parse().map_err(|error| Failure::new(format!("the planted faults are not valid TOML: {error}")))?;
    let list = table.get("fault").and_then(toml::Value::as_array).map_or(&[][..], Vec::as_slice);
    if list.is_empty() {
        return Err(Failure::new("the list of planted faults is empty")
            .help("each is a table `[[fault]]` with file, line, rule and what"));
    }
    let mut faults: Vec<Fault> = Vec::new();
    for (index, entry) in list.iter().enumerate() {
        let fault = fault(index + 1, entry)?;
        let same = |other: &Fault| (&other.file, other.line, &other.rule) == (&fault.file, fault.line, &fault.rule);
        if !faults.iter().any(same) {
            faults.push(fault);
        }
    }
    Ok(faults)
}

fn fault(number: usize, entry: &toml::Value) -> Result<Fault, Failure> {
    let text = |key: &str| entry.get(key).and_then(toml::Value::as_str).map(str::to_owned);
    let lacks = |key: &str| Failure::new(format!("planted fault {number} has no usable `{key}`"));
    let line = entry.get("line").and_then(toml::Value::as_integer).and_then(|line| u64::try_from(line).ok());
    Ok(Fault {
        file: text("file").ok_or_else(|| lacks("file"))?,
        line: line.filter(|line| *line > 0).ok_or_else(|| lacks("line"))?,
        rule: text("rule"),
        what: text("what").ok_or_else(|| lacks("what"))?,
    })
}

/// Reads the results of a SARIF 2.1.0 log that have a place in a file.
///
/// # Errors
/// It is not JSON or has no runs.
pub fn sarif(text: &str) -> Result<Vec<Located>, Failure> {
    let log: Value = serde_json::from_str(text)
        .map_err(|error| Failure::new(format!("the SARIF log is not valid JSON: {error}")))?;
    let runs = log.get("runs").and_then(Value::as_array).ok_or_else(|| Failure::new("the SARIF log has no runs"))?;
    let results = runs.iter().filter_map(|run| run.get("results")?.as_array()).flatten();
    Ok(results.flat_map(places).collect())
}

/// Every place of one result.
fn places(result: &Value) -> Vec<Located> {
    let rule = result.get("ruleId").and_then(Value::as_str).map(str::to_owned);
    let places = result.get("locations").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let located = |place: &Value| {
        let place = place.get("physicalLocation")?;
        let file = place.pointer("/artifactLocation/uri")?.as_str()?.to_owned();
        Some(Located { file, line: place.pointer("/region/startLine").and_then(Value::as_u64), rule: rule.clone() })
    };
    places.iter().filter_map(located).collect()
}

/// Compares one planted fault with what was reported and with the report as it was printed.
pub fn judge(fault: &Fault, found: &[Located], printed: &str) -> Verdict {
    let same_rule = |located: &&Located| fault.rule.is_none() || located.rule == fault.rule;
    let here: Vec<&Located> = found.iter().filter(|located| located.file == fault.file).collect();
    let at_line: Vec<&Located> = here.iter().copied().filter(|located| located.line == Some(fault.line)).collect();
    if at_line.iter().any(same_rule) {
        return if shows(printed, &fault.file, fault.line) { Verdict::Named } else { Verdict::NotPrinted };
    }
    let nearest = here.iter().filter(|located| same_rule(located)).filter_map(|located| located.line);
    if let Some(line) = nearest.min_by_key(|line| line.abs_diff(fault.line)) {
        return Verdict::OtherLine(line);
    }
    match at_line.first() {
        Some(other) => Verdict::OtherRule(other.rule.clone().unwrap_or_else(|| "none".to_owned())),
        None => Verdict::Missed,
    }
}

/// True when a text has `file:line` as a whole: not as the end of a longer path, not as the start of a longer number.
fn shows(text: &str, file: &str, line: u64) -> bool {
    let place = format!("{file}:{line}");
    text.match_indices(&place).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + place.len()..].chars().next();
        let in_path = |c: char| c.is_alphanumeric() || "/._-".contains(c);
        !before.is_some_and(in_path) && !after.is_some_and(|c| c.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planted(rule: Option<&str>) -> Fault {
        Fault { file: "src/a.py".into(), line: 12, rule: rule.map(str::to_owned), what: "eval on input".into() }
    }

    fn located(file: &str, line: u64, rule: &str) -> Located {
        Located { file: file.into(), line: Some(line), rule: Some(rule.into()) }
    }

    #[test]
    fn a_fault_is_named_by_its_rule_at_its_line_in_the_report() {
        let fault = planted(Some("danger/python-eval"));
        let found = [located("src/a.py", 12, "danger/python-eval")];
        assert_eq!(judge(&fault, &found, "  high  src/a.py:12  eval"), Verdict::Named);
        assert_eq!(judge(&fault, &found, "  high  src/a.py:120  eval"), Verdict::NotPrinted);
        assert_eq!(judge(&fault, &found, "  high  lib/src/a.py:12  eval"), Verdict::NotPrinted);
        assert_eq!(judge(&fault, &found, "(src/a.py:12)"), Verdict::Named);
    }

    #[test]
    fn near_misses_say_what_was_reported_instead() {
        let fault = planted(Some("danger/python-eval"));
        let text = "src/a.py:12";
        let far = [located("src/a.py", 40, "danger/python-eval"), located("src/a.py", 14, "danger/python-eval")];
        assert_eq!(judge(&fault, &far, text), Verdict::OtherLine(14));
        let other = [located("src/a.py", 12, "review/debug-output")];
        assert_eq!(judge(&fault, &other, text), Verdict::OtherRule("review/debug-output".into()));
        let elsewhere = [located("src/b.py", 12, "danger/python-eval")];
        assert_eq!(judge(&fault, &elsewhere, text), Verdict::Missed, "printed text alone proves nothing");
    }

    #[test]
    fn a_fault_without_a_rule_takes_any() {
        let found = [located("src/a.py", 12, "x/y")];
        assert_eq!(judge(&planted(None), &found, "src/a.py:12"), Verdict::Named);
        assert_eq!(judge(&planted(None), &[], "src/a.py:12"), Verdict::Missed);
    }

    #[test]
    fn planted_faults_are_read() {
        let text =
            "[[fault]]\nfile = \"src/a.py\"\nline = 12\nrule = \"danger/python-eval\"\nwhat = \"eval on input\"\n";
        assert_eq!(faults(text).unwrap(), [planted(Some("danger/python-eval"))]);
    }

    #[test]
    fn a_fault_that_is_listed_for_two_roles_counts_once() {
        let entry = |line, rule, what| {
            format!("[[fault]]\nfile = \"a\"\nline = {line}\nrule = \"{rule}\"\nwhat = \"{what}\"\n")
        };
        let text =
            [entry(1, "x/y", "for one"), entry(1, "x/y", "for another"), entry(1, "x/z", "z"), entry(2, "x/y", "w")]
                .concat();
        let whats: Vec<String> = faults(&text).unwrap().into_iter().map(|fault| fault.what).collect();
        assert_eq!(whats, ["for one", "z", "w"]);
    }

    #[test]
    fn a_planted_fault_that_lacks_a_field_is_counted_out_aloud() {
        let cases = [
            ("", "is empty"),
            ("fault = []", "is empty"),
            ("[[fault]]\nline = 1\nwhat = \"x\"", "fault 1 has no usable `file`"),
            ("[[fault]]\nfile = \"a\"\nline = 0\nwhat = \"x\"", "fault 1 has no usable `line`"),
            ("[[fault]]\nfile = \"a\"\nline = -3\nwhat = \"x\"", "fault 1 has no usable `line`"),
            ("[[fault]]\nfile = \"a\"\nline = 1", "fault 1 has no usable `what`"),
            ("[[fault", "not valid TOML"),
        ];
        for (text, expected) in cases {
            let failure = faults(text).unwrap_err().to_string();
            assert!(failure.contains(expected), "{text:?}: {failure}");
        }
    }

    #[test]
    fn sarif_results_are_read_with_and_without_a_line() {
        let log = r#"{"version":"2.1.0","runs":[{"results":[
            {"ruleId":"a/b","message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"x.rs"},"region":{"startLine":3}}}]},
            {"message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"y.rs"}}}]},
            {"message":{"text":"nowhere"}}]},{}]}"#;
        let expected = [located("x.rs", 3, "a/b"), Located { file: "y.rs".into(), line: None, rule: None }];
        assert_eq!(sarif(log).unwrap(), expected);
        assert!(sarif("[]").unwrap_err().to_string().contains("no runs"));
        assert!(sarif("{").unwrap_err().to_string().contains("not valid JSON"));
    }
}
