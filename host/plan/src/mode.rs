//! How wide a run may go.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How wide a run goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Focused: few tasks, and risky steps are asked about.
    #[default]
    Auto,
    /// Expansive: more tasks, more roles side by side, more attempts to mend.
    Radical,
}

/// What a mode allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModeLimits {
    /// Tasks that a planner may make.
    pub max_todos: usize,
    /// Workers side by side, at least; the operator may allow more.
    pub min_parallel: usize,
    /// Workers of a planner's plan, the primary among them, at least; the operator may allow more.
    pub min_workers: usize,
    /// Times that the primary is asked to mend what checks or the review found.
    pub max_fix_iterations: usize,
    /// Specialists that the primary may call in while it works.
    pub max_dispatches: usize,
    /// Whether risky steps are asked about.
    pub asks: bool,
}

/// What holds for one plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanLimits {
    /// Tasks that a planner may make.
    pub max_todos: usize,
    /// Support workers that run side by side.
    pub max_parallel: usize,
    /// Workers of a planner's plan, the primary among them.
    pub max_workers: usize,
}

impl Mode {
    /// The mode as people write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Radical => "radical",
        }
    }

    /// What the mode allows.
    pub const fn limits(self) -> ModeLimits {
        match self {
            Self::Auto => ModeLimits {
                max_todos: 6,
                min_parallel: 1,
                min_workers: 1,
                max_fix_iterations: 1,
                max_dispatches: 2,
                asks: true,
            },
            Self::Radical => ModeLimits {
                max_todos: 8,
                min_parallel: 4,
                min_workers: 4,
                max_fix_iterations: 2,
                max_dispatches: 4,
                asks: false,
            },
        }
    }

    /// The limits of a plan, where the operator allows `configured` workers side by side.
    pub fn plan_limits(self, configured: usize) -> PlanLimits {
        let mode = self.limits();
        PlanLimits {
            max_todos: mode.max_todos,
            max_parallel: configured.max(mode.min_parallel),
            max_workers: configured.max(mode.min_workers),
        }
    }
}
