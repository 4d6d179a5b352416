//! Memory, table and instance bounds of one call, summed over everything that the call creates.
//!
//! wasmtime's own `StoreLimits` bounds each memory by itself, so a component with two memories has twice the limit.

use wasmtime::ResourceLimiter;

use brain_manifest::{LimitName, Limits};

/// Counts what a call has grown, refuses what is over its limits, and remembers the first refusal: a guest that dies of
/// a refused allocation reports whatever its language reports, and the reader wants the limit.
#[derive(Debug)]
pub(crate) struct Limiter {
    memory: Gauge,
    tables: Gauge,
    instances: usize,
    refused: Option<Refusal>,
}

/// A growth that was refused.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refusal {
    pub limit: LimitName,
    /// What the guest would have had, in the limit's unit.
    pub wanted: u64,
}

/// What a call has of one thing.
#[derive(Debug)]
struct Gauge {
    limit: usize,
    now: usize,
    peak: usize,
    refusals: u64,
}

impl Gauge {
    fn new(limit: u64) -> Self {
        Self { limit: usize::try_from(limit).unwrap_or(usize::MAX), now: 0, peak: 0, refusals: 0 }
    }

    /// What it would be after the growth, if that is too much.
    fn grow(&mut self, current: usize, desired: usize) -> Result<(), usize> {
        let wanted = self.now.saturating_add(desired.saturating_sub(current));
        if wanted > self.limit {
            self.refusals += 1;
            return Err(wanted);
        }
        self.now = wanted;
        self.peak = self.peak.max(wanted);
        Ok(())
    }
}

impl Limiter {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            memory: Gauge::new(limits.memory_bytes),
            tables: Gauge::new(limits.table_elements),
            instances: usize::try_from(limits.instances).unwrap_or(usize::MAX),
            refused: None,
        }
    }

    /// The first growth that was refused, if one was.
    pub(crate) fn refused(&self) -> Option<Refusal> {
        self.refused
    }

    /// How often a growth was refused, by limit.
    pub(crate) fn refusals(&self) -> [(LimitName, u64); 2] {
        [(LimitName::Memory, self.memory.refusals), (LimitName::TableElements, self.tables.refusals)]
    }

    /// The most linear memory that the call had at once, in bytes.
    pub(crate) fn peak_memory(&self) -> u64 {
        self.memory.peak as u64
    }

    fn growing(&mut self, limit: LimitName, current: usize, desired: usize, maximum: Option<usize>) -> bool {
        // What is beyond the guest's own maximum fails whatever is said here, and must not be counted as had.
        if maximum.is_some_and(|maximum| desired > maximum) {
            return false;
        }
        let gauge = if limit == LimitName::Memory { &mut self.memory } else { &mut self.tables };
        let grown = gauge.grow(current, desired);
        if let Err(wanted) = grown {
            self.refused.get_or_insert(Refusal { limit, wanted: wanted as u64 });
        }
        grown.is_ok()
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        Ok(self.growing(LimitName::Memory, current, desired, maximum))
    }

    fn table_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        Ok(self.growing(LimitName::TableElements, current, desired, maximum))
    }

    fn instances(&self) -> usize {
        self.instances
    }

    fn tables(&self) -> usize {
        self.instances
    }

    fn memories(&self) -> usize {
        self.instances
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn two_memories_share_one_limit() {
        let limits = Limits { memory_bytes: 128 << 10, ..Limits::default() };
        let mut limiter = Limiter::new(&limits);
        assert!(limiter.memory_growing(0, 64 << 10, None).unwrap());
        assert!(limiter.memory_growing(0, 64 << 10, None).unwrap());
        assert!(!limiter.memory_growing(64 << 10, 128 << 10, None).unwrap());
        assert_eq!(limiter.peak_memory(), 128 << 10);
        let refusal = limiter.refused().unwrap();
        assert_eq!((refusal.limit, refusal.wanted), (LimitName::Memory, 192 << 10));
        assert_eq!(limiter.refusals(), [(LimitName::Memory, 1), (LimitName::TableElements, 0)]);
    }

    #[test]
    fn the_first_refusal_is_the_one_remembered() {
        let limits = Limits { memory_bytes: 1, table_elements: 1, ..Limits::default() };
        let mut limiter = Limiter::new(&limits);
        assert!(!limiter.table_growing(0, 2, None).unwrap());
        assert!(!limiter.memory_growing(0, 2, None).unwrap());
        assert_eq!(limiter.refused().unwrap().limit, LimitName::TableElements);
    }

    #[test]
    fn growth_beyond_its_own_maximum_is_not_counted() {
        let mut limiter = Limiter::new(&Limits { memory_bytes: 100, ..Limits::default() });
        assert!(limiter.memory_growing(0, 60, Some(70)).unwrap());
        for _ in 0..3 {
            assert!(!limiter.memory_growing(60, 90, Some(70)).unwrap());
        }
        assert_eq!(limiter.peak_memory(), 60);
        assert!(limiter.refused().is_none());
        assert!(limiter.memory_growing(60, 70, Some(70)).unwrap());
    }
}
