//! The limits of one call: every one has a name, a unit and a default that is on.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

/// The interval at which running guests are interrupted to check their deadline, their CPU time and cancellation, in
/// milliseconds. A call can overshoot its deadline by one tick, and by the length of one bounded host call.
pub const TICK_MS: u64 = 10;

/// Stack that compiled code of a guest may use, in bytes. Deeper recursion is a trap, typed as [`LimitName::Stack`].
pub const STACK_BYTES: usize = 1 << 20;

/// What a limit is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Milliseconds.
    Millis,
    /// Bytes.
    Bytes,
    /// Things.
    Count,
}

/// The highest time that a limit may be, in milliseconds: a year.
pub const MAX_MILLIS: u64 = 365 * 24 * 60 * 60 * 1000;
/// The highest number of bytes that a limit may be: 1 TiB.
pub const MAX_BYTES: u64 = 1 << 40;
/// The highest number of things that a limit may be.
pub const MAX_COUNT: u64 = 1_000_000_000;

impl Unit {
    const fn most(self) -> u64 {
        match self {
            Self::Millis => MAX_MILLIS,
            Self::Bytes => MAX_BYTES,
            Self::Count => MAX_COUNT,
        }
    }
}

/// What is known of a limit that a manifest may ask for and an operator may cap.
struct Row {
    key: &'static str,
    code: &'static str,
    words: &'static str,
    unit: Unit,
    least: u64,
    get: fn(&Limits) -> u64,
}

/// Makes [`Limits`], [`PartialLimits`] and [`LimitName`] from one table, so that a limit is defined in one place:
/// its documentation, then `key: Name, "name in codes", "name for readers", Unit from least = default`. The least is 1 where no
/// call could do anything with 0, and 0 where that means "none of it".
macro_rules! limits {
    ($($(#[doc = $doc:literal])+ $key:ident: $name:ident, $id:literal, $words:literal, $unit:ident from $least:literal = $default:expr;)+) => {
        /// The limits of one call. In a manifest each may be given by its name; what is not given has the default.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct Limits {
            $($(#[doc = $doc])+ #[schemars(range(min = $least, max = Unit::$unit.most()))] pub $key: u64,)+
        }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($key: $default,)+ }
            }
        }

        impl Limits {
            /// Each limit at most as high as in `cap`: what the operator allows wins over what a manifest asks.
            #[must_use]
            pub fn capped_by(&self, cap: &Limits) -> Limits {
                Limits { $($key: self.$key.min(cap.$key),)+ }
            }
        }

        /// Some of the [`Limits`], by the same names: what a file says that need not say everything.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct PartialLimits {
            $(
                $(#[doc = $doc])+
                #[schemars(range(min = $least, max = Unit::$unit.most()))]
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $key: Option<u64>,
            )+
        }

        impl<'de> Visitor<'de> for Table {
            type Value = PartialLimits;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table of limits")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PartialLimits, A::Error> {
                let mut limits = PartialLimits::default();
                while let Some(name) = map.next_key_seed(Key)? {
                    match name {
                        $(LimitName::$name if limits.$key.is_some() => {
                            return Err(A::Error::duplicate_field(stringify!($key)));
                        })+
                        $(LimitName::$name => limits.$key = map.next_value_seed(Value(name))?,)+
                        LimitName::Stack => {}
                    }
                }
                Ok(limits)
            }
        }

        /// The keys that there are.
        const KEYS: &[&str] = &[$(stringify!($key),)+];

        impl PartialLimits {
            /// `base` with what is given here.
            #[must_use]
            pub fn over(&self, base: &Limits) -> Limits {
                Limits { $($key: self.$key.unwrap_or(base.$key),)+ }
            }
        }

        /// A limit: one of [`Limits`], or one that is fixed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum LimitName {
            $(#[doc = concat!("[`Limits::", stringify!($key), "`].")] $name,)+
            /// [`STACK_BYTES`]: a property of the host, not of a role.
            Stack,
        }

        impl LimitName {
            /// Those that are in [`Limits`], in the order of its fields.
            pub const SETTABLE: &[LimitName] = &[$(Self::$name,)+];

            fn row(self) -> &'static Row {
                match self {
                    $(Self::$name => &Row {
                        key: stringify!($key),
                        code: concat!("sandbox.limit.", $id),
                        words: $words,
                        unit: Unit::$unit,
                        least: $least,
                        get: |limits| limits.$key,
                    },)+
                    Self::Stack => &Row {
                        key: "",
                        code: "sandbox.limit.stack",
                        words: "stack",
                        unit: Unit::Bytes,
                        least: 1,
                        get: |_| STACK_BYTES as u64,
                    },
                }
            }
        }
    };
}

