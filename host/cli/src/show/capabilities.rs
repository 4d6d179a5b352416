//! What a role asks, is granted and gets, as one table.

use brain_orchestrator::{Decision, EffectiveGrant, LimitGrant, Manifest, Who, plainest};
use brain_sandbox::{GlobLayer, LimitName};
use console::{measure_text_width, pad_str, truncate_str};

use super::style::{faint, heading, line};

/// Columns: the capability, what is asked, what is granted, by whom, what is in force. With the gaps, 100 wide.
const WIDTHS: [usize; 5] = [15, 20, 24, 13, 20];
/// Width of the text below the table.
const WIDTH: usize = 100;
/// Lines of one cell; of more globs the rest is counted.
const MAX_LINES: usize = 12;

/// The table of all capabilities, limits included, and of what no role has.
pub fn capabilities(manifest: &Manifest, grant: &EffectiveGrant) -> String {
    let mut table = Table::default();
    table.row(["Capability", "Asked", "Granted", "By", "In force"].map(heading));
    globs(&mut table, "read", &grant.read, true);
    globs(&mut table, "write", &grant.write, false);
    for (name, decision) in
        [("gitignored", &grant.gitignored), ("wall clock", &grant.wall_clock), ("random", &grant.random)]
    {
        switch(&mut table, name, decision);
    }
    let context = list(&manifest.context.reads);
    table.row(["context".into(), context.clone(), "of the handoff's".into(), Who::Handoff.to_string(), context]);
    for limit in &grant.limits {
        let row = [limit.asked, limit.cap, limit.effective].map(|value| amount(limit, value));
        let [asked, cap, effective] = row;
        table.row([limit.name.clone(), asked, format!("up to {cap}"), limit.by.to_string(), effective]);
    }
    // There is nothing behind these, so there is nothing to grant.
    for (name, in_force) in [("model, tools", "denied"), ("network", "nothing"), ("environment", "nothing")] {
        table.row([name, "", "never", "brain", in_force].map(str::to_owned));
    }
    let mut out = table.text;
    let mut say = |text: &str| {
        wrapped(text, WIDTH).iter().for_each(|line| out.extend([faint(line), "\n".into()]));
    };
    say("A handoff narrows reading and writing to the files that it names. What a role may write it may read, too.");
    for who in [Who::Default, Who::Operator, Who::Project] {
        let deny: Vec<String> = grant.deny.iter().filter(|d| d.who == who).map(|d| line(&d.glob)).collect();
        if !deny.is_empty() {
            say(&format!("Never read or written, by the {who}: {}", line(&deny.join(" "))));
        }
    }
    say("Never written: .brain, where grants are narrowed.");
    out
}

fn globs(table: &mut Table, name: &str, layers: &[GlobLayer], read: bool) {
    let Some((asked, granted)) = layers.split_first() else { return };
    let in_force = match plainest(layers) {
        Some(layer) => list(&layer.globs),
        None => "what all of these match".into(),
    };
    let asked = list(&asked.globs);
    let mut rows = granted.iter().map(|layer| (list(&layer.globs), line(&layer.who)));
    let none = || if read { "what it asks" } else { "nothing" };
    let (globs, who) = rows.next().unwrap_or_else(|| (none().into(), Who::Default.to_string()));
    table.row([name.into(), asked, globs, who, in_force]);
    for (globs, who) in rows {
        table.row([String::new(), String::new(), globs, who, String::new()]);
    }
}

fn switch(table: &mut Table, name: &str, decision: &Decision) {
    let word = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    let Decision { asked, granted, by, effective } = decision;
    table.row([name.to_owned(), word(*asked), word(*granted), by.to_string(), word(*effective)]);
}

fn amount(limit: &LimitGrant, value: u64) -> String {
    let known = LimitName::SETTABLE.iter().find(|known| known.key() == Some(limit.name.as_str()));
    known.map_or_else(|| value.to_string(), |known| known.show(value))
}

fn list(globs: &[String]) -> String {
    if globs.is_empty() { "nothing".into() } else { globs.iter().map(|g| line(g)).collect::<Vec<_>>().join(" ") }
}

#[derive(Default)]
struct Table {
    text: String,
}

impl Table {
    fn row(&mut self, cells: [String; 5]) {
        let mut columns = cells.iter().zip(WIDTHS).map(|(cell, width)| wrapped(cell, width)).collect::<Vec<_>>();
        for column in &mut columns {
            let more = column.len().saturating_sub(MAX_LINES);
            if more > 0 {
                column.truncate(MAX_LINES - 1);
                column.push("… (all: --json)".to_owned());
            }
        }
        for at in 0..columns.iter().map(Vec::len).max().unwrap_or_default() {
            let mut text = String::new();
            for (column, width) in columns.iter().zip(WIDTHS) {
                let cell = column.get(at).map(String::as_str).unwrap_or_default();
                text.push_str(&pad_str(cell, width, console::Alignment::Left, None));
                text.push_str("  ");
            }
            self.text.push_str(text.trim_end());
            self.text.push('\n');
        }
    }
}

/// `text` in lines of at most `width` columns, broken at spaces where there are any.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut word = word.to_owned();
        while let Some(last) = lines.last_mut() {
            let used = measure_text_width(last);
            let gap = usize::from(used > 0);
            if used + gap + measure_text_width(&word) <= width {
                if gap > 0 {
                    last.push(' ');
                }
                last.push_str(&word);
                break;
            }
            if used > 0 {
                lines.push(String::new());
                continue;
            }
            let head = truncate_str(&word, width, "").into_owned();
            if head.is_empty() || head.len() >= word.len() {
                last.push_str(&word);
                break;
            }
            last.push_str(&head);
            word = word.get(head.len()..).unwrap_or_default().to_owned();
            lines.push(String::new());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_wrapped_to_their_width_and_lose_nothing() {
        let long = "x".repeat(95);
        let text = format!("src/** docs/**/*.md {long} 名名名名名名名名名名名 end");
        let lines = wrapped(&text, 20);
        assert!(lines.iter().all(|line| measure_text_width(line) <= 20), "{lines:?}");
        assert_eq!(lines.concat().replace(' ', ""), text.replace(' ', ""));
    }
}
