//! What a run is doing, on standard error: spinners on a terminal, plain lines elsewhere.

use std::collections::HashMap;
use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use brain_orchestrator::{Event, PlanPhase};
use brain_packet::RoleName;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::style::status;

/// Shows the events of one run.
pub struct Progress {
    bars: Option<MultiProgress>,
    running: Mutex<HashMap<RoleName, ProgressBar>>,
    quiet: bool,
}

impl Progress {
    /// Watches a run; `quiet` shows nothing.
    pub fn new(quiet: bool) -> Self {
        let terminal = console::Term::stderr().is_term() && !quiet;
        Self { bars: terminal.then(MultiProgress::new), running: Mutex::default(), quiet }
    }

    /// Shows one event.
    pub fn show(&self, event: Event) {
        if self.quiet {
            return;
        }
        match event {
            Event::Planned(plan) => {
                let support: Vec<_> = plan.of(PlanPhase::Support).map(|(_, worker)| worker.role.to_string()).collect();
                let primary = plan.primary().map(|w| w.role.to_string()).unwrap_or_default();
                let with = if support.is_empty() { String::new() } else { format!(", with {}", support.join(", ")) };
                self.say(&format!("{primary} answers{with}"));
            }
            Event::FirstUse(role) => {
                self.say(&format!("{role}: used for the first time; what it asks for is confirmed from now on"));
            }
            // Where lines stay, loading from the cache is not worth one.
            Event::Loading(role) if self.bars.is_some() => self.at(&role, "loading"),
            Event::Loading(_) => {}
            Event::Compiled(role, took) => {
                self.say(&format!("{role}: compiled in {:.2} s, and kept for the next time", took.as_secs_f64()));
            }
            Event::Checking(command) => self.say(&format!("checking: {command}")),
            Event::Started(role, phase) => {
                let part = match phase {
                    PlanPhase::Support => "working",
                    PlanPhase::Primary => "working on the answer",
                    PlanPhase::Review => "reviewing",
                };
                self.at(&role, part);
            }
            Event::Ended(role, ended, wall_ms) => {
                if let Some(bar) = self.lock().remove(&role) {
                    bar.finish_and_clear();
                }
                self.say(&format!("{role}: {} after {:.2} s", status(ended), wall_ms / 1000.0));
            }
        }
    }

    /// Takes everything off the terminal that is still moving.
    pub fn finish(&self) {
        for (_, bar) in self.lock().drain() {
            bar.finish_and_clear();
        }
    }

    fn at(&self, role: &RoleName, doing: &str) {
        let Some(bars) = &self.bars else {
            self.say(&format!("{role}: {doing}"));
            return;
        };
        let mut running = self.lock();
        let bar = running.entry(role.clone()).or_insert_with(|| {
            let bar = bars.add(ProgressBar::new_spinner());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix}: {msg} {elapsed}") {
                bar.set_style(style);
            }
            bar.set_prefix(role.to_string());
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        });
        bar.set_message(doing.to_owned());
    }

    fn say(&self, line: &str) {
        match &self.bars {
            // A terminal that is gone is no reason to stop.
            Some(bars) => drop(bars.println(line)),
            None => drop(writeln!(std::io::stderr().lock(), "{line}")),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<RoleName, ProgressBar>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
