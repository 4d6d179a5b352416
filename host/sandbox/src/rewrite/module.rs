//! One core module: what its bulk operations work on, and the module with those changed that may be long.

use std::collections::BTreeMap;
use std::ops::Range;

use wasm_encoder::{Encode, RefType};
use wasmparser::{
    CodeSectionReader, DataSectionReader, ElementItems, ElementSectionReader, FunctionBody, FunctionSectionReader,
    ImportSectionReader, MemorySectionReader, MemoryType, Operator, TableSectionReader, TableType, TypeRef,
    TypeSectionReader,
};

use super::bulk::Bulk;
use super::patch::{Number, Patch, leb};
use super::{HEADER, Pieces, RewriteError, Section, reader};

/// A memory or a table.
#[derive(Clone, Debug)]
pub(super) struct Space {
    /// Whether its indices have 64 bits.
    pub wide: bool,
    /// The binary logarithm of how many units its size counts by: a memory's size is in pages.
    pub page: u32,
    /// The most bytes or elements that it can have.
    pub longest: u64,
    /// What a table holds.
    pub element: Option<RefType>,
}

impl Space {
    fn memory(ty: &MemoryType) -> Self {
        let page = ty.page_size_log2.unwrap_or(16);
        let longest = ty.maximum.and_then(|pages| pages.checked_mul(1_u64.checked_shl(page)?)).unwrap_or(u64::MAX);
        Self { wide: ty.memory64, page, longest, element: None }
    }

    fn table(ty: &TableType) -> Result<Self, RewriteError> {
        let element = RefType::try_from(ty.element_type)
            .map_err(|error| RewriteError::new(format!("the type of a table's elements: {error}")))?;
        Ok(Self { wide: ty.table64, page: 0, longest: ty.maximum.unwrap_or(u64::MAX), element: Some(element) })
    }
}

/// What a module has, by index.
#[derive(Debug, Default)]
pub(super) struct Module {
    pub memories: Vec<Space>,
    pub tables: Vec<Space>,
    /// Bytes of every data segment.
    pub data: Vec<u64>,
    /// Elements of every element segment.
    pub elements: Vec<u64>,
    types: u32,
    functions: u32,
}

/// The sections of a module that matter here, which all exist at most once; their numbers are those of the core
/// specification.
#[derive(Default)]
struct Sections {
    types: Option<Section>,
    imports: Option<Section>,
    functions: Option<Section>,
    tables: Option<Section>,
    memories: Option<Section>,
    elements: Option<Section>,
    code: Option<Section>,
    data: Option<Section>,
}

impl Sections {
    fn read(bytes: &[u8], module: &Range<usize>) -> Result<Self, RewriteError> {
        let mut sections = Self::default();
        let mut at = module.start.saturating_add(HEADER);
        while at < module.end {
            let section = Section::read(bytes, at..module.end)?;
            at = section.content.end;
            let slot = match section.id {
                1 => &mut sections.types,
                2 => &mut sections.imports,
                3 => &mut sections.functions,
                4 => &mut sections.tables,
                5 => &mut sections.memories,
                9 => &mut sections.elements,
                10 => &mut sections.code,
                11 => &mut sections.data,
                _ => continue,
            };
            *slot = Some(section);
        }
        Ok(sections)
    }
}

impl Module {
    fn read(bytes: &[u8], sections: &Sections) -> Result<Self, RewriteError> {
        let mut module = Self::default();
        let of = |section: &Option<Section>| match section {
            Some(section) => reader(bytes, section.content.clone()).map(Some),
            None => Ok(None),
        };
        if let Some(types) = of(&sections.types)? {
            for group in TypeSectionReader::new(types)? {
                module.types = sum(module.types, length(group?.types().len())?)?;
            }
        }
        if let Some(imports) = of(&sections.imports)? {
            for import in ImportSectionReader::new(imports)?.into_imports() {
                match import?.ty {
                    TypeRef::Func(_) | TypeRef::FuncExact(_) => module.functions = sum(module.functions, 1)?,
                    TypeRef::Memory(ty) => module.memories.push(Space::memory(&ty)),
                    TypeRef::Table(ty) => module.tables.push(Space::table(&ty)?),
                    TypeRef::Global(_) | TypeRef::Tag(_) => {}
                }
            }
        }
        if let Some(functions) = of(&sections.functions)? {
            module.functions = sum(module.functions, FunctionSectionReader::new(functions)?.count())?;
        }
        if let Some(tables) = of(&sections.tables)? {
            for table in TableSectionReader::new(tables)? {
                module.tables.push(Space::table(&table?.ty)?);
            }
        }
        if let Some(memories) = of(&sections.memories)? {
            for memory in MemorySectionReader::new(memories)? {
                module.memories.push(Space::memory(&memory?));
            }
        }
        if let Some(elements) = of(&sections.elements)? {
            for segment in ElementSectionReader::new(elements)? {
                module.elements.push(u64::from(match segment?.items {
                    ElementItems::Functions(items) => items.count(),
                    ElementItems::Expressions(_, items) => items.count(),
                }));
            }
        }
        if let Some(data) = of(&sections.data)? {
            for segment in DataSectionReader::new(data)? {
                module.data.push(segment?.data.len() as u64);
            }
        }
        Ok(module)
    }
}

