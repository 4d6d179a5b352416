//! What happened in a run beside its workers: what was asked back, let through, called, checked, judged and paid for.

use serde::Serialize;
use serde_json::Value;

use crate::record::{
    CheckOutcome, ClarificationAsked, DispatchPhase, DynamicDispatch, ExecutionPlanReview, FixIteration, HookRun,
    PatchChanges, Record, ReviewArtifactsSummary, ReviewOutcome, ToolApprovalDecision, ToolCallCount, ToolEvent,
    ToolExecutionSummary,
};
use crate::story::{Kept, keep};
use crate::usage::UsageTotals;

/// Events of a run, in the order of the journal. Each list has at most [`crate::MAX_STORY_ITEMS`].
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunEvents {
    /// Attempts of the primary that a `run_start` began.
    pub attempts: u32,
    /// What Brain asked back before it worked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clarification: Option<ClarificationAsked>,
    /// How the plan was let through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_review: Option<ExecutionPlanReview>,
    /// Which MCP servers answered, as their hub reports it.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub mcp: Value,
    /// Specialists that were sent for in the middle of the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dispatches: Vec<DynamicDispatch>,
    /// What was decided about tool calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<ToolApprovalDecision>,
    /// The tools that were called, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolStory>,
    /// How many tool calls there were, as the run counted them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<ToolCallCount>,
    /// What the checks came to, each time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckOutcome>,
    /// What the reviewers were shown, each time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub review_artifacts: Vec<ReviewArtifactsSummary>,
    /// What the reviews decided.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reviews: Vec<ReviewOutcome>,
    /// Rounds of fixing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fix_iterations: Vec<FixIteration>,
    /// What was changed in the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<PatchChanges>,
    /// What the hooks did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<HookRun>,
    /// What its model calls cost.
    #[serde(skip_serializing_if = "UsageTotals::is_nothing")]
    pub usage: UsageTotals,
}

/// One tool's part in a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolStory {
    /// The tool.
    pub name: String,
    /// How often it was called.
    pub calls: u64,
    /// How often that failed.
    pub failed: u64,
}

impl RunEvents {
    pub(crate) fn tell(&mut self, _timestamp: u64, record: Record) -> Kept {
        match record {
            Record::ClarificationRequest(request) => self.clarification = Some(request.clarification),
            Record::ExecutionPlanReview(review) => self.plan_review = Some(review),
            Record::McpConnect(connect) => self.mcp = connect.report,
            Record::DynamicDispatch(dispatch) => return self.dispatch(dispatch),
            Record::ToolApprovalDecision(decision) => return keep(&mut self.approvals, decision),
            Record::ToolExecutionSummary(call) => return self.tool(call),
            Record::ToolCallCount(count) => self.tool_calls = Some(count),
            Record::CheckSummary(summary) => return keep(&mut self.checks, summary.outcome),
            Record::ReviewArtifactsSummary(summary) => return keep(&mut self.review_artifacts, summary),
            Record::ReviewDecision(review) => return keep(&mut self.reviews, review.outcome),
            Record::FixIteration(iteration) => return keep(&mut self.fix_iterations, iteration),
            Record::PatchSummary(patch) => self.patch = Some(patch.changes),
            Record::TokenUsage(usage) => self.usage.add(usage.usage),
            Record::HookSessionStart(run)
            | Record::HookSubagentStart(run)
            | Record::HookSubagentStop(run)
            | Record::HookPreToolUse(run)
            | Record::HookPermissionRequest(run)
            | Record::HookPostToolUse(run)
            | Record::HookPreCompact(run)
            | Record::HookPostCompact(run)
            | Record::HookUserPromptSubmit(run)
            | Record::HookStop(run) => return keep(&mut self.hooks, run),
            _ => {}
        }
        Kept::Yes
    }

    /// What the record of the end says, where no record of its own said it before.
    pub(crate) fn at_the_end(
        &mut self,
        patch: Option<PatchChanges>,
        checks: Option<CheckOutcome>,
        review: Option<ReviewOutcome>,
    ) {
        self.patch = self.patch.take().or(patch);
        if self.checks.is_empty() {
            self.checks.extend(checks);
        }
        if self.reviews.is_empty() {
            self.reviews.extend(review);
        }
    }

    /// A result completes the request that it answers.
    fn dispatch(&mut self, dispatch: DynamicDispatch) -> Kept {
        let open = self.dispatches.iter_mut().rev().find(|open| {
            dispatch.phase == DispatchPhase::Result
                && open.phase == DispatchPhase::Request
                && open.context_id == dispatch.context_id
        });
        match open {
            Some(open) => {
                open.phase = DispatchPhase::Result;
                open.status = dispatch.status;
                open.summary = dispatch.summary;
                Kept::Yes
            }
            None => keep(&mut self.dispatches, dispatch),
        }
    }

    fn tool(&mut self, call: ToolExecutionSummary) -> Kept {
        let (begun, failed) = match call.event {
            ToolEvent::Start => (1, 0),
            ToolEvent::End => (0, u64::from(call.is_error == Some(true))),
        };
        let known = match self.tools.iter().position(|tool| tool.name == call.tool_name) {
            Some(at) => at,
            None => {
                let tool = ToolStory { name: call.tool_name, ..ToolStory::default() };
                if keep(&mut self.tools, tool) == Kept::No {
                    return Kept::No;
                }
                self.tools.len() - 1
            }
        };
        if let Some(tool) = self.tools.get_mut(known) {
            tool.calls += begun;
            tool.failed += failed;
        }
        Kept::Yes
    }
}
