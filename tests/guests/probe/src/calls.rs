//! The calls of a script, made as it says.

use std::collections::HashMap;

use wasip2::clocks::wall_clock::Datetime;
use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{
    Advice, Descriptor, DescriptorFlags, DescriptorStat, DescriptorType, ErrorCode, NewTimestamp, OpenFlags, PathFlags,
    filesystem_error_code,
};
use wasip2::io::streams::{InputStream, OutputStream, StreamError};

use crate::script::{Answer, Bytes, CONTEXT, FREE, How, MAX_TALLIED, Op, Slot, Stamp, Stat, Value, WORKSPACE};

/// Bytes that one `blocking-write-and-flush` takes, by WASI's rule.
const MAX_BLOCKING_WRITE: usize = 4096;

enum Stream {
    In(InputStream),
    Out(OutputStream),
}

/// What a script holds.
pub(crate) struct Calls {
    descriptors: HashMap<Slot, Descriptor>,
    streams: HashMap<Slot, Stream>,
}

/// Why there is no value.
enum Fault {
    Code(ErrorCode),
    Stream(StreamError),
    Broken(String),
}

impl From<ErrorCode> for Fault {
    fn from(code: ErrorCode) -> Self {
        Self::Code(code)
    }
}

impl From<StreamError> for Fault {
    fn from(error: StreamError) -> Self {
        Self::Stream(error)
    }
}

type Done = Result<Value, Fault>;

impl Calls {
    /// With the preopened folders in their slots.
    pub(crate) fn start() -> Self {
        let mut descriptors = HashMap::new();
        let mut free = FREE + 1_000_000;
        for (descriptor, path) in get_directories() {
            let slot = match path.as_str() {
                "/workspace" => WORKSPACE,
                "/context" => CONTEXT,
                "/artifacts" => crate::script::ARTIFACTS,
                _ => {
                    free += 1;
                    free
                }
            };
            descriptors.insert(slot, descriptor);
        }
        Self { descriptors, streams: HashMap::new() }
    }

    /// Does one operation; `round` is that of the repetition that it is part of.
    pub(crate) fn answer(&mut self, op: &Op, round: Option<u64>) -> Answer {
        match self.value(op, round) {
            Ok(value) => Answer::Ok(value),
            Err(Fault::Code(code)) => Answer::Error(code.name().to_owned()),
            Err(Fault::Stream(StreamError::Closed)) => Answer::Error("closed".to_owned()),
            Err(Fault::Stream(StreamError::LastOperationFailed(error))) => {
                Answer::Error(match filesystem_error_code(&error) {
                    Some(code) => code.name().to_owned(),
                    None => format!("no code: {}", error.to_debug_string()),
                })
            }
            Err(Fault::Broken(why)) => Answer::Broken(why),
        }
    }

    fn at(&self, slot: Slot) -> Result<&Descriptor, Fault> {
        self.descriptors.get(&slot).ok_or_else(|| Fault::Broken(format!("no descriptor in slot {slot}")))
    }

    fn input(&self, slot: Slot) -> Result<&InputStream, Fault> {
        match self.streams.get(&slot) {
            Some(Stream::In(stream)) => Ok(stream),
            _ => Err(Fault::Broken(format!("no input stream in slot {slot}"))),
        }
    }

    fn output(&self, slot: Slot) -> Result<&OutputStream, Fault> {
        match self.streams.get(&slot) {
            Some(Stream::Out(stream)) => Ok(stream),
            _ => Err(Fault::Broken(format!("no output stream in slot {slot}"))),
        }
    }

    fn keep(&mut self, slot: Slot, stream: Stream) -> Done {
        self.streams.insert(slot, stream);
        Ok(Value::Done)
    }

