#![doc = include_str!("../README.md")]
// The test that the README shows is run by tests/readme.rs.
#![allow(clippy::test_attr_in_doctest)]

#[doc(hidden)]
pub mod bindings;
mod compose;
mod handoff;
mod imports;
mod outcome;
#[cfg(not(target_family = "wasm"))]
pub mod testing;
mod tree;
mod types;
mod wire;

pub use compose::{MAX_COMPOSED, MAX_COMPOSED_CHARS, compose};
pub use handoff::{Handoff, MAX_PRIOR_RESULTS, PriorResult};
pub use imports::{model, tools};
pub use outcome::{Answer, Outcome};
pub use tree::{MAX_FILE_BYTES, MAX_SKIPPED_LISTED, Tree, TreeFile, Walk, WalkLimits};
pub use types::{
    ARTIFACTS, CONTEXT, ContextRef, ContextRefKind, CoverageStatus, Finding, ReviewCoverage, ReviewDecision, Severity,
    TaskProgress, TaskStatus, Verdict, WORKSPACE, WorkerResult,
};

/// Makes the crate a role: exports `brain:role/worker` and calls the given function for each handoff.
///
/// The function takes a [`Handoff`] and returns an [`Answer`]: an [`Outcome`], or a `Result<Outcome, E>` whose error
/// can be displayed. Call it once, at the root of a `cdylib` crate. In a native build it exports nothing, so that the
/// function can be tested.
///
/// ```
/// use brain_role::{Handoff, Outcome};
///
/// brain_role::role!(run);
///
/// fn run(handoff: Handoff) -> Outcome {
///     Outcome::completed(format!("looked into: {}", handoff.goal()))
/// }
/// # fn main() {}
/// ```
///
/// A panic ends the call as a trap; its message and place go to stderr, which Brain shows with the `failed` result.
#[macro_export]
macro_rules! role {
    ($run:expr) => {
        #[cfg(target_family = "wasm")]
        #[allow(unsafe_code)]
        const _: () = {
            struct Worker;
            impl $crate::__private::Guest for Worker {
                fn run(packet: $crate::__private::HandoffPacket) -> $crate::__private::WorkerResult {
                    $crate::__private::call(packet, $run)
                }
            }
    $crate::__private::export!(Worker with_types_in $crate::bindings);
        };
        #[cfg(not(target_family = "wasm"))]
        const _: fn($crate::__private::HandoffPacket) -> $crate::__private::WorkerResult =
            |packet| $crate::__private::call(packet, $run);
    };
}

/// What [`role!`] expands to. No promise is made about it.
#[doc(hidden)]
pub mod __private {
    pub use crate::bindings::brain::role::packets::{HandoffPacket, WorkerResult};
    pub use crate::bindings::export_worker as export;
    pub use crate::bindings::exports::brain::role::worker::Guest;

    use crate::{Answer, Handoff};

    /// One call of a role, from the contract's types to the contract's types.
    pub fn call<A: Answer>(packet: HandoffPacket, run: impl FnOnce(Handoff) -> A) -> WorkerResult {
        // The standard hook also advises to set a variable of an environment that a role does not have.
        #[cfg(target_family = "wasm")]
        std::panic::set_hook(Box::new(|panic| eprintln!("{panic}")));
        // The role owns its handoff; what the answer needs of it are the ids.
        let handoff = Handoff::from(packet);
        let ids = handoff.ids_only();
        run(handoff).answer(&ids).into()
    }
}