limits! {
    /// Wall time of the call in milliseconds, instantiation included. Reaching it ends the call.
    deadline_ms: Deadline, "deadline", "deadline", Millis from 1 = 60_000;
    /// CPU time of the call in milliseconds, of the guest and of the host for it. Unlike the wall time it does not pass
    /// while the call waits, nor while the machine is busy with something else. Reaching it ends the call.
    cpu_ms: Cpu, "cpu", "CPU time", Millis from 1 = 60_000;
    /// Bytes of linear memory, summed over all memories of all instances of the call. Growth beyond it fails, and a
    /// guest that dies of that has reached this limit.
    memory_bytes: Memory, "memory", "memory", Bytes from 1 = 256 << 20;
    /// Table elements, summed over all tables. Growth beyond it fails.
    table_elements: TableElements, "table-elements", "table elements", Count from 0 = 100_000;
    /// Core instances that the component may consist of, and as many memories and tables. A component with more is not
    /// instantiated.
    instances: Instances, "instances", "instances", Count from 1 = 256;
    /// Bytes of stdout and stderr together that the private log keeps, half of it from the beginning and half from the
    /// end. The rest is counted and dropped: writing more is not an error.
    output_bytes: Output, "output", "output", Bytes from 0 = 256 << 10;
    /// Bytes of the returned `worker-result`: its text, and what the host needs for each item of a list. A larger result
    /// ends the call.
    result_bytes: Result, "result", "result size", Bytes from 1 = 1 << 20;
    /// Bytes that the guest may hand to the host in one call of a host function, and in its result before that is
    /// measured. It bounds what overlapping strings can make the host allocate. Exceeding it ends the call.
    hostcall_bytes: HostCall, "host-call", "host call size", Bytes from 1 = 8 << 20;
    /// Random bytes that the guest may ask for in all. Asking for more ends the call.
    random_bytes: Random, "random", "random bytes", Bytes from 0 = 16 << 20;
    /// Handles (files, folders, streams, pollables) that may be open at once. Opening more files fails; a function that
    /// cannot fail ends the call.
    open_handles: OpenHandles, "open-handles", "open handles", Count from 1 = 1_024;
    /// Bytes that may lie below `/artifacts` at once. Writing more fails.
    artifact_bytes: ArtifactBytes, "artifact-bytes", "artifact bytes", Bytes from 0 = 64 << 20;
    /// Files and folders that may lie below `/artifacts` at once. Creating more fails.
    artifact_files: ArtifactFiles, "artifact-files", "artifact files", Count from 0 = 1_000;
    /// Bytes that the staged changes of `/workspace` may hold at once: new files, and copies of those that were changed.
    /// Writing more fails.
    staged_bytes: StagedBytes, "staged-bytes", "staged bytes", Bytes from 0 = 256 << 20;
    /// Files and folders of `/workspace` that may be created, changed, moved or removed. Changing more fails.
    staged_files: StagedFiles, "staged-files", "staged files", Count from 0 = 10_000;
    /// Bytes that may be written in all, wherever they go and whatever they replace. Writing more fails.
    written_bytes: WrittenBytes, "written-bytes", "written bytes", Bytes from 0 = 1 << 30;
    /// Files and folders that may be created in all, whether or not they still exist. Creating more fails.
    created_files: CreatedFiles, "created-files", "created files", Count from 0 = 20_000;
    /// Names that may be looked at in listed folders, whether or not the role is shown them. Listing more fails.
    listed_entries: ListedEntries, "listed-entries", "listed entries", Count from 0 = 1_000_000;
}

/// The limits that a manifest asks for; those that it does not name have their default.
pub(crate) fn asked<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Limits, D::Error> {
    Ok(PartialLimits::deserialize(deserializer)?.over(&Limits::default()))
}

/// Reads a table of limits.
struct Table;

/// Reads the key of a limit.
struct Key;

