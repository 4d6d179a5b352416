//! Added lines that weaken a safeguard: certificate checks switched off, files opened to everybody.

use super::{Findings, View};
use crate::code::split;
use crate::lang::Lang;
use crate::model::{Found, Severity};

/// Without white space, since it differs between styles.
const TLS_OFF: &[&str] = &[
    "verify=False",
    "CERT_NONE",
    "_create_unverified_context",
    "check_hostname=False",
    "rejectUnauthorized:false",
    "InsecureSkipVerify:true",
    "danger_accept_invalid_certs(true)",
    "danger_accept_invalid_hostnames(true)",
    "VERIFY_NONE",
    "CURLOPT_SSL_VERIFYPEER,false",
    "CURLOPT_SSL_VERIFYPEER,0",
    "--no-check-certificate",
    "curl--insecure",
    "curl-k",
    "http.sslVerifyfalse",
    "GIT_SSL_NO_VERIFY=true",
    "StrictHostKeyChecking=no",
];

/// These stand inside strings, or assign through one.
const TLS_OFF_RAW: &[&str] = &[
    "NODE_TLS_REJECT_UNAUTHORIZED=0",
    "NODE_TLS_REJECT_UNAUTHORIZED='0'",
    "NODE_TLS_REJECT_UNAUTHORIZED=\"0\"",
    "NODE_TLS_REJECT_UNAUTHORIZED:0",
    "NODE_TLS_REJECT_UNAUTHORIZED:'0'",
    "NODE_TLS_REJECT_UNAUTHORIZED:\"0\"",
];

const OPEN_TO_ALL: &[&str] = &[
    "chmod777",
    "chmod-R777",
    "chmod0777",
    "chmod-R0777",
    "chmoda+rwx",
    "chmod-Ra+rwx",
    "chmodugo+rwx",
    "0o777",
    "umask(0)",
    "umask000",
];

/// Looks at every kind of text, since workflows, Dockerfiles and settings have these too. Documentation is left alone.
pub fn weakened(view: &View<'_>, findings: &mut Findings) {
    let prose = [".md", ".rst", ".txt", ".adoc"].iter().any(|end| view.path.ends_with(end));
    if prose {
        return;
    }
    for (line, text) in view.added() {
        let (code, raw) = (compact(&split(&text, view.lang).code), compact(&text));
        if code.is_empty() || (view.lang == Lang::Other && raw.starts_with('#')) {
            continue;
        }
        if TLS_OFF.iter().any(|mark| code.contains(mark)) || TLS_OFF_RAW.iter().any(|mark| raw.contains(mark)) {
            let severity = if view.is_test_line(line) { Severity::Low } else { Severity::High };
            findings.push(
                Found::new(
                    severity,
                    "review/tls-verification-disabled",
                    &view.path,
                    "The check of the other side's certificate or key is switched off",
                )
                .at(line)
                .evidence(text.as_ref())
                .suggest("Keep the check; trust a private authority by its certificate instead"),
            );
        }
        let octal =
            code.contains("chmod(") && code.contains("0777") || code.contains("Chmod(") && code.contains("0777");
        if octal || OPEN_TO_ALL.iter().any(|mark| code.contains(mark)) {
            findings.push(
                Found::new(
                    Severity::Medium,
                    "review/dangerous-permission",
                    &view.path,
                    "A file or folder becomes writable for everybody",
                )
                .at(line)
                .evidence(text.as_ref())
                .suggest("Grant the least that works, such as 0750 or 0640"),
            );
        }
    }
}

fn compact(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
