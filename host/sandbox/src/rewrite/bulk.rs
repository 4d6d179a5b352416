//! The bulk operations, and the functions that do them piece by piece.

use wasm_encoder::{BlockType, Function, InstructionSink, ValType};
use wasmparser::Operator;

use super::Pieces;
use super::module::{Module, Space};

/// A bulk operation and what it works on, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bulk {
    Fill { memory: u32 },
    Copy { to: u32, from: u32 },
    Init { memory: u32, segment: u32 },
    TableFill { table: u32 },
    TableCopy { to: u32, from: u32 },
    TableInit { table: u32, segment: u32 },
}

/// Where an operation takes from what it writes.
enum Source<'m> {
    /// One value, again and again.
    Value(ValType),
    /// A memory or table.
    Space(&'m Space),
    /// A segment with so many bytes or elements.
    Segment(u64),
}

/// The operands, which are the parameters of the function that does it in pieces.
const TO: u32 = 0;
const FROM: u32 = 1;
const LENGTH: u32 = 2;

impl Bulk {
    pub(super) fn of(operator: &Operator<'_>) -> Option<Self> {
        Some(match *operator {
            Operator::MemoryFill { mem } => Self::Fill { memory: mem },
            Operator::MemoryCopy { dst_mem, src_mem } => Self::Copy { to: dst_mem, from: src_mem },
            Operator::MemoryInit { data_index, mem } => Self::Init { memory: mem, segment: data_index },
            Operator::TableFill { table } => Self::TableFill { table },
            Operator::TableCopy { dst_table, src_table } => Self::TableCopy { to: dst_table, from: src_table },
            Operator::TableInit { elem_index, table } => Self::TableInit { table, segment: elem_index },
            _ => return None,
        })
    }

    /// The most that it does at once.
    pub(super) fn piece(self, pieces: Pieces) -> u32 {
        match self {
            Self::Fill { .. } | Self::Copy { .. } | Self::Init { .. } => pieces.bytes,
            Self::TableFill { .. } | Self::TableCopy { .. } | Self::TableInit { .. } => pieces.elements,
        }
    }

    /// What it writes to and takes from. None where the module has no such thing.
    fn ends(self, module: &Module) -> Option<(&Space, Source<'_>)> {
        let memory = |index: u32| module.memories.get(index as usize);
        let table = |index: u32| module.tables.get(index as usize);
        Some(match self {
            Self::Fill { memory: to } => (memory(to)?, Source::Value(ValType::I32)),
            Self::Copy { to, from } => (memory(to)?, Source::Space(memory(from)?)),
            Self::Init { memory: to, segment } => (memory(to)?, Source::Segment(*module.data.get(segment as usize)?)),
            Self::TableFill { table: to } => (table(to)?, Source::Value(ValType::Ref(table(to)?.element?))),
            Self::TableCopy { to, from } => (table(to)?, Source::Space(table(from)?)),
            Self::TableInit { table: to, segment } => {
                (table(to)?, Source::Segment(*module.elements.get(segment as usize)?))
            }
        })
    }

    /// The most that it can do before it is out of bounds.
    pub(super) fn longest(self, module: &Module) -> Option<u64> {
        let (to, source) = self.ends(module)?;
        Some(match source {
            Source::Value(_) => to.longest,
            Source::Space(from) => to.longest.min(from.longest),
            Source::Segment(length) => to.longest.min(length),
        })
    }

    /// The types of its operands.
    pub(super) fn operands(self, module: &Module) -> Option<[ValType; 3]> {
        let (to, source) = self.ends(module)?;
        Some(match source {
            Source::Value(value) => [index(to.wide), value, index(to.wide)],
            Source::Space(from) => [index(to.wide), index(from.wide), index(to.wide && from.wide)],
            Source::Segment(_) => [index(to.wide), ValType::I32, ValType::I32],
        })
    }

    fn emit(self, code: &mut InstructionSink<'_>) {
        match self {
            Self::Fill { memory } => code.memory_fill(memory),
            Self::Copy { to, from } => code.memory_copy(to, from),
            Self::Init { memory, segment } => code.memory_init(memory, segment),
            Self::TableFill { table } => code.table_fill(table),
            Self::TableCopy { to, from } => code.table_copy(to, from),
            Self::TableInit { table, segment } => code.table_init(table, segment),
        };
    }

    /// The size of what it writes to, and of what it takes from if that is a memory or table too.
    fn emit_size(self, of: u32, code: &mut InstructionSink<'_>) {
        match self {
            Self::Copy { from, .. } if of == FROM => code.memory_size(from),
            Self::TableCopy { from, .. } if of == FROM => code.table_size(from),
            Self::Fill { memory: to } | Self::Init { memory: to, .. } | Self::Copy { to, .. } => code.memory_size(to),
            Self::TableFill { table: to } | Self::TableInit { table: to, .. } | Self::TableCopy { to, .. } => {
                code.table_size(to)
            }
        };
    }