impl<'de> DeserializeSeed<'de> for Key {
    type Value = LimitName;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<LimitName, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Key {
    type Value = LimitName;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a limit")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<LimitName, E> {
        let named = LimitName::SETTABLE.iter().find(|name| name.key() == Some(key));
        named.copied().ok_or_else(|| E::unknown_field(key, KEYS))
    }
}

impl<'de> Deserialize<'de> for PartialLimits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct("Limits", KEYS, Table)
    }
}

/// Reads the value of a limit, and holds it to what that may be.
struct Value(LimitName);

impl<'de> DeserializeSeed<'de> for Value {
    type Value = Option<u64>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<u64>, D::Error> {
        let Some(value) = Option::<u64>::deserialize(deserializer)? else { return Ok(None) };
        self.0.check(value).map_err(D::Error::custom)?;
        Ok(Some(value))
    }
}

impl LimitName {
    /// The least that it may be: 0 where that means "none of it", such as no bytes written; 1 where a call could do nothing.
    pub fn least(self) -> u64 {
        self.row().least
    }

    /// The most that it may be. What is higher is a mistake: it is more than any machine has, and no limit.
    pub fn most(self) -> u64 {
        self.unit().most()
    }

    /// Whether it may be `value`.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn check(self, value: u64) -> Result<(), String> {
        let key = self.row().key;
        if value < self.least() {
            Err(format!(
                "the limit `{key}` is {value}, with which no call can do anything; it is at least {}",
                self.least()
            ))
        } else if value > self.most() {
            Err(format!(
                "the limit `{key}` is {value}, and the most that it may be is {}, {}",
                self.most(),
                self.show(self.most())
            ))
        } else {
            Ok(())
        }
    }

    /// The key below `[limits]` of a manifest or a configuration file; none where nothing can raise it.
    pub fn key(self) -> Option<&'static str> {
        Some(self.row().key).filter(|key| !key.is_empty())
    }

    /// The stable code of the outcome, such as `sandbox.limit.deadline`.
    pub fn code(self) -> &'static str {
        self.row().code
    }

    /// What it is counted in.
    pub fn unit(self) -> Unit {
        self.row().unit
    }

    /// The value of this limit in a call, in its unit.
    pub fn value_in(self, limits: &Limits) -> u64 {
        (self.row().get)(limits)
    }

    /// `value` with its unit, for a reader: `60 s`, `256 MiB`, `1024`.
    pub fn show(self, value: u64) -> String {
        match self.unit() {
            Unit::Millis if value >= 1000 && value.is_multiple_of(1000) => format!("{} s", value / 1000),
            Unit::Millis => format!("{value} ms"),
            Unit::Bytes => show_bytes(value),
            Unit::Count => value.to_string(),
        }
    }

    /// How to raise it, or why that cannot be done.
    pub fn remedy(self) -> String {
        match self.key() {
            Some(key) => format!(
                "if the role needs more, raise `{key}` below `[limits]` of its role.toml, and of config.toml where that allows less"
            ),
            None => "this bound is fixed: the role has to do with it".into(),
        }
    }
}

impl fmt::Display for LimitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().words)
    }
}

