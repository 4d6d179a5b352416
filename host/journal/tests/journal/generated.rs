//! Any record of the types that are about more than workers: what is asked, let through, called, checked, judged, paid.

use brain_journal::*;
use brain_packet::{CoverageStatus, ReviewCoverage, RoleName, Verdict};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::Value;

use crate::roundtrip::{finding, json, result, role, status, text, todo};

fn attempt() -> impl Strategy<Value = Option<u32>> {
    option::of(1u32..9)
}

fn audit() -> impl Strategy<Value = AuditSummary> {
    json().prop_map(|value| AuditSummary::of(&value))
}

pub fn usage_phase() -> impl Strategy<Value = UsagePhase> {
    use UsagePhase::{Pet, Primary, Review, Router, Support, Unknown};
    prop::sample::select(vec![Router, Support, Primary, Review, Pet, Unknown])
}

fn approver() -> impl Strategy<Value = Approver> {
    use Approver::{Hook, Human, ModePolicy, PermissionPolicy, RuntimePolicy};
    prop::sample::select(vec![Human, PermissionPolicy, ModePolicy, Hook, RuntimePolicy])
}

fn check_status() -> impl Strategy<Value = CheckStatus> {
    prop::sample::select(vec![CheckStatus::Passed, CheckStatus::Failed, CheckStatus::Skipped])
}

fn scope() -> impl Strategy<Value = ToolScope> {
    (usage_phase(), option::of(role()), option::of(text()), attempt()).prop_map(|(phase, role, id, attempt)| {
        ToolScope {
            phase,
            role,
            agent_session_id: id.clone(),
            task_id: id.clone(),
            parent_id: id.clone(),
            attempt,
            brain_id: id,
        }
    })
}

fn outcome() -> impl Strategy<Value = CheckOutcome> {
    let result = (text(), check_status(), option::of(any::<i64>()), any::<u64>(), any::<bool>()).prop_map(
        |(name, status, exit_code, duration_ms, timed_out)| CheckResult {
            command: name.clone(),
            args: vec![name.clone()],
            stdout: name.clone(),
            stderr: name.clone(),
            signal: timed_out.then(|| name.clone()),
            name,
            status,
            exit_code,
            duration_ms,
            timed_out,
        },
    );
    (check_status(), option::of(text()), option::of(vec(text(), 0..3)), option::of(any::<bool>()), vec(result, 0..3))
        .prop_map(|(status, reason, selected_scripts, review_required, results)| CheckOutcome {
            status,
            patch_kind: reason.clone(),
            reason,
            selected_scripts,
            review_required,
            results,
        })
}

fn changes() -> impl Strategy<Value = PatchChanges> {
    let file = || (text(), text()).prop_map(|(path, status)| FileChange { path, status });
    let stats =
        (any::<[u64; 4]>(), text()).prop_map(|([files_changed, insertions, deletions, untracked_files], raw)| {
            DiffStats {
                files_changed,
                insertions,
                deletions,
                untracked_files,
                unstaged_raw: raw.clone(),
                staged_raw: raw.clone(),
                raw,
            }
        });
    (vec(file(), 0..3), vec(file(), 0..3), option::of(stats)).prop_map(
        |(changed_files, pre_existing_changed_files, diff_stats)| PatchChanges {
            changed_files,
            pre_existing_changed_files,
            diff_stats,
        },
    )
}

fn independence() -> impl Strategy<Value = Independence> {
    (option::of(text()), any::<[bool; 2]>(), text()).prop_map(|(name, [same_model, same_provider], level)| {
        let model = ModelName { model_id: name.clone(), provider: name };
        Independence { primary: model.clone(), reviewer: model, same_model, same_provider, level }
    })
}

fn review() -> impl Strategy<Value = ReviewOutcome> {
    let verdict = prop::sample::select(vec![Verdict::Blocked, Verdict::ChangesRequested, Verdict::Approved]);
    let parts = (verdict, option::of(0.0..=1.0), text(), vec(finding(), 0..3), vec(text(), 0..3));
    (parts, option::of(independence()), option::of(text())).prop_map(
        |((decision, confidence, rationale, findings, texts), independence, word)| ReviewOutcome {
            decision,
            confidence,
            rationale,
            findings,
            required_changes: texts.clone(),
            blocking_issues: texts.clone(),
            coverage: texts
                .iter()
                .map(|file| ReviewCoverage { file: file.clone(), status: CoverageStatus::Skipped, reason: None })
                .collect(),
            residual_risks: texts,
            mode: word.clone(),
            independence,
            risk_tier: word,
        },
    )
}