/// Changes the module that lies in `bytes` at `at`.
pub(super) fn rewrite(
    patch: &mut Patch<'_>,
    bytes: &[u8],
    at: Range<usize>,
    pieces: Pieces,
) -> Result<(), RewriteError> {
    let sections = Sections::read(bytes, &at)?;
    let module = Module::read(bytes, &sections)?;
    let (Some(types), Some(functions), Some(code)) = (sections.types, sections.functions, sections.code) else {
        return Ok(());
    };
    let mut cutter = Cutter { bytes, module: &module, pieces, indices: BTreeMap::new(), order: Vec::new() };
    let mut bodies = Vec::new();
    for body in CodeSectionReader::new(reader(bytes, code.content.clone())?)?.into_iter_with_offsets() {
        // A body begins with its size.
        let (start, body) = body?;
        if let Some(new) = cutter.body(&body)? {
            let mut sized = leb(length(new.len())?);
            sized.extend(new);
            bodies.push((start..body.range().end, sized));
        }
    }
    let added = cutter.order;
    if added.is_empty() {
        return Ok(());
    }

    let (mut new_types, mut new_functions, mut new_bodies) = (Vec::new(), Vec::new(), Vec::new());
    for (n, bulk) in (0..).zip(&added) {
        let unknown = || RewriteError::new("an operation works on what its module does not have");
        let operands = bulk.operands(&module).ok_or_else(unknown)?;
        new_types.push(FUNCTION_TYPE);
        operands.as_slice().encode(&mut new_types);
        new_types.push(0);
        sum(module.types, n)?.encode(&mut new_functions);
        bulk.in_pieces(&module, bulk.piece(pieces)).ok_or_else(unknown)?.encode(&mut new_bodies);
    }
    let added = length(added.len())?;
    append(patch, bytes, types, added, Vec::new(), new_types)?;
    append(patch, bytes, functions, added, Vec::new(), new_functions)?;
    append(patch, bytes, code, added, bodies, new_bodies)
}

/// What the type of a function begins with.
const FUNCTION_TYPE: u8 = 0x60;

/// The opcode of `call`.
const CALL: u8 = 0x10;

/// Makes some changes in a section, and appends `added` items.
fn append(
    patch: &mut Patch<'_>,
    bytes: &[u8],
    section: Section,
    added: u32,
    changes: Vec<(Range<usize>, Vec<u8>)>,
    items: Vec<u8>,
) -> Result<(), RewriteError> {
    let count = Number::read(&mut reader(bytes, section.content.clone())?)?;
    patch.enter(section.size);
    patch.replace(count.at, leb(sum(count.value, added)?));
    for (at, with) in changes {
        patch.replace(at, with);
    }
    patch.insert(section.content.end, items);
    patch.leave()
}

/// Puts calls in the place of operations that may be long.
struct Cutter<'m> {
    bytes: &'m [u8],
    module: &'m Module,
    pieces: Pieces,
    /// The functions to append, by what they do.
    indices: BTreeMap<Bulk, u32>,
    order: Vec<Bulk>,
}

impl Cutter<'_> {
    /// The new content of a function, if it has to change.
    fn body(&mut self, body: &FunctionBody<'_>) -> Result<Option<Vec<u8>>, RewriteError> {
        let mut new = Vec::new();
        let mut kept = body.range().start;
        // What the instruction before this one pushed, if that is known. Nothing jumps between the two.
        let mut pushed = None;
        let mut operators = body.get_operators_reader()?;
        while !operators.eof() {
            let (operator, at) = operators.read_with_offset()?;
            if let Some(bulk) = Bulk::of(&operator)
                && self.may_be_long(bulk, pushed)
            {
                new.extend_from_slice(self.bytes.get(kept..at).unwrap_or_default());
                new.push(CALL);
                self.function(bulk)?.encode(&mut new);
                kept = operators.original_position();
            }
            pushed = match operator {
                Operator::I32Const { value } => Some(u64::from(value.cast_unsigned())),
                Operator::I64Const { value } => Some(value.cast_unsigned()),
                _ => None,
            };
        }
        if new.is_empty() {
            return Ok(None);
        }
        new.extend_from_slice(self.bytes.get(kept..body.range().end).unwrap_or_default());
        Ok(Some(new))
    }

    fn may_be_long(&self, bulk: Bulk, length: Option<u64>) -> bool {
        let piece = u64::from(bulk.piece(self.pieces));
        let longest = bulk.longest(self.module).unwrap_or(u64::MAX);
        longest > piece && length.is_none_or(|length| length > piece)
    }

    /// The index of the function that does it in pieces.
    fn function(&mut self, bulk: Bulk) -> Result<u32, RewriteError> {
        if let Some(index) = self.indices.get(&bulk) {
            return Ok(*index);
        }
        let index = sum(self.module.functions, length(self.order.len())?)?;
        self.indices.insert(bulk, index);
        self.order.push(bulk);
        Ok(index)
    }
}

fn length(length: usize) -> Result<u32, RewriteError> {
    u32::try_from(length).map_err(|_| RewriteError::new("a part would be longer than 4 GiB"))
}

fn sum(a: u32, b: u32) -> Result<u32, RewriteError> {
    a.checked_add(b).ok_or_else(|| RewriteError::new("a module would have 2^32 types or functions"))
}
