//! Plans by rule.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail loudly")]

mod common;

use brain_plan::{BY_RULE, Mode, PlanError, PlanPhase, Request, plan};
use common::{analysts, edges, names, planned, request, role, team};

#[test]
fn the_request_chooses_the_roles_and_the_one_that_answers_is_last() {
    for (prompt, expected) in [
        ("where is the journal written?", &["librarian"] as &[_]),
        ("hello world program", &["librarian"]),
        ("find secrets", &["librarian", "security"]),
        ("review my changes", &["review"]),
        ("find secrets and review my changes", &["review", "librarian", "security"]),
        ("check every licence, and find secrets", &["librarian", "licences", "security"]),
        ("where is a secret read?", &["security", "librarian"]),
        ("is the parser tested?", &["qa"]),
        ("is there a secret in it?", &["security"]),
        ("does it compile?", &["librarian"]),
        ("add a login form", &["librarian"]),
        ("check security and fix it", &["librarian", "security"]),
        ("审查安全", &["review", "security"]),
        ("git commit everything and push", &["devops"]),
        ("git push the docker image", &["devops"]),
        ("提交代码", &["devops"]),
        ("修复迁移 migration", &["librarian", "dba"]),
    ] {
        assert_eq!(names(&planned(prompt, &analysts())), expected, "{prompt}");
    }
}

#[test]
fn a_map_comes_first_where_something_is_edited_but_not_for_what_needs_none() {
    assert_eq!(names(&planned("add an api", &team())), ["librarian", "backend", "review"]);
    assert_eq!(names(&planned("fix the docker file", &analysts())), ["devops"]);
    assert_eq!(names(&planned("summarize it and fix what is wrong", &analysts())), ["summarize"]);
}

#[test]
fn what_is_edited_is_reviewed_after_it_and_what_is_only_looked_at_is_not() {
    let plan = planned("add an api and a page", &team());
    assert!(plan.requires_review);
    assert_eq!(names(&plan), ["librarian", "backend", "frontend", "review"]);
    let phases: Vec<PlanPhase> = plan.workers.iter().map(|worker| worker.phase).collect();
    let (support, primary, review) = (PlanPhase::Support, PlanPhase::Primary, PlanPhase::Review);
    // The first in precedence answers: here the frontend, which comes after the backend.
    assert_eq!((plan.primary().unwrap().role.as_str(), phases), ("frontend", vec![support, support, primary, review]));
    assert_eq!(
        edges(&plan),
        [
            "map-context->build-backend",
            "map-context->build-frontend",
            "build-backend->build-frontend",
            "build-backend->review-result",
            "map-context->review-result",
            "build-frontend->review-result",
        ]
    );
    let looked = planned("look at the api", &team());
    assert!(!looked.requires_review);
    assert_eq!(names(&looked), ["backend"]);
    let analysed = planned("fix the migration", &analysts());
    assert!(!analysed.requires_review);
    assert!(analysed.missing.iter().any(|missing| missing.contains("no role here edits files")), "{analysed:?}");
    let roles = [role("backend", "api", "[files]\nwrite = [\"**\"]\n")];
    let unreviewed = planned("add an api", &roles);
    assert!(!unreviewed.requires_review);
    assert!(unreviewed.missing.iter().any(|missing| missing.contains("`review` is not installed")), "{unreviewed:?}");
    let roles = team();
    let roles: Vec<_> = roles.iter().collect();
    let unwanted = plan_of(&Request { review_edits: false, ..request("add an api", &roles) });
    assert_eq!((unwanted.requires_review, names(&unwanted)), (false, vec!["librarian", "backend"]));
}

fn plan_of(request: &Request<'_>) -> brain_plan::Plan {
    plan(request, None).unwrap()
}

#[test]
fn what_is_called_for_and_not_there_is_said() {
    let plan = planned("implement it as the designer would, and draw a logo", &analysts());
    assert!(plan.missing.iter().any(|m| m.contains("`designer`, which is not installed")), "{:?}", plan.missing);
    assert!(plan.missing.iter().any(|m| m.contains("no role here makes images")), "{:?}", plan.missing);
    let far = format!("draw {} logo", "x ".repeat(40));
    for prompt in ["what does the logo mean", "the icon is not rendered", &far] {
        assert_eq!(planned(prompt, &analysts()).missing, [] as [&str; 0], "{prompt}");
    }
    for prompt in ["generate an image of a cat", "画一张图片"] {
        let mut roles = analysts();
        roles.push(role("image-maker", "", ""));
        assert_eq!(names(&planned(prompt, &roles)), ["image-maker"], "{prompt}");
    }
}

#[test]
fn a_request_that_says_nothing_is_asked_back_unless_it_continues_a_session() {
    let roles = analysts();
    let roles: Vec<_> = roles.iter().collect();
    let asked = plan_of(&request("fix it", &roles));
    let clarification = asked.clarification.unwrap();
    assert_eq!(clarification.options.len(), 3);
    assert_eq!(plan_of(&Request { continues: true, ..request("fix it", &roles) }).clarification, None);
    assert_eq!(plan_of(&request("fix the parser", &roles)).clarification, None);
    let chinese = plan_of(&request("帮我优化一下", &roles)).clarification.unwrap();
    assert_eq!(chinese.question, "要看什么，想知道什么？");
}

#[test]
fn roles_that_wait_for_each_other_are_no_plan_and_are_named() {
    let after = |name: &str, word: &str, after: &str| {
        let mut role = role(name, word, "");
        role.routing.after = vec![after.parse().unwrap()];
        role
    };
    let roles =
        [after("a", "one", "b"), after("b", "two", "c"), after("c", "three", "a"), role("librarian", "find", "")];
    let roles: Vec<_> = roles.iter().collect();
    let error = plan(&request("find one, two and three", &roles), None).unwrap_err();
    let PlanError::Cycle { roles: cycle } = &error else { panic!("{error:?}") };
    assert_eq!(cycle.len(), 3);
    assert_eq!(error.to_string(), "the roles wait for each other: a → b → c → a");
    // What takes no part is not waited for.
    assert_eq!(names(&plan_of(&request("find one and two", &roles))), ["b", "a", "librarian"]);
}

#[test]
fn without_roles_there_is_no_plan() {
    assert_eq!(plan(&request("where is it?", &[]), None), Err(PlanError::NoRole));
}

#[test]
fn modes_bound_what_a_planner_may_ask_for() {
    let radical = Mode::Radical.plan_limits(2);
    assert_eq!((radical.max_todos, radical.max_parallel, radical.max_workers), (8, 4, 4));
    let auto = Mode::Auto.plan_limits(2);
    assert_eq!((auto.max_todos, auto.max_parallel, auto.max_workers), (6, 2, 2));
    assert_eq!(Mode::Auto.plan_limits(0).max_parallel, 1);
    assert_eq!((Mode::Auto.limits().max_fix_iterations, Mode::Radical.limits().max_fix_iterations), (1, 2));
    assert_eq!(planned("find it", &analysts()).source, BY_RULE);
}
