//! What this process has in memory and open, and quantiles of what was measured.

use std::collections::BTreeMap;
use std::time::Duration;

/// Memory of this process that is resident, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Resident {
    /// All of it.
    pub all: u64,
    /// The part that is no file's: what was allocated and is not given back.
    pub allocated: u64,
}

/// What is resident now.
///
/// # Panics
/// Where there is no `/proc/self/statm`.
pub fn resident() -> Resident {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: Vec<u64> = statm.split(' ').take(3).map(|pages| pages.parse().unwrap()).collect();
    let bytes = |pages: u64| pages * rustix::param::page_size() as u64;
    Resident { all: bytes(pages[1]), allocated: bytes(pages[1] - pages[2]) }
}

/// What this process has open, by descriptor.
///
/// # Panics
/// Where there is no `/proc/self/fd`.
pub fn open_descriptors() -> BTreeMap<String, String> {
    let mut open = BTreeMap::new();
    for entry in std::fs::read_dir("/proc/self/fd").unwrap().flatten() {
        // Not one: that of the listing itself, which leads to it. Not the call's: the images of memories that stay with the
        // compiled code.
        let target =
            std::fs::read_link(entry.path()).map_or_else(|error| error.to_string(), |to| to.display().to_string());
        if !target.contains("/fd") && !target.contains("memfd:wasm-memory-image") {
            open.insert(entry.file_name().to_string_lossy().into_owned(), target);
        }
    }
    open
}

/// The smallest value that `q` (0 to 1) of the values do not exceed; `values` are sorted.
///
/// # Panics
/// When there are none.
pub fn quantile(values: &[Duration], q: f64) -> Duration {
    let rank = (q * values.len() as f64).ceil() as usize;
    values[rank.clamp(1, values.len()) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_a_value_that_was_measured() {
        let values: Vec<_> = (1..=200).map(Duration::from_millis).collect();
        assert_eq!(quantile(&values, 0.5), Duration::from_millis(100));
        assert_eq!(quantile(&values, 0.99), Duration::from_millis(198));
        assert_eq!(quantile(&values, 1.0), Duration::from_millis(200));
        assert_eq!(quantile(&values[..1], 0.01), Duration::from_millis(1));
    }
}
