//! The published schemas, generated from the types that read and write the files.

use brain_changes::ChangeSet;
use brain_journal::JournalLine;
use brain_manifest::{ConfigFile, EffectiveGrant, Manifest, ProjectFile};
use brain_packet::{HandoffPacket, WorkerResult};
use brain_plan::{Clarification, Plan};
use brain_sandbox::{CheckReport, Receipt};
use schemars::{JsonSchema, schema_for};

use crate::apply::ApplyReport;
use crate::confirmed::Confirmed;
use crate::proposals::ShownProposal;
use crate::report::RunReport;
use crate::tighten::Tightened;

/// Every published schema: its file name, and its text.
pub fn schemas() -> Vec<(&'static str, String)> {
    fn text<T: JsonSchema>() -> String {
        let mut text = serde_json::to_string_pretty(&schema_for!(T)).unwrap_or_default();
        text.push('\n');
        text
    }
    vec![
        ("apply-report.schema.json", text::<ApplyReport>()),
        ("change-set.schema.json", text::<ChangeSet>()),
        ("check-report.schema.json", text::<CheckReport>()),
        ("clarification.schema.json", text::<Clarification>()),
        ("config.schema.json", text::<ConfigFile>()),
        ("confirmed.schema.json", text::<Confirmed>()),
        ("effective-grant.schema.json", text::<EffectiveGrant>()),
        ("handoff-packet.schema.json", text::<HandoffPacket>()),
        ("journal-record.schema.json", text::<JournalLine<'static>>()),
        ("project.schema.json", text::<ProjectFile>()),
        ("proposal.schema.json", text::<ShownProposal>()),
        ("receipt.schema.json", text::<Receipt>()),
        ("role.schema.json", text::<Manifest>()),
        ("run-plan.schema.json", text::<Plan>()),
        ("run-report.schema.json", text::<RunReport>()),
        ("tightened.schema.json", text::<Tightened>()),
        ("worker-result.schema.json", text::<WorkerResult>()),
    ]
}
