//! `brain`: hands work to sandboxed roles and shows what came of it.
//!
//! This crate reads arguments and renders. What a run is, what a role may do and what is kept are the business of the
//! crates below it.

mod args;
mod commands;
mod exit;
mod place;
mod show;

use std::process::ExitCode;

use brain_journal::ApplyDirection;
use clap::Parser;

use crate::args::{Args, Command};
use crate::exit::Failure;

fn main() -> ExitCode {
    let args = Args::parse();
    commands::recover::recover(&args);
    let done = match &args.command {
        Command::Run(run) => commands::run::run(&args.place, run),
        Command::Plan(plan) => commands::plan::plan(&args.place, plan),
        Command::Role { command } => commands::role::role(&args.place, command),
        Command::Sessions { command, list } => commands::sessions::sessions(&args.place, command.as_ref(), list),
        Command::Diff(diff) => commands::changes::diff(&args.place, diff),
        Command::Apply(apply) => commands::changes::apply(&args.place, apply, ApplyDirection::Apply),
        Command::Undo(undo) => commands::changes::apply(&args.place, undo, ApplyDirection::Undo),
        Command::Receipt { which, json } => commands::receipt::receipt(&args.place, which, *json),
        Command::Usage(usage) => commands::usage::usage(&args.place, usage),
        Command::Grants { command } => commands::grants::grants(&args.place, command),
        Command::Doctor { json } => commands::doctor::doctor(&args.place, *json),
        Command::Schema { name, out } => commands::schema::schema(name.as_deref(), out.as_deref()),
    };
    match done {
        Ok(exit) => exit.into(),
        Err(Failure { error, exit }) => {
            show::failure(error.as_ref());
            exit.into()
        }
    }
}
