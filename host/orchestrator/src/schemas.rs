//! The published schemas, generated from the types that read and write the files.

use brain_packet::{HandoffPacket, WorkerResult};
use brain_sandbox::{CheckReport, Receipt};
use schemars::{JsonSchema, schema_for};

use crate::config::ConfigFile;
use crate::manifest::Manifest;
use crate::plan::Plan;
use crate::report::RunReport;
use crate::route::Clarification;

/// Every published schema: its file name, and its text.
pub fn schemas() -> Vec<(&'static str, String)> {
    fn text<T: JsonSchema>() -> String {
        let mut text = serde_json::to_string_pretty(&schema_for!(T)).unwrap_or_default();
        text.push('\n');
        text
    }
    vec![
        ("check-report.schema.json", text::<CheckReport>()),
        ("clarification.schema.json", text::<Clarification>()),
        ("config.schema.json", text::<ConfigFile>()),
        ("handoff-packet.schema.json", text::<HandoffPacket>()),
        ("receipt.schema.json", text::<Receipt>()),
        ("role.schema.json", text::<Manifest>()),
        ("run-plan.schema.json", text::<Plan>()),
        ("run-report.schema.json", text::<RunReport>()),
        ("worker-result.schema.json", text::<WorkerResult>()),
    ]
}
