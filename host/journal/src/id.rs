//! Session ids: `<yyyymmdd>-<hhmmss>-<6 characters>`, so that they sort by age and are safe as file names.

use brain_packet::SessionId;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::error::{JournalError, quoted};

/// The alphabet of the random end of an id: base32 of RFC 4648 in lower case.
const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// Characters of the random end: 30 bits, enough that two runs of one second do not meet.
const RANDOM_CHARS: usize = 6;

/// Length of an id in characters, all of them ASCII.
pub const SESSION_ID_CHARS: usize = 8 + 1 + 6 + 1 + RANDOM_CHARS;

/// A fresh id for a session that starts now (UTC).
///
/// Uniqueness is decided by [`crate::Journal::create`], which never takes over an existing file;
/// [`crate::Journal::start`] does both.
///
/// # Errors
/// `journal.bad-id` if the clock stands in a year that has not four digits.
pub fn new_session_id() -> Result<SessionId, JournalError> {
    let now = Timestamp::now().to_zoned(TimeZone::UTC);
    let mut id = now.strftime("%Y%m%d-%H%M%S-").to_string();
    for _ in 0..RANDOM_CHARS {
        id.push(char::from(BASE32[rand::random_range(0..BASE32.len())]));
    }
    parse_session_id(&id)
}

/// Reads a session id, strictly: shape, lengths and alphabet.
///
/// # Errors
/// `journal.bad-id` for anything that [`new_session_id`] could not have made.
pub fn parse_session_id(text: &str) -> Result<SessionId, JournalError> {
    check_session_id(text)?;
    SessionId::try_from(text.to_owned()).map_err(|_| JournalError::BadId { id: quoted(text) })
}

/// Whether a text has the shape of a session id. An id with another shape is never joined to a path.
pub(crate) fn check_session_id(text: &str) -> Result<(), JournalError> {
    if text.len() == SESSION_ID_CHARS && could_begin_an_id(text) {
        Ok(())
    } else {
        Err(JournalError::BadId { id: quoted(text) })
    }
}

/// Whether a text is the beginning of some session id (the whole id and nothing at all included).
pub(crate) fn could_begin_an_id(text: &str) -> bool {
    text.len() <= SESSION_ID_CHARS
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 15 => byte == b'-',
            0..=14 => byte.is_ascii_digit(),
            _ => BASE32.contains(&byte),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_id_has_the_shape_and_reads_back() {
        let id = new_session_id().unwrap();
        assert_eq!(parse_session_id(id.as_str()).unwrap(), id);
        assert_eq!(id.as_str().len(), SESSION_ID_CHARS);
    }

    #[test]
    fn nothing_else_is_an_id() {
        for bad in [
            "",
            "20260131-235959-k3v7q",
            "20260131-235959-k3v7qaa",
            "20260131-235959-k3v7q1",
            "20260131-235959-K3V7QA",
            "20260131_235959-k3v7qa",
            "2026013a-235959-k3v7qa",
            "../../../etc/passwd-aa",
            "20260131-235959-k3v7/a",
            "20260131-235959-k3v7q\n",
            "２０260131-2359-k3v7qa",
        ] {
            assert!(parse_session_id(bad).is_err(), "{bad:?}");
        }
    }
}