fn plan_review() -> impl Strategy<Value = ExecutionPlanReview> {
    let effect = (text(), any::<bool>()).prop_map(|(target, grave)| SideEffect {
        kind: if grave { SideEffectKind::Command } else { SideEffectKind::Artifact },
        target,
        risk: if grave { EffectRisk::High } else { EffectRisk::Low },
    });
    let reference = (text(), option::of(any::<u64>()), option::of(text())).prop_map(|(token, size, reason)| {
        let kind = if size.is_some() { PromptReferenceKind::Text } else { PromptReferenceKind::Missing };
        PromptReference { kind, path: token.clone(), token, session_id: reason.clone(), size, reason }
    });
    let parts = (text(), approver(), audit(), option::of(role()), vec(todo(), 0..2), vec(text(), 0..3));
    (parts, vec(effect, 0..3), vec(reference, 0..3)).prop_map(
        |((words, approver, brain, primary_role, todos, texts), proposed_side_effects, prompt_references)| {
            ExecutionPlanReview {
                plan_id: words.clone(),
                session_id: words.clone(),
                brain_task_id: words.clone(),
                mode: words.clone(),
                status: if todos.is_empty() { PlanStatus::AutoApproved } else { PlanStatus::Blocked },
                approver,
                rationale: words.clone(),
                routing: brain.clone(),
                brain,
                workers: primary_role
                    .iter()
                    .map(|role: &RoleName| ReviewedWorker {
                        role: role.clone(),
                        goal: words.clone(),
                        reason: None,
                        todo_ids: texts.clone(),
                    })
                    .collect(),
                primary_role,
                required_review: todos.len() == 1,
                todos,
                dependencies: vec![TodoDependency { from_todo_id: words.clone(), to_todo_id: words, reason: None }],
                prompt_references,
                proposed_side_effects,
                validation_plan: ValidationPlan {
                    checks: texts.clone(),
                    evidence: texts.clone(),
                    success_criteria: texts.clone(),
                },
                risk_triggers: texts.clone(),
                residual_pre_execution_risks: texts,
            }
        },
    )
}

pub fn counts() -> impl Strategy<Value = TokenCounts> {
    // A total of nothing is no record.
    (any::<[u32; 4]>(), 1u64..).prop_map(|([input, output, cache_read, cache_write], total)| TokenCounts {
        input: input.into(),
        output: output.into(),
        cache_read: cache_read.into(),
        cache_write: cache_write.into(),
        total,
    })
}

fn hook() -> impl Strategy<Value = HookRun> {
    (prop::sample::select(HookEvent::ALL.to_vec()), option::of(text()), vec(text(), 0..3), option::of(any::<i64>()))
        .prop_map(|(event_name, word, texts, exit_code)| HookRun {
            event_name,
            matcher: word.clone(),
            records: texts
                .iter()
                .map(|text| HookCall {
                    event_name,
                    source: HookSource { kind: "project".into(), path: text.clone() },
                    matcher: word.clone(),
                    command: Some(text.clone()),
                    status: text.clone(),
                    reason: word.clone(),
                    stdout: word.clone(),
                    stderr: word.clone(),
                    exit_code,
                })
                .collect(),
            additional_context: texts,
            blocked_reason: word,
        })
}

/// A `run_start` or `run_end` with every field.
pub fn run_edges() -> impl Strategy<Value = Record> {
    let file = text().prop_map(|path| SupportFile { path });
    let support = (text(), option::of(file), vec(text(), 0..3)).prop_map(|(root, agents, names)| {
        let mcp = Some(McpSupport { path: root.clone(), server_names: names.clone() });
        let skills: Vec<_> = names.iter().map(|name| SkillSupport { id: name.clone(), path: root.clone() }).collect();
        let user = UserSupport { home: root.clone(), agents: agents.clone(), mcp: mcp.clone(), skills: skills.clone() };
        ProjectSupport { root, agents, mcp, skills, user: Some(user) }
    });
    let end = (text(), vec(result(), 0..2), option::of(changes()), option::of(outcome()), option::of(review()), json());
    prop_oneof![
        (text(), option::of(role()), option::of(support), attempt()).prop_map(
            |(prompt, role, project_support, attempt)| Record::RunStart(RunStart {
                prompt,
                role,
                plan: None,
                project_support,
                attempt
            })
        ),
        (end, attempt()).prop_map(
            |((summary, worker_results, patch, checks, review_decision, final_report), attempt)| {
                Record::RunEnd(RunEnd {
                    summary,
                    worker_results,
                    patch,
                    checks,
                    review_decision,
                    final_report,
                    fix_iterations: attempt,
                    attempt,
                })
            }
        ),
    ]
}

