//! Memory and table bounds of one call, summed over everything that the call creates.
//!
//! wasmtime's own `StoreLimits` bounds each memory by itself, so a component with two memories has twice the limit.

use wasmtime::ResourceLimiter;

use crate::limits::{INSTANCES, LimitName, Limits};

/// Counts what a call has grown, refuses what is over its limits, and remembers the first refusal: a guest that dies of
/// a refused allocation reports whatever its language reports, and the reader wants the limit.
#[derive(Debug)]
pub(crate) struct Limiter {
    memory_limit: usize,
    table_limit: usize,
    memory: usize,
    peak_memory: usize,
    tables: usize,
    refused: Option<Refusal>,
}

/// A growth that was refused.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refusal {
    pub limit: LimitName,
    /// What the guest would have had, in the limit's unit.
    pub wanted: u64,
}

impl Limiter {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            memory_limit: usize::try_from(limits.memory_bytes).unwrap_or(usize::MAX),
            table_limit: usize::try_from(limits.table_elements).unwrap_or(usize::MAX),
            memory: 0,
            peak_memory: 0,
            tables: 0,
            refused: None,
        }
    }

    /// The first growth that was refused, if one was.
    pub(crate) fn refused(&self) -> Option<Refusal> {
        self.refused
    }

    /// The most linear memory that the call had at once, in bytes.
    pub(crate) fn peak_memory(&self) -> u64 {
        self.peak_memory as u64
    }

    fn refuse(&mut self, limit: LimitName, wanted: usize) -> bool {
        self.refused.get_or_insert(Refusal { limit, wanted: wanted as u64 });
        false
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        let wanted = self.memory.saturating_add(desired.saturating_sub(current));
        if wanted > self.memory_limit {
            return Ok(self.refuse(LimitName::Memory, wanted));
        }
        self.memory = wanted;
        self.peak_memory = self.peak_memory.max(wanted);
        Ok(true)
    }

    fn table_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        let wanted = self.tables.saturating_add(desired.saturating_sub(current));
        if wanted > self.table_limit {
            return Ok(self.refuse(LimitName::TableElements, wanted));
        }
        self.tables = wanted;
        Ok(true)
    }

    fn instances(&self) -> usize {
        INSTANCES
    }

    fn tables(&self) -> usize {
        INSTANCES
    }

    fn memories(&self) -> usize {
        INSTANCES
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
    }

    #[test]
    fn the_first_refusal_is_the_one_remembered() {
        let limits = Limits { memory_bytes: 1, table_elements: 1, ..Limits::default() };
        let mut limiter = Limiter::new(&limits);
        assert!(!limiter.table_growing(0, 2, None).unwrap());
        assert!(!limiter.memory_growing(0, 2, None).unwrap());
        assert_eq!(limiter.refused().unwrap().limit, LimitName::TableElements);
    }
}
