//! What model calls cost.

use std::fmt::Write;

use brain_journal::{UsageGroup, UsageStats};

use super::events::tokens;
use super::session::time;
use super::style::{count, faint, heading, line};

/// Totals, then by phase, model and role, then the newest calls.
pub fn usage(stats: &UsageStats, of: &str) -> String {
    let mut out = String::new();
    if stats.totals.is_nothing() {
        let _ = writeln!(
            out,
            "No model was called {of}: roles without a model cost no tokens. ({} looked through)",
            count(number(stats.sessions), "session")
        );
    } else {
        let _ = writeln!(out, "{}", heading(&format!("Tokens {of}")));
        let _ = writeln!(out, "  {}", tokens(&stats.totals));
        let _ = writeln!(out, "  {}", count(number(stats.sessions_with_usage), "session") + " with usage");
        let _ = writeln!(out, "  Cache hit: {}% of cacheable input served from cache", stats.cache_hit_percent);
        for (title, groups) in
            [("By phase", &stats.by_phase), ("By model", &stats.by_model), ("By role", &stats.by_role)]
        {
            let _ = writeln!(out, "\n{}", heading(title));
            groups.iter().for_each(|group| row(&mut out, group));
        }
        let _ = writeln!(out, "\n{}", heading("Recent calls"));
        for call in &stats.recent {
            let role = call.role.as_ref().map_or("unknown", |role| role.as_str());
            let model = line(call.model_id.as_deref().unwrap_or("unknown"));
            let _ = writeln!(
                out,
                "  {}  {:<8} {role:<12} {model:<24} {}",
                time(call.timestamp),
                call.phase,
                call.usage.total
            );
        }
    }
    if stats.unreadable > 0 {
        let _ = writeln!(out, "\n{} could not be read and are not in this", count(number(stats.unreadable), "journal"));
    }
    if stats.skipped.unread_bytes > 0 {
        let _ = writeln!(out, "\n{} bytes of very long journals are not in this", stats.skipped.unread_bytes);
    }
    if stats.skipped.malformed > 0 {
        let damaged = count(number(stats.skipped.malformed), "damaged line");
        let _ = writeln!(out, "\n{}", faint(&format!("{damaged} passed over")));
    }
    out
}

fn row(out: &mut String, group: &UsageGroup) {
    let _ = writeln!(out, "  {:<24} {}", line(&group.label), tokens(&group.totals));
}

fn number(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}
