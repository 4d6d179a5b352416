//! Plans by a router's word.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail loudly")]

mod common;

use brain_manifest::Manifest;
use brain_plan::{BY_ROUTER, BY_RULE, MAX_REPLY_BYTES, Mode, PlanPhase, plan};
use common::{Scripted, analysts, edges, names, request, routed, team};
use proptest::prelude::*;
use serde_json::json;

#[test]
fn a_whole_reply_is_taken_as_it_is() {
    let reply = json!({
        "role": "backend", "confidence": 0.75, "reason": "an endpoint",
        "workers": [
            {"role": "librarian", "goal": "map the handlers", "reason": "find the place", "todoIds": ["map"]},
            {"role": "backend", "goal": "write it", "reason": "owns the api", "todoIds": ["write", "wire"]},
        ],
        "todos": [
            {"id": "map", "title": "map the handlers", "role": "librarian"},
            {"id": "write", "title": "write the handler", "role": "backend", "reason": "asked for"},
            {"id": "wire", "title": "wire it up", "role": "backend"},
        ],
        "dependencies": [{"from": "map", "to": "write", "reason": "needs the place"}],
    });
    let plan = routed("add an api", &team(), Mode::Auto, &format!("Here it is:\n```json\n{reply}\n```")).unwrap();
    assert_eq!((plan.source.as_str(), plan.confidence, plan.reason.as_str()), (BY_ROUTER, Some(0.75), "an endpoint"));
    // The review is the rules' decision, and on top of what the planner may choose.
    assert_eq!((names(&plan), plan.requires_review), (vec!["librarian", "backend", "review"], true));
    let backend = &plan.workers[1];
    assert_eq!(
        (backend.goal.as_str(), &backend.todo_ids[..]),
        ("write it", &["write".to_owned(), "wire".to_owned()][..])
    );
    assert_eq!(
        edges(&plan),
        ["map->write", "map->wire", "map->review-result", "write->review-result", "wire->review-result"]
    );
    assert_eq!(plan.dependencies[0].reason.as_deref(), Some("needs the place"));
    assert_eq!(plan.missing, [] as [&str; 0]);
}

#[test]
fn what_a_reply_leaves_out_or_makes_up_comes_from_the_rules() {
    let plan = |reply: serde_json::Value| routed("find secrets", &analysts(), Mode::Auto, &reply.to_string()).unwrap();
    // An unknown primary, unknown workers, wrong types.
    let made_up = plan(json!({"role": "wizard", "workers": [{"role": "wizard"}, 7, {"goal": "x"}], "todos": "none",
        "dependencies": {}, "confidence": "sure", "clarification": {"required": 1}}));
    assert_eq!((names(&made_up), made_up.source.as_str(), made_up.confidence), (vec!["security"], BY_ROUTER, None));
    assert_eq!(made_up.workers[0].reason, "the request says \"secret\"");
    // A primary that is not among the workers is added; a role that is said twice is one, with what is said last.
    let twice = plan(json!({"role": "librarian", "workers": [
        {"role": "security", "goal": "one"}, {"role": "security", "goal": " two "}, {"role": "security", "reason": "r"}]}));
    assert_eq!(names(&twice), ["security", "librarian"]);
    assert_eq!((twice.workers[0].goal.as_str(), twice.workers[0].reason.as_str()), ("find secrets", "r"));
    // More workers than the mode allows are cut, and the primary stays.
    let many = plan(
        json!({"role": "qa", "workers": [{"role": "librarian"}, {"role": "dba"}, {"role": "security"}, {"role": "qa"}]}),
    );
    assert_eq!(names(&many), ["dba", "qa"]);
    let clamped = plan(json!({"role": "qa", "confidence": 7}));
    assert_eq!(clamped.confidence, Some(1.0));
}