    /// A function with the operation's operands as its parameters, which does the same by operations of at most `piece`:
    ///
    /// ```text
    /// if length > piece {
    ///     if the whole of it is within bounds {
    ///         loop { one piece; to += piece; from += piece; length -= piece; if length > piece continue }
    ///     }
    /// }
    /// the operation, with the length that is left
    /// ```
    ///
    /// So what is short is done as it was, and what is out of bounds traps as it did. A copy to a higher address goes from
    /// the end to the start: the two ends may overlap.
    pub(super) fn in_pieces(self, module: &Module, piece: u32) -> Option<Function> {
        let (to, source) = self.ends(module)?;
        let mut function = Function::new([]);
        let mut code = function.instructions();
        let mut writer = Writer {
            bulk: self,
            code: &mut code,
            piece,
            to: to.wide,
            from: match &source {
                Source::Value(_) => None,
                Source::Space(from) => Some(from.wide),
                Source::Segment(_) => Some(false),
            },
            length: match &source {
                Source::Value(_) => to.wide,
                Source::Space(from) => to.wide && from.wide,
                Source::Segment(_) => false,
            },
        };
        writer.is_long();
        writer.code.if_(BlockType::Empty);
        writer.is_outside(TO, to);
        match &source {
            Source::Value(_) => {}
            Source::Space(from) => {
                writer.is_outside(FROM, from);
                writer.code.i32_or();
            }
            Source::Segment(_) => {
                writer.end_wraps(FROM);
                writer.code.i32_or();
            }
        }
        writer.code.i32_eqz().if_(BlockType::Empty);
        match source {
            Source::Value(_) => writer.forwards(),
            Source::Segment(_) => {
                writer.touch_end_of_segment();
                writer.forwards();
            }
            Source::Space(_) => {
                writer.wide(TO);
                writer.wide(FROM);
                writer.code.i64_gt_u().if_(BlockType::Empty);
                writer.backwards();
                writer.code.else_();
                writer.forwards();
                writer.code.end();
            }
        }
        writer.code.end().end();
        writer.code.local_get(TO).local_get(FROM).local_get(LENGTH);
        self.emit(writer.code);
        writer.code.end();
        Some(function)
    }
}

fn index(wide: bool) -> ValType {
    if wide { ValType::I64 } else { ValType::I32 }
}

/// Writes the parts of such a function. `to`, `from` and `length` say which operands have 64 bits; `from` is none where
/// that operand is a value and not an index.
struct Writer<'c, 's> {
    bulk: Bulk,
    code: &'c mut InstructionSink<'s>,
    piece: u32,
    to: bool,
    from: Option<bool>,
    length: bool,
}

impl Writer<'_, '_> {
    fn is_wide(&self, operand: u32) -> bool {
        match operand {
            TO => self.to,
            FROM => self.from.unwrap_or(false),
            _ => self.length,
        }
    }

    /// Pushes an operand as 64 bits.
    fn wide(&mut self, operand: u32) {
        self.code.local_get(operand);
        if !self.is_wide(operand) {
            self.code.i64_extend_i32_u();
        }
    }

    /// Pushes the piece, in as many bits as `operand` has.
    fn piece(&mut self, operand: u32) {
        if self.is_wide(operand) {
            self.code.i64_const(i64::from(self.piece));
        } else {
            self.code.i32_const(self.piece.cast_signed());
        }
    }

    fn is_long(&mut self) {
        self.code.local_get(LENGTH);
        self.piece(LENGTH);
        if self.length {
            self.code.i64_gt_u()
        } else {
            self.code.i32_gt_u()
        };
    }

    /// Pushes whether `length > size || operand > size - length`.
    fn is_outside(&mut self, operand: u32, space: &Space) {
        self.wide(LENGTH);
        self.size(operand, space);
        self.code.i64_gt_u();
        self.wide(operand);
        self.size(operand, space);
        self.wide(LENGTH);
        self.code.i64_sub().i64_gt_u().i32_or();
    }

    /// Pushes the size of `space` in 64 bits. It fits: no memory of 2^64 bytes can be made.
    fn size(&mut self, of: u32, space: &Space) {
        self.bulk.emit_size(of, self.code);
        if !space.wide {
            self.code.i64_extend_i32_u();
        }
        if space.page != 0 {
            self.code.i64_const(i64::from(space.page)).i64_shl();
        }
    }

    /// Pushes whether the sum of an operand of 32 bits and the length has more than that.
    fn end_wraps(&mut self, operand: u32) {
        self.code.local_get(operand).local_get(LENGTH).i32_add().local_get(operand).i32_lt_u();
    }

    /// A segment's length cannot be asked for, and is none once it was dropped. An operation of no length at its end traps
    /// if there is no such place, and does nothing otherwise.
    fn touch_end_of_segment(&mut self) {
        self.code.local_get(TO).local_get(FROM).local_get(LENGTH).i32_add().i32_const(0);
        self.bulk.emit(self.code);
    }

    fn forwards(&mut self) {
        self.code.loop_(BlockType::Empty).local_get(TO).local_get(FROM);
        self.piece(LENGTH);
        self.bulk.emit(self.code);
        self.advance(TO);
        if self.from.is_some() {
            self.advance(FROM);
        }
        self.shorten();
        self.again();
    }

    fn backwards(&mut self) {
        self.code.loop_(BlockType::Empty);
        self.shorten();
        for operand in [TO, FROM] {
            if self.is_wide(operand) {
                self.code.local_get(operand);
                self.wide(LENGTH);
                self.code.i64_add();
            } else {
                self.code.local_get(operand).local_get(LENGTH).i32_add();
            }
        }
        self.piece(LENGTH);
        self.bulk.emit(self.code);
        self.again();
    }

    /// Turns the loop while more than a piece is left, and ends it.
    fn again(&mut self) {
        self.is_long();
        self.code.br_if(0).end();
    }

    /// `operand += piece`
    fn advance(&mut self, operand: u32) {
        self.code.local_get(operand);
        self.piece(operand);
        if self.is_wide(operand) {
            self.code.i64_add()
        } else {
            self.code.i32_add()
        };
        self.code.local_set(operand);
    }

    /// `length -= piece`
    fn shorten(&mut self) {
        self.code.local_get(LENGTH);
        self.piece(LENGTH);
        if self.length {
            self.code.i64_sub()
        } else {
            self.code.i32_sub()
        };
        self.code.local_set(LENGTH);
    }
}
