//! `cargo xtask <command>`: the developer commands of this repository.
//!
//! For: set-up, building and placing the roles, the demonstration, tests, checks, benchmarks, schemas, installation.
//! It knows folders and command lines. It must not depend on the host's crates or on wasmtime: it is what builds them.
//!
//! Every command echoes what it runs, times it, and stops at the first failure with a one-line reason. Exit status: 0 when
//! all steps passed, 1 when one failed, 2 for a command line that is not understood.

mod args;
mod c_guests;
mod demo;
#[cfg(test)]
mod docs;
mod files;
mod fuzz;
mod place;
mod planted;
mod roles;
mod setup;
mod steps;
mod suite;

use std::process::ExitCode;

use args::Task;
use place::Place;
use steps::{Failure, Steps};

fn main() -> ExitCode {
    let task = match args::parse(lexopt::Parser::from_env()) {
        Ok(task) => task,
        Err(failure) => {
            eprintln!("{failure}");
            return ExitCode::from(2);
        }
    };
    if task == Task::Help {
        eprint!("{}", args::USAGE);
        return ExitCode::SUCCESS;
    }
    let mut steps = Steps::begin();
    let outcome = Place::find().and_then(|place| run(&task, &place, &mut steps));
    eprint!("{}", steps.summary());
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: &Task, place: &Place, steps: &mut Steps) -> Result<(), Failure> {
    match task {
        Task::Help => Ok(()),
        Task::Setup => setup::run(place, steps),
        Task::Roles => {
            setup::run(place, steps)?;
            roles::run(place, steps)?;
            c_guests::run(place, steps)
        }
        Task::Demo => demo::run(place, steps),
        Task::Test { forwarded } => suite::test(place, steps, forwarded),
        Task::Check => suite::check(place, steps),
        Task::Fuzz { targets, seconds, seed } => fuzz::run(place, steps, targets, *seconds, *seed),
        Task::Bench { forwarded } => suite::bench(place, steps, forwarded),
        Task::Hostile { forwarded } => suite::hostile(place, steps, forwarded),
        Task::Schemas { check } => suite::schemas(place, steps, *check),
        Task::Install { prefix } => suite::install(place, steps, prefix),
    }
}
