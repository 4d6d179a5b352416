//! Roles to plan with.
#![allow(dead_code, clippy::unwrap_used, clippy::panic, reason = "test support")]

use std::sync::LazyLock;

use brain_manifest::{Config, Manifest};
use brain_plan::{Mode, Plan, PlanError, Request, Router, RouterError, RouterPrompt, plan};

/// A role, with the words that call for it and what else its manifest says.
pub fn role(name: &str, words: &str, more: &str) -> Manifest {
    let words: Vec<String> = words.split_whitespace().map(|word| format!("\"{word}\"")).collect();
    let text = format!(
        "name = \"{name}\"\nversion = \"1\"\ndescription = \"does {name}\"\ncontract = \"brain:role@1.0.0\"\n\
         component = \"x.wasm\"\n{more}\n[routing]\nwords = [{}]\n",
        words.join(", ")
    );
    Manifest::parse(&text).unwrap()
}

pub fn team() -> Vec<Manifest> {
    vec![
        role("librarian", "where find", ""),
        role("security", "secret security 安全", ""),
        role("review", "review changes 审查", ""),
        role("licences", "licence", ""),
        role("dba", "migration sql", ""),
        role("qa", "tested coverage", ""),
        role("devops", "docker", ""),
        role("summarize", "summarize summary", ""),
        role("backend", "api", "[files]\nread = [\"**\"]\nwrite = [\"src/**\"]\n"),
        role("frontend", "page", "[files]\nread = [\"**\"]\nwrite = [\"web/**\"]\n"),
    ]
}

/// The static team: nobody edits.
pub fn analysts() -> Vec<Manifest> {
    team().into_iter().filter(|role| role.files.write.is_empty()).collect()
}

pub fn request<'a>(prompt: &'a str, roles: &'a [&'a Manifest]) -> Request<'a> {
    static CONFIG: LazyLock<Config> = LazyLock::new(Config::default);
    Request { prompt, roles, config: &CONFIG, mode: Mode::Auto, review_edits: true, continues: false }
}

pub fn planned(prompt: &str, roles: &[Manifest]) -> Plan {
    let roles: Vec<&Manifest> = roles.iter().collect();
    plan(&request(prompt, &roles), None).unwrap()
}

/// A router whose reply is written down.
pub struct Scripted(pub Result<String, String>);

impl Router for Scripted {
    fn route(&self, _: &RouterPrompt) -> Result<String, RouterError> {
        self.0.clone().map_err(RouterError)
    }
}

pub fn routed(prompt: &str, roles: &[Manifest], mode: Mode, reply: &str) -> Result<Plan, PlanError> {
    let roles: Vec<&Manifest> = roles.iter().collect();
    plan(&Request { mode, ..request(prompt, &roles) }, Some(&Scripted(Ok(reply.to_owned()))))
}

/// The roles of a plan in order.
pub fn names(plan: &Plan) -> Vec<&str> {
    plan.workers.iter().map(|worker| worker.role.as_str()).collect()
}

/// The edges of a plan, as `from->to`.
pub fn edges(plan: &Plan) -> Vec<String> {
    plan.dependencies.iter().map(|edge| format!("{}->{}", edge.from_todo_id, edge.to_todo_id)).collect()
}
