//! Composes the results of the roles that worked before, when this role is the primary one.

use brain_role::Handoff;

/// A line for each prior result. `None` when there is none. Another role may have quoted something secret, so random runs
/// are masked.
pub fn compose(handoff: &Handoff) -> Option<String> {
    let text = brain_role::compose(&handoff.prior_results());
    let lines: Vec<String> = text.lines().map(secret_scan::mask_runs).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}
