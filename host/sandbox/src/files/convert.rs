//! The types of `brain_files` as those of the interface.

use std::time::SystemTime;

use brain_files::{Fault, Kind, NewTime, Stat};
use wasmtime_wasi::p2::bindings::clocks::wall_clock::Datetime;

use super::FsError;
use super::bindings::wasi::filesystem::types::{
    DescriptorStat, DescriptorType, ErrorCode, MetadataHashValue, NewTimestamp,
};
use crate::kill::Lifetime;

/// What a guest gets of a fault. A call that has to end is ended by a trap, of the kind that its lifetime names.
pub(crate) fn fault(fault: Fault, lifetime: &Lifetime) -> FsError {
    match fault {
        Fault::Code(code) => FsError::Code(code_of(code)),
        Fault::Stopped => FsError::Trap(match lifetime.check() {
            Err(killed) => killed.into(),
            Ok(()) => wasmtime::Error::msg("a file operation was stopped"),
        }),
    }
}

pub(crate) fn code_of(code: brain_files::ErrorCode) -> ErrorCode {
    use brain_files::ErrorCode as Ours;
    match code {
        Ours::Access => ErrorCode::Access,
        Ours::WouldBlock => ErrorCode::WouldBlock,
        Ours::Already => ErrorCode::Already,
        Ours::BadDescriptor => ErrorCode::BadDescriptor,
        Ours::Busy => ErrorCode::Busy,
        Ours::Deadlock => ErrorCode::Deadlock,
        Ours::Quota => ErrorCode::Quota,
        Ours::Exist => ErrorCode::Exist,
        Ours::FileTooLarge => ErrorCode::FileTooLarge,
        Ours::IllegalByteSequence => ErrorCode::IllegalByteSequence,
        Ours::InProgress => ErrorCode::InProgress,
        Ours::Interrupted => ErrorCode::Interrupted,
        Ours::Invalid => ErrorCode::Invalid,
        Ours::Io => ErrorCode::Io,
        Ours::IsDirectory => ErrorCode::IsDirectory,
        Ours::Loop => ErrorCode::Loop,
        Ours::TooManyLinks => ErrorCode::TooManyLinks,
        Ours::MessageSize => ErrorCode::MessageSize,
        Ours::NameTooLong => ErrorCode::NameTooLong,
        Ours::NoDevice => ErrorCode::NoDevice,
        Ours::NoEntry => ErrorCode::NoEntry,
        Ours::NoLock => ErrorCode::NoLock,
        Ours::InsufficientMemory => ErrorCode::InsufficientMemory,
        Ours::InsufficientSpace => ErrorCode::InsufficientSpace,
        Ours::NotDirectory => ErrorCode::NotDirectory,
        Ours::NotEmpty => ErrorCode::NotEmpty,
        Ours::NotRecoverable => ErrorCode::NotRecoverable,
        Ours::Unsupported => ErrorCode::Unsupported,
        Ours::NoTty => ErrorCode::NoTty,
        Ours::NoSuchDevice => ErrorCode::NoSuchDevice,
        Ours::Overflow => ErrorCode::Overflow,
        Ours::NotPermitted => ErrorCode::NotPermitted,
        Ours::Pipe => ErrorCode::Pipe,
        Ours::ReadOnly => ErrorCode::ReadOnly,
        Ours::InvalidSeek => ErrorCode::InvalidSeek,
        Ours::TextFileBusy => ErrorCode::TextFileBusy,
        Ours::CrossDevice => ErrorCode::CrossDevice,
    }
}

pub(crate) fn type_of(kind: Kind) -> DescriptorType {
    match kind {
        Kind::Folder => DescriptorType::Directory,
        Kind::File => DescriptorType::RegularFile,
        Kind::Link => DescriptorType::SymbolicLink,
    }
}

pub(crate) fn stat(stat: &Stat) -> DescriptorStat {
    let time = |time: Option<SystemTime>| {
        let since = time?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        Some(Datetime { seconds: since.as_secs(), nanoseconds: since.subsec_nanos() })
    };
    DescriptorStat {
        type_: type_of(stat.kind),
        link_count: stat.links,
        size: stat.bytes,
        data_access_timestamp: time(stat.accessed),
        data_modification_timestamp: time(stat.modified),
        // The host's view of when it changed the inode is no concern of a guest.
        status_change_timestamp: None,
    }
}

pub(crate) fn hash(stat: &Stat) -> MetadataHashValue {
    let (lower, upper) = stat.hash();
    MetadataHashValue { lower, upper }
}

pub(crate) fn new_time(stamp: NewTimestamp) -> NewTime {
    match stamp {
        NewTimestamp::NoChange => NewTime::Same,
        NewTimestamp::Now => NewTime::Now,
        NewTimestamp::Timestamp(Datetime { seconds, nanoseconds }) => NewTime::At { seconds, nanoseconds },
    }
}
