//! Java, Kotlin, Scala and Groovy.

use brain_role::Severity::{self, High, Low, Medium};

use super::{Rule, Site};

const fn rule(
    rule: &'static str,
    word: &'static str,
    judge: fn(&Site<'_>) -> Option<Severity>,
    text: &'static str,
    fix: &'static str,
) -> Rule {
    Rule { rule, word, judge, text, fix }
}

const XXE: &str = "reads XML with external entities left on";
const XXE_FIX: &str = "Set the feature http://apache.org/xml/features/disallow-doctype-decl, or XMLConstants.FEATURE_SECURE_PROCESSING and an empty ACCESS_EXTERNAL_DTD.";

pub(super) const RULES: &[Rule] = &[
    rule(
        "danger/java-exec",
        "exec",
        exec,
        "runs a command that is put together at run time",
        "Use ProcessBuilder with a list of arguments that are checked one by one.",
    ),
    rule(
        "danger/java-deserialize",
        "ObjectInputStream",
        object_stream,
        "deserialises Java objects, which runs code of their classes",
        "Use a data format such as JSON, or set an ObjectInputFilter that names the allowed classes.",
    ),
    rule("danger/java-xxe", "DocumentBuilderFactory.newInstance", xml, XXE, XXE_FIX),
    rule("danger/java-xxe", "SAXParserFactory.newInstance", xml, XXE, XXE_FIX),
    rule("danger/java-xxe", "XMLInputFactory.newInstance", xml, XXE, XXE_FIX),
    rule("danger/java-xxe", "XMLInputFactory.newFactory", xml, XXE, XXE_FIX),
    rule("danger/java-xxe", "TransformerFactory.newInstance", xml, XXE, XXE_FIX),
    rule(
        "danger/java-weak-hash",
        "MessageDigest.getInstance",
        digest,
        "uses a digest that is broken",
        "Use SHA-256; for passwords bcrypt, scrypt or Argon2.",
    ),
];

fn exec(site: &Site<'_>) -> Option<Severity> {
    let line = site.source.code(crate::source::floor(site.source.raw, site.at.start.saturating_sub(80))..site.at.start);
    let line = line.trim_end();
    let is_runtime = line.ends_with("getRuntime().") || line.ends_with("runtime.") || line.ends_with("Runtime.");
    if !is_runtime {
        return None;
    }
    site.grade(site.first()?)
}

fn object_stream(site: &Site<'_>) -> Option<Severity> {
    let before = site.source.code(site.at.start.saturating_sub(8)..site.at.start).trim_end();
    let is_made =
        before.ends_with("new") || (site.source.raw.contains("fun ") && !site.is_definition() && before.ends_with('='));
    let arguments = site.arguments()?;
    (is_made && !site.source.code(arguments).trim().is_empty() && !site.source.code.contains("ObjectInputFilter"))
        .then_some(Medium)
}

fn xml(site: &Site<'_>) -> Option<Severity> {
    const GUARDS: &[&str] = &[
        "disallow-doctype-decl",
        "FEATURE_SECURE_PROCESSING",
        "ACCESS_EXTERNAL_DTD",
        "SUPPORT_DTD",
        "IS_SUPPORTING_EXTERNAL_ENTITIES",
        "external-general-entities",
        "setExpandEntityReferences(false)",
    ];
    (!GUARDS.iter().any(|guard| site.source.raw.contains(guard))).then_some(Medium)
}

fn digest(site: &Site<'_>) -> Option<Severity> {
    let name = site.source.raw(site.arguments()?).trim().trim_matches('"').to_ascii_uppercase();
    if !matches!(name.as_str(), "MD5" | "MD2" | "MD4" | "SHA-1" | "SHA1" | "SHA") {
        return None;
    }
    let start = crate::source::floor(site.source.raw, site.at.start.saturating_sub(300));
    let end = crate::source::floor(site.source.raw, site.at.end + 300);
    let around = site.source.code(start..end).to_ascii_lowercase();
    let about_passwords = around.contains("password") || around.contains("passwd") || around.contains("credential");
    Some(if about_passwords {
        High
    } else if name.starts_with("MD") {
        Medium
    } else {
        Low
    })
}