#[test]
fn todos_have_unique_ids_one_owner_each_and_at_most_as_many_as_the_mode_allows() {
    let todos: Vec<_> =
        (0..20).map(|n| json!({"id": "Same Id!", "title": format!("t{n}"), "role": "nobody"})).collect();
    let reply = json!({"role": "qa", "workers": [{"role": "librarian", "goal": "map"}], "todos": todos}).to_string();
    for (mode, most) in [(Mode::Auto, 6), (Mode::Radical, 8)] {
        let plan = routed("x", &analysts(), mode, &reply).unwrap();
        // Those of nobody are the primary's; the librarian, which has none, gets one with its goal.
        assert_eq!(plan.todos.len(), most + 1);
        assert_eq!(plan.todos[0].id, "same-id");
        assert_eq!(plan.todos[most - 1].id, format!("same-id-{most}"));
        assert_eq!(
            (plan.todos[most].title.as_str(), plan.todos[most].id.as_str()),
            ("map", format!("todo-{:02}-librarian", most + 1).as_str())
        );
    }
    let untitled =
        json!({"role": "qa", "todos": [{"id": "a"}, {"task": "b"}, {"goal": "c", "title": " "}, {"title": 1}]});
    let plan = routed("x", &analysts(), Mode::Auto, &untitled.to_string()).unwrap();
    let ids: Vec<&str> = plan.todos.iter().map(|todo| todo.id.as_str()).collect();
    assert_eq!(ids, ["todo-01-qa", "todo-02-qa"]);
}

#[test]
fn edges_that_lead_nowhere_or_backwards_are_dropped() {
    let reply = json!({
        "role": "qa",
        "workers": [{"role": "librarian"}, {"role": "security"}, {"role": "qa"}],
        "todos": [{"id": "m", "title": "m", "role": "librarian"}, {"id": "s", "title": "s", "role": "security"},
            {"id": "q", "title": "q", "role": "qa"}],
        "dependencies": [{"from": "m", "to": "m"}, {"from": "m", "to": "x"}, {"from": "q", "to": "m"}, {"from": "", "to": "m"},
            {"fromTodoId": "m", "toTodoId": "s"}, {"from": "m", "to": "s"}, 3],
    });
    let plan = routed("x", &analysts(), Mode::Radical, &reply.to_string()).unwrap();
    assert_eq!(edges(&plan), ["m->s", "m->q", "s->q"]);
    let after: Vec<Vec<&str>> =
        plan.workers.iter().map(|worker| worker.after.iter().map(|role| role.as_str()).collect()).collect();
    assert_eq!(after, [vec![], vec!["librarian"], vec!["librarian", "security"]]);
}

#[test]
fn a_cycle_between_workers_is_found_even_where_their_todos_have_none() {
    let reply = json!({
        "role": "qa",
        "workers": [{"role": "librarian", "todoIds": ["l1", "l2"]}, {"role": "security", "todoIds": ["s1", "s2"]}, {"role": "qa"}],
        "todos": [{"id": "l1", "title": "1", "role": "librarian"}, {"id": "l2", "title": "2", "role": "librarian"},
            {"id": "s1", "title": "1", "role": "security"}, {"id": "s2", "title": "2", "role": "security"}],
        "dependencies": [{"from": "l1", "to": "s1"}, {"from": "s2", "to": "l2"}],
    });
    let plan = routed("find secrets", &analysts(), Mode::Radical, &reply.to_string()).unwrap();
    assert_eq!(plan.source, BY_RULE);
    let said = plan.missing.last().unwrap();
    assert!(said.contains("the router gave no plan") && said.contains("wait for each other: "), "{said}");
}

#[test]
fn a_router_that_fails_or_talks_leaves_the_rules() {
    let roles = analysts();
    let roles: Vec<&Manifest> = roles.iter().collect();
    let long = format!("{{\"role\": \"qa\", \"reason\": \"{}\"}}", "x".repeat(MAX_REPLY_BYTES));
    for (reply, why) in [
        (Err("no key".to_owned()), "no key"),
        (Ok("I would ask the security role.".to_owned()), "no JSON object"),
        (Ok(String::new()), "no JSON object"),
        (Ok("[1]".to_owned()), "no JSON object"),
        (Ok(long), "more than"),
    ] {
        let plan = plan(&request("find secrets", &roles), Some(&Scripted(reply))).unwrap();
        assert_eq!((plan.source.as_str(), names(&plan)), (BY_RULE, vec!["librarian", "security"]), "{why}");
        assert!(plan.missing.iter().any(|missing| missing.contains(why)), "{why}: {:?}", plan.missing);
    }
}

#[test]
fn a_router_asks_back_or_leaves_it_to_the_rules() {
    let asks = json!({"role": "qa", "clarification": {"required": true, "question": "Which one?",
        "options": [{"id": "a", "label": "A"}, {"id": "b", "label": "B"}]}});
    let plan = routed("check the thing in a.rs", &analysts(), Mode::Auto, &asks.to_string()).unwrap();
    assert_eq!(plan.clarification.unwrap().question, "Which one?");
    let silent = routed("fix it", &analysts(), Mode::Auto, "{\"role\": \"qa\"}").unwrap();
    assert!(silent.clarification.is_some());
}