    #[allow(clippy::too_many_lines, reason = "one arm for each call of the interface")]
    fn value(&mut self, op: &Op, round: Option<u64>) -> Done {
        let path = |path: &str| match round {
            Some(n) if path.contains("{n}") => path.replace("{n}", &n.to_string()),
            _ => path.to_owned(),
        };
        Ok(match op {
            Op::Preopens => Value::Names(get_directories().into_iter().map(|(_, path)| path).collect()),
            Op::OpenAt { fd, path: at, how, into } => {
                let (path_flags, open, flags) = flags_of(*how);
                let opened = self.at(*fd)?.open_at(path_flags, &path(at), open, flags)?;
                self.descriptors.insert(*into, opened);
                Value::Done
            }
            Op::Stat { fd } => stat_of(&self.at(*fd)?.stat()?),
            Op::StatAt { fd, path: at, follow } => stat_of(&self.at(*fd)?.stat_at(following(*follow), &path(at))?),
            Op::Read { fd, length, offset } => {
                let (bytes, end) = self.at(*fd)?.read(*length, *offset)?;
                Value::Data { bytes: Bytes(bytes), end }
            }
            Op::Write { fd, data, times, offset } => {
                Value::Count(self.at(*fd)?.write(&repeated(data, *times)?, *offset)?)
            }
            Op::SetSize { fd, size } => done(self.at(*fd)?.set_size(*size)?),
            Op::SetTimes { fd, accessed, modified } => {
                done(self.at(*fd)?.set_times(stamp(*accessed), stamp(*modified))?)
            }
            Op::SetTimesAt { fd, path: at, follow, accessed, modified } => {
                done(self.at(*fd)?.set_times_at(following(*follow), &path(at), stamp(*accessed), stamp(*modified))?)
            }
            Op::Sync { fd } => done(self.at(*fd)?.sync()?),
            Op::SyncData { fd } => done(self.at(*fd)?.sync_data()?),
            Op::Advise { fd, offset, length, advice } => {
                done(self.at(*fd)?.advise(*offset, *length, advice_of(*advice)?)?)
            }
            Op::GetFlags { fd } => names_of(self.at(*fd)?.get_flags()?),
            Op::GetType { fd } => Value::Text(kind(self.at(*fd)?.get_type()?).to_owned()),
            Op::ReadlinkAt { fd, path: at } => Value::Text(self.at(*fd)?.readlink_at(&path(at))?),
            Op::SymlinkAt { fd, target, path: at } => done(self.at(*fd)?.symlink_at(&path(target), &path(at))?),
            Op::LinkAt { fd, path: at, follow, to, to_path } => {
                done(self.at(*fd)?.link_at(following(*follow), &path(at), self.at(*to)?, &path(to_path))?)
            }
            Op::RenameAt { fd, path: at, to, to_path } => {
                done(self.at(*fd)?.rename_at(&path(at), self.at(*to)?, &path(to_path))?)
            }
            Op::UnlinkFileAt { fd, path: at } => done(self.at(*fd)?.unlink_file_at(&path(at))?),
            Op::CreateDirectoryAt { fd, path: at } => done(self.at(*fd)?.create_directory_at(&path(at))?),
            Op::RemoveDirectoryAt { fd, path: at } => done(self.at(*fd)?.remove_directory_at(&path(at))?),
            Op::ReadDirectory { fd, most } => {
                let stream = self.at(*fd)?.read_directory()?;
                let mut entries = Vec::new();
                while (entries.len() as u64) < *most {
                    let Some(entry) = stream.read_directory_entry()? else { break };
                    entries.push((kind(entry.type_).to_owned(), entry.name));
                }
                Value::Entries(entries)
            }
            Op::MetadataHash { fd } => {
                let hash = self.at(*fd)?.metadata_hash()?;
                Value::Hash(hash.lower, hash.upper)
            }
            Op::MetadataHashAt { fd, path: at, follow } => {
                let hash = self.at(*fd)?.metadata_hash_at(following(*follow), &path(at))?;
                Value::Hash(hash.lower, hash.upper)
            }
            Op::IsSameObject { fd, other } => Value::Same(self.at(*fd)?.is_same_object(self.at(*other)?)),
            Op::Drop { fd } => {
                self.at(*fd)?;
                self.descriptors.remove(fd);
                Value::Done
            }
            Op::ReadViaStream { fd, offset, into } => {
                let stream = self.at(*fd)?.read_via_stream(*offset)?;
                self.keep(*into, Stream::In(stream))?
            }
            Op::WriteViaStream { fd, offset, into } => {
                let stream = self.at(*fd)?.write_via_stream(*offset)?;
                self.keep(*into, Stream::Out(stream))?
            }
            Op::AppendViaStream { fd, into } => {
                let stream = self.at(*fd)?.append_via_stream()?;
                self.keep(*into, Stream::Out(stream))?
            }
            Op::StreamRead { stream, length, whole } => read(self.input(*stream)?, *length, *whole)?,
            Op::StreamSkip { stream, length } => Value::Count(self.input(*stream)?.blocking_skip(*length)?),
            Op::CheckWrite { stream } => Value::Count(self.output(*stream)?.check_write()?),
            Op::StreamWrite { stream, data, times } => {
                let stream = self.output(*stream)?;
                for piece in repeated(data, *times)?.chunks(MAX_BLOCKING_WRITE) {
                    stream.blocking_write_and_flush(piece)?;
                }
                Value::Done
            }
            Op::StreamWriteRaw { stream, data, times } => done(self.output(*stream)?.write(&repeated(data, *times)?)?),
            Op::StreamZeroes { stream, length } => done(self.output(*stream)?.write_zeroes(*length)?),
            Op::StreamFlush { stream } => done(self.output(*stream)?.blocking_flush()?),
            Op::StreamSplice { stream, from, length } => {
                Value::Count(self.output(*stream)?.blocking_splice(self.input(*from)?, *length)?)
            }
            Op::StreamDrop { stream } => match self.streams.remove(stream) {
                Some(_) => Value::Done,
                None => return Err(Fault::Broken(format!("no stream in slot {stream}"))),
            },
            Op::Await { fd, path: at } => {
                let at = path(at);
                while self.at(*fd)?.stat_at(PathFlags::empty(), &at).is_err() {}
                Value::Done
            }
            Op::Repeat { times, until_error, ops } => self.repeat(*times, *until_error, ops),
        })
    }