/// A record about an event of a run.
pub fn event() -> impl Strategy<Value = Record> {
    let asked = (text(), vec(text(), 0..3)).prop_map(|(reason, missing)| ClarificationAsked {
        required: true,
        question: reason.clone(),
        options: missing
            .iter()
            .map(|word| ClarificationOption { id: word.clone(), label: word.clone(), description: word.clone() })
            .collect(),
        reason,
        missing,
    });
    let decision = prop::sample::select(vec![
        ToolDecision::Allowed,
        ToolDecision::Approved,
        ToolDecision::AutoApproved,
        ToolDecision::Blocked,
        ToolDecision::Denied,
    ]);
    let asking = prop_oneof![
        (any::<u32>(), text()).prop_map(|(version, brain)| Record::Journal(JournalHeader { version, brain })),
        (asked, attempt()).prop_map(|(clarification, attempt)| Record::ClarificationRequest(ClarificationRequest {
            clarification,
            attempt
        })),
        (role(), option::of(text()), text(), any::<bool>(), option::of(status())).prop_map(
            |(role, goal, context_id, answered, status)| Record::DynamicDispatch(DynamicDispatch {
                phase: if answered { DispatchPhase::Result } else { DispatchPhase::Request },
                primary_role: goal.as_ref().map(|_| role.clone()),
                role,
                reason: goal.clone(),
                summary: goal.clone(),
                goal,
                context_id,
                status: status.map(|status| format!("{status:?}")),
            })
        ),
        plan_review().prop_map(Record::ExecutionPlanReview),
        (text(), decision, approver(), scope(), option::of(text()), audit()).prop_map(
            |(id, decision, approver, scope, reason, args_summary)| {
                Record::ToolApprovalDecision(ToolApprovalDecision {
                    tool_call_id: id.clone(),
                    tool_name: id,
                    decision,
                    approver,
                    scope,
                    reason,
                    permission_policy: args_summary.clone(),
                    args_summary,
                })
            }
        ),
        (text(), scope(), option::of(any::<bool>()), audit()).prop_map(|(id, scope, is_error, args_summary)| {
            Record::ToolExecutionSummary(ToolExecutionSummary {
                event: if is_error.is_some() { ToolEvent::End } else { ToolEvent::Start },
                tool_call_id: id.clone(),
                tool_name: id,
                scope,
                result_summary: args_summary.clone(),
                args_summary,
                is_error,
            })
        }),
    ];
    let judging = prop_oneof![
        (outcome(), attempt(), attempt()).prop_map(|(outcome, attempt, fix_iteration)| Record::CheckSummary(
            CheckSummary { outcome, attempt, fix_iteration }
        )),
        (changes(), option::of(any::<bool>()), option::of(check_status()), option::of(independence()), attempt())
            .prop_map(|(changes, diff_truncated, checks_status, independence, attempt)| {
                Record::ReviewArtifactsSummary(ReviewArtifactsSummary {
                    changed_files: changes.changed_files,
                    diff_truncated,
                    checks_status,
                    risk_tier: independence.as_ref().map(|far| far.level.clone()),
                    review_mode: independence.as_ref().map(|far| far.level.clone()),
                    independence,
                    attempt,
                    fix_iteration: attempt,
                })
            }),
        (review(), attempt(), attempt()).prop_map(|(outcome, attempt, fix_iteration)| Record::ReviewDecision(
            ReviewRecord { outcome, attempt, fix_iteration }
        )),
        (any::<u32>(), any::<bool>(), attempt()).prop_map(|(iteration, checks, attempt)| {
            let trigger = if checks { FixTrigger::ChecksFailed } else { FixTrigger::ChangesRequested };
            Record::FixIteration(FixIteration { iteration, trigger, attempt })
        }),
        (changes(), attempt()).prop_map(|(changes, attempt)| Record::PatchSummary(PatchSummary { changes, attempt })),
    ];
    let counting = prop_oneof![
        (any::<[u64; 2]>(), vec((usage_phase(), any::<[u64; 2]>()), 0..3), attempt()).prop_map(
            |([total, failed], phases, attempt)| Record::ToolCallCount(ToolCallCount {
                total,
                failed,
                by_phase: phases
                    .into_iter()
                    .map(|(phase, [calls, failed])| PhaseCalls { phase, calls, failed })
                    .collect(),
                attempt,
            })
        ),
        (option::of(role()), usage_phase(), option::of(text()), attempt(), counts()).prop_map(
            |(role, phase, id, attempt, usage)| Record::TokenUsage(TokenUsage {
                role,
                phase,
                brain_id: id.clone(),
                model_id: id.clone(),
                provider: id.clone(),
                agent_session_id: id.clone(),
                task_id: id.clone(),
                parent_id: id.clone(),
                turn_id: id,
                attempt,
                usage,
            })
        ),
        json().prop_map(|report: Value| Record::McpConnect(McpConnect { report })),
        (text(), option::of(text()), option::of(any::<u64>())).prop_map(|(summary, focus, bytes)| {
            Record::Handoff(HandoffBrief {
                summary,
                trigger: bytes.map(|_| HandoffTrigger::Auto),
                focus,
                estimated_bytes: bytes,
                limit_bytes: bytes,
            })
        }),
        hook().prop_map(Record::hook),
    ];
    prop_oneof![asking, judging, counting]
}