/// `n` bytes for a reader: exact below 1 KiB, else in the largest binary unit with one decimal where it is not whole.
pub fn show_bytes(n: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if n < 1 << 10 {
        return if n == 1 { "1 byte".into() } else { format!("{n} bytes") };
    }
    for (unit, power) in UNITS.iter().zip(1_u32..) {
        let size = 1_u64 << (10 * power);
        if n.is_multiple_of(size) && n / size < 1 << 10 {
            return format!("{} {unit}", n / size);
        }
        let shown = format!("{:.1}", n as f64 / size as f64);
        // What is nearly the next unit is that one.
        if shown != "1024.0" && n / size < 1 << 10 {
            return format!("{shown} {unit}");
        }
    }
    format!("{n} bytes")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn an_operator_cap_never_raises_a_limit() {
        let asked = Limits { deadline_ms: 5, memory_bytes: u64::MAX, ..Limits::default() };
        let capped = asked.capped_by(&Limits::default());
        assert_eq!(capped.deadline_ms, 5);
        assert_eq!(capped.memory_bytes, Limits::default().memory_bytes);
    }

    #[test]
    fn what_a_file_does_not_say_is_as_it_was() {
        let base = Limits { cpu_ms: 7, ..Limits::default() };
        let some: PartialLimits = serde_json::from_str(r#"{"staged_files": 3}"#).unwrap();
        assert_eq!(some.over(&base), Limits { staged_files: 3, ..base });
        assert_eq!(serde_json::to_string(&some).unwrap(), r#"{"staged_files":3}"#);
        assert!(serde_json::from_str::<PartialLimits>(r#"{"staged_file": 3}"#).is_err());
    }

    #[test]
    fn every_limit_is_on_by_default_and_has_names_of_its_own() {
        let limits = serde_json::to_value(Limits::default()).unwrap();
        let mut codes = BTreeSet::new();
        for name in LimitName::SETTABLE {
            let key = name.key().unwrap();
            assert_eq!(limits[key], name.value_in(&Limits::default()), "{key}");
            assert!((1..u64::from(u32::MAX)).contains(&name.value_in(&Limits::default())), "{key}");
            assert!(codes.insert(name.code()), "{}", name.code());
            assert_eq!(format!("sandbox.limit.{}", serde_json::to_value(name).unwrap().as_str().unwrap()), name.code());
            assert!(name.remedy().contains(key) && name.remedy().contains("config.toml"));
        }
        assert_eq!(limits.as_object().unwrap().len(), LimitName::SETTABLE.len());
        assert_eq!((LimitName::Stack.key(), LimitName::Stack.code()), (None, "sandbox.limit.stack"));
    }

    #[test]
    fn a_limit_that_is_none_and_one_that_stops_every_call_are_refused() {
        let read = |key: &str, value: u64| serde_json::from_str::<PartialLimits>(&format!(r#"{{"{key}": {value}}}"#));
        for name in LimitName::SETTABLE {
            let key = name.key().unwrap();
            for fits in [name.least(), name.most()] {
                assert_eq!(serde_json::to_value(read(key, fits).unwrap()).unwrap()[key], fits);
            }
            for wrong in [name.most() + 1, u64::MAX] {
                let error = read(key, wrong).unwrap_err().to_string();
                assert!(error.contains(key) && error.contains("the most that it may be"), "{error}");
            }
            if name.least() > 0 {
                let error = read(key, 0).unwrap_err().to_string();
                assert!(error.contains(key) && error.contains("at least 1"), "{error}");
            }
        }
        let none: Vec<_> =
            LimitName::SETTABLE.iter().filter(|name| name.least() == 0).filter_map(|n| n.key()).collect();
        assert_eq!(
            none,
            [
                "table_elements",
                "output_bytes",
                "random_bytes",
                "artifact_bytes",
                "artifact_files",
                "staged_bytes",
                "staged_files",
                "written_bytes",
                "created_files",
                "listed_entries"
            ]
        );
        let twice = serde_json::from_str::<PartialLimits>(r#"{"cpu_ms": 1, "cpu_ms": 2}"#).unwrap_err();
        assert!(twice.to_string().contains("duplicate field `cpu_ms`"), "{twice}");
    }

    #[test]
    fn values_are_shown_with_their_unit() {
        assert_eq!(LimitName::Cpu.show(60_000), "60 s");
        assert_eq!(LimitName::Deadline.show(1_500), "1500 ms");
        assert_eq!(LimitName::OpenHandles.show(u64::MAX), u64::MAX.to_string());
    }

    #[test]
    fn bytes_are_shown_in_the_largest_unit() {
        assert_eq!(show_bytes(0), "0 bytes");
        assert_eq!(show_bytes(1 << 20), "1 MiB");
        assert_eq!(show_bytes(1536), "1.5 KiB");
        assert_eq!(show_bytes(5 << 30), "5 GiB");
        assert_eq!(
            (show_bytes(1), show_bytes(1023), show_bytes(1 << 10)),
            ("1 byte".into(), "1023 bytes".into(), "1 KiB".into())
        );
        assert_eq!((show_bytes((1 << 20) - 1), show_bytes((1 << 20) + 1)), ("1.0 MiB".into(), "1.0 MiB".into()));
        assert_eq!((show_bytes(MAX_BYTES), show_bytes(u64::MAX)), ("1 TiB".into(), "16.0 EiB".into()));
    }
}