    fn repeat(&mut self, times: u64, until_error: bool, ops: &[Op]) -> Value {
        let mut tally: HashMap<Answer, u64> = HashMap::new();
        let (mut rounds, mut others, mut failed) = (0, 0, false);
        while rounds < times && !(failed && until_error) {
            for op in ops {
                let answer = self.answer(op, Some(rounds));
                failed |= !matches!(answer, Answer::Ok(_));
                let full = tally.len() >= MAX_TALLIED;
                match tally.get_mut(&answer) {
                    Some(count) => *count += 1,
                    None if full => others += 1,
                    None => drop(tally.insert(answer, 1)),
                }
            }
            rounds += 1;
        }
        let mut answers: Vec<_> = tally.into_iter().collect();
        answers.sort();
        Value::Tally { rounds, answers, others }
    }
}

fn done((): ()) -> Value {
    Value::Done
}

fn repeated(data: &Bytes, times: u64) -> Result<Vec<u8>, Fault> {
    let times = usize::try_from(times).ok().filter(|times| data.0.len().checked_mul(*times).is_some());
    times.map(|times| data.0.repeat(times)).ok_or_else(|| Fault::Broken("more data than there is memory".to_owned()))
}

fn read(stream: &InputStream, length: u64, whole: bool) -> Done {
    let mut bytes = Vec::new();
    loop {
        match stream.blocking_read(length - bytes.len() as u64) {
            Ok(more) => bytes.extend(more),
            Err(StreamError::Closed) if whole => return Ok(Value::Data { bytes: Bytes(bytes), end: true }),
            Err(error) => return Err(error.into()),
        }
        if !whole || bytes.len() as u64 >= length {
            return Ok(Value::Data { bytes: Bytes(bytes), end: false });
        }
    }
}

