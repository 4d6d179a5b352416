//! How much of a file, of a session, and of a field of it is handed on as context. The seed's public contract: these three
//! change together, here and nowhere else.

/// Most bytes of one file that is put into a text as a whole.
pub const MAX_INLINE_FILE_BYTES: u64 = 64 * 1024;

/// Most characters of the snapshot of one session.
pub const MAX_INLINE_SESSION_CHARS: usize = 24 * 1024;

/// Most characters of one field (a prompt, a summary, an error) in a snapshot or a list.
pub const MAX_SESSION_FIELD_CHARS: usize = 6 * 1024;