#[test]
fn the_prompt_names_the_roles_the_bounds_and_the_request() {
    struct Reads(std::sync::Mutex<String>);
    impl brain_plan::Router for Reads {
        fn route(&self, prompt: &brain_plan::RouterPrompt) -> Result<String, brain_plan::RouterError> {
            self.0.lock().unwrap().push_str(&prompt.user);
            Err(brain_plan::RouterError("only reads".into()))
        }
    }
    let roles = team();
    let roles: Vec<&Manifest> = roles.iter().collect();
    let reads = Reads(std::sync::Mutex::default());
    plan(&request("add an api", &roles), Some(&reads)).unwrap();
    let prompt = reads.0.into_inner().unwrap();
    for part in
        ["- backend: does backend (may propose changes of files)", "- qa: does qa\n", "At most 2 workers", "add an api"]
    {
        assert!(prompt.contains(part), "{part} in {prompt}");
    }
}

/// JSON that looks like a reply, with anything in its fields.
fn any_reply() -> impl Strategy<Value = serde_json::Value> {
    let word = || prop_oneof!["librarian", "security", "qa", "review", "backend", "nobody", "[a-c]", "", " A b ", "修"];
    let any = prop_oneof![word().prop_map(|word| json!(word)), Just(json!(null)), Just(json!(3)), Just(json!([]))];
    let item = proptest::collection::btree_map(
        prop_oneof!["role", "goal", "reason", "id", "title", "from", "to", "label", "required"],
        prop_oneof![any.clone(), Just(json!(true))],
        0..6,
    );
    let items = proptest::collection::vec((item, proptest::collection::vec(word(), 0..3)), 0..9).prop_map(|items| {
        let items = items.into_iter().map(|(mut item, ids)| {
            item.insert("todoIds".into(), json!(ids));
            json!(item)
        });
        serde_json::Value::Array(items.collect())
    });
    let field = prop_oneof![4 => items, 1 => any];
    proptest::collection::btree_map(
        prop_oneof!["role", "workers", "todos", "dependencies", "clarification", "confidence", "reason"],
        field,
        0..7,
    )
    .prop_map(|fields| json!(fields))
}

proptest! {
    /// Whatever a router says, the plan is one that can be carried out.
    #[test]
    fn every_reply_gives_a_sound_plan(reply in any_reply(), radical: bool, prompt in "(find secrets|add an api|fix it|review)") {
        let mode = if radical { Mode::Radical } else { Mode::Auto };
        let plan = routed(&prompt, &team(), mode, &reply.to_string()).unwrap();
        prop_assert_eq!(plan.workers.iter().filter(|worker| worker.phase == PlanPhase::Primary).count(), 1);
        prop_assert!(plan.workers.is_sorted_by_key(|worker| worker.phase));
        let mut ids: Vec<&str> = plan.todos.iter().map(|todo| todo.id.as_str()).collect();
        let mut owned: Vec<&str> = plan.workers.iter().flat_map(|worker| &worker.todo_ids).map(String::as_str).collect();
        ids.sort_unstable();
        owned.sort_unstable();
        prop_assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");
        prop_assert_eq!(&ids, &owned, "every task has one worker");
        prop_assert!(plan.workers.iter().all(|worker| !worker.todo_ids.is_empty()));
        // Nobody waits for itself, for one that is not there, or in a cycle: what comes first can come first.
        let mut done: Vec<&str> = Vec::new();
        while let Some(next) = plan.workers.iter().find(|worker| {
            !done.contains(&worker.role.as_str()) && worker.after.iter().all(|role| done.contains(&role.as_str()))
        }) {
            done.push(next.role.as_str());
        }
        prop_assert_eq!(done.len(), plan.workers.len());
        prop_assert!(plan.dependencies.iter().all(|edge| ids.contains(&edge.from_todo_id.as_str()) && ids.contains(&edge.to_todo_id.as_str())));
        if plan.source == BY_ROUTER {
            prop_assert!(plan.workers.iter().filter(|worker| worker.phase != PlanPhase::Review).count() <= plan.limits.max_workers);
        }
        prop_assert!(plan.confidence.is_none_or(|confidence| (0.0..=1.0).contains(&confidence)));
    }
}