fn following(follow: bool) -> PathFlags {
    if follow { PathFlags::SYMLINK_FOLLOW } else { PathFlags::empty() }
}

fn flags_of(how: How) -> (PathFlags, OpenFlags, DescriptorFlags) {
    let opens = [
        (how.create, OpenFlags::CREATE),
        (how.directory, OpenFlags::DIRECTORY),
        (how.exclusive, OpenFlags::EXCLUSIVE),
        (how.truncate, OpenFlags::TRUNCATE),
    ];
    let open = opens.iter().filter(|(set, _)| *set).fold(OpenFlags::empty(), |all, (_, flag)| all | *flag);
    let kinds = [
        (how.read, DescriptorFlags::READ),
        (how.write, DescriptorFlags::WRITE),
        (how.file_integrity_sync, DescriptorFlags::FILE_INTEGRITY_SYNC),
        (how.data_integrity_sync, DescriptorFlags::DATA_INTEGRITY_SYNC),
        (how.requested_write_sync, DescriptorFlags::REQUESTED_WRITE_SYNC),
        (how.mutate_directory, DescriptorFlags::MUTATE_DIRECTORY),
    ];
    let flags = kinds.iter().filter(|(set, _)| *set).fold(DescriptorFlags::empty(), |all, (_, flag)| all | *flag);
    (following(how.symlink_follow), open, flags)
}

fn names_of(flags: DescriptorFlags) -> Value {
    let all = [
        (DescriptorFlags::READ, "read"),
        (DescriptorFlags::WRITE, "write"),
        (DescriptorFlags::FILE_INTEGRITY_SYNC, "file-integrity-sync"),
        (DescriptorFlags::DATA_INTEGRITY_SYNC, "data-integrity-sync"),
        (DescriptorFlags::REQUESTED_WRITE_SYNC, "requested-write-sync"),
        (DescriptorFlags::MUTATE_DIRECTORY, "mutate-directory"),
    ];
    Value::Names(all.iter().filter(|(flag, _)| flags & *flag == *flag).map(|(_, name)| (*name).to_owned()).collect())
}

fn stamp(stamp: Stamp) -> NewTimestamp {
    match stamp {
        Stamp::NoChange => NewTimestamp::NoChange,
        Stamp::Now => NewTimestamp::Now,
        Stamp::At(seconds, nanoseconds) => NewTimestamp::Timestamp(Datetime { seconds, nanoseconds }),
    }
}

fn advice_of(number: u8) -> Result<Advice, Fault> {
    Ok(match number {
        0 => Advice::Normal,
        1 => Advice::Sequential,
        2 => Advice::Random,
        3 => Advice::WillNeed,
        4 => Advice::DontNeed,
        5 => Advice::NoReuse,
        _ => return Err(Fault::Broken(format!("no advice {number}"))),
    })
}

fn kind(kind: DescriptorType) -> &'static str {
    match kind {
        DescriptorType::Unknown => "unknown",
        DescriptorType::BlockDevice => "block-device",
        DescriptorType::CharacterDevice => "character-device",
        DescriptorType::Directory => "directory",
        DescriptorType::Fifo => "fifo",
        DescriptorType::SymbolicLink => "symbolic-link",
        DescriptorType::RegularFile => "regular-file",
        DescriptorType::Socket => "socket",
    }
}

fn stat_of(stat: &DescriptorStat) -> Value {
    let time = |time: Option<Datetime>| time.map(|t| (t.seconds, t.nanoseconds));
    Value::Stat(Stat {
        kind: kind(stat.type_).to_owned(),
        links: stat.link_count,
        size: stat.size,
        accessed: time(stat.data_access_timestamp),
        modified: time(stat.data_modification_timestamp),
        changed: time(stat.status_change_timestamp),
    })
}
