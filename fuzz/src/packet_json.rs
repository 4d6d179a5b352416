//! Packets as JSON: what a journal, a file or another program may hold.

use std::error::Error;
use std::fmt::Debug;

use brain_packet::{AgentMessage, BrainTaskContext, Digest, HandoffPacket, Party, WorkerResult};
use serde::{Serialize, de::DeserializeOwned};

/// Nothing panics; what parses is within its limits and survives being written; what does not is told in words that are safe
/// to print.
pub fn check(data: &[u8]) {
    let Ok(json) = std::str::from_utf8(data) else {
        return;
    };
    match HandoffPacket::from_json(json) {
        Ok(packet) => {
            packet.check().expect("a handoff that was read is within its limits");
            survives(&packet);
        }
        Err(error) => printable(&error),
    }
    match WorkerResult::from_json(json) {
        Ok(packet) => survives(&packet),
        Err(error) => printable(&error),
    }
    if let Ok(message) = serde_json::from_str::<AgentMessage>(json) {
        let workers = [&message.from, &message.to].into_iter().filter(|party| matches!(party, Party::Role(_))).count();
        assert_eq!(workers, 1, "a message goes between Brain and one worker: {message:?}");
        survives(&message);
    }
    if let Ok(task) = serde_json::from_str::<BrainTaskContext>(json) {
        survives(&task);
    }
    if let Ok(digest) = serde_json::from_str::<Digest>(json) {
        survives(&digest);
    }
}

fn survives<T: Serialize + DeserializeOwned + PartialEq + Debug>(packet: &T) {
    let written = serde_json::to_string(packet).expect("a packet can be written");
    let again: T = serde_json::from_str(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
    assert_eq!(&again, packet, "{written}");
}

fn printable(error: &dyn Error) {
    let said = error.to_string();
    assert!(!said.chars().any(char::is_control), "{said:?}");
}
