//! Makes the file calls that its goal lists, one by one, straight through `wasi:filesystem` and `wasi:io`, and prints one JSON
//! line of answer for each to standard output. So a test sees the codes that WASI gave, also of a call that was killed later.
//!
//! The goal is a JSON list of operations (see [`script`]), or [`script::IN_CONTEXT`] for one in `/context/script.json`.

#[cfg(target_family = "wasm")]
mod calls;
pub mod script;

use brain_role::{Handoff, Outcome};

brain_role::role!(run);

/// Does what the goal lists.
pub fn run(handoff: Handoff) -> Outcome {
    let script = match handoff.goal() {
        script::IN_CONTEXT => std::fs::read_to_string(format!("/context/{}", script::SCRIPT_FILE)),
        goal => Ok(goal.to_owned()),
    };
    let ops: Result<Vec<script::Op>, String> = script
        .map_err(|error| error.to_string())
        .and_then(|text| serde_json::from_str(&text).map_err(|e| e.to_string()));
    match ops {
        Ok(ops) => execute(&ops),
        Err(error) => Outcome::failed(format!("the script cannot be read: {error}")),
    }
}

#[cfg(target_family = "wasm")]
fn execute(ops: &[script::Op]) -> Outcome {
    use std::io::Write;
    let mut calls = calls::Calls::start();
    let mut out = std::io::stdout();
    for op in ops {
        let answer = calls.answer(op, None);
        let written =
            serde_json::to_string(&answer).map_err(std::io::Error::from).and_then(|line| writeln!(out, "{line}"));
        if let Err(error) = written {
            return Outcome::failed(format!("an answer cannot be printed: {error}"));
        }
    }
    Outcome::completed(format!("{} answers", ops.len()))
}

#[cfg(not(target_family = "wasm"))]
fn execute(ops: &[script::Op]) -> Outcome {
    Outcome::failed(format!("{} operations, which only a component can do", ops.len()))
}

#[cfg(test)]
mod tests {
    use brain_role::TaskStatus;
    use brain_role::testing::Bench;

    use super::script::{Answer, Bytes, Op, Value};

    #[test]
    fn a_script_survives_json_and_its_defaults_may_be_left_out() {
        let ops: Vec<Op> = serde_json::from_str(
            r#"[{"op":"open-at","fd":0,"path":"a\u0000b","into":3},{"op":"write","fd":3,"data":"\u00ff","offset":0}]"#,
        )
        .unwrap();
        assert!(matches!(&ops[1], Op::Write { data: Bytes(bytes), times: 1, .. } if bytes == &[255]));
        assert_eq!(serde_json::from_str::<Vec<Op>>(&serde_json::to_string(&ops).unwrap()).unwrap(), ops);
        let answer = Answer::Ok(Value::Data { bytes: Bytes((0..=255).collect()), end: true });
        assert_eq!(serde_json::from_str::<Answer>(&serde_json::to_string(&answer).unwrap()).unwrap(), answer);
    }

    #[test]
    fn a_goal_that_is_no_script_fails() {
        for goal in ["not json", "{}", r#"[{"op":"no such"}]"#] {
            assert_eq!(Bench::new().goal(goal).run(super::run).progress.status, TaskStatus::Failed);
        }
    }
}
