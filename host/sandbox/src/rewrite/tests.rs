#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::borrow::Cow;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use proptest::prelude::*;
use wasmparser::{Parser, Payload, Validator};
use wasmtime::{Engine, Extern, Instance, Memory, MemoryType, Module, Store, Trap, UpdateDeadline, Val};

use super::{Pieces, rewrite, rewrite_in};

/// So small that everything is cut.
const TINY: Pieces = Pieces { bytes: 7, elements: 3 };

/// Every operation on every kind of memory, table and segment, each as an export with the operation's own operands.
const MODULE: &str = r#"(module
    (import "m" "x" (memory $x 1))
    (import "m" "y" (memory $y 1))
    (memory $a 1 2)
    (memory $w i64 1)
    (memory $none 0)
    (table $t 40 funcref)
    (table $u 30 50 funcref)
    (table $v i64 40 funcref)
    (export "a" (memory $a)) (export "w" (memory $w))
    (data $long "the quick brown fox jumps over the lazy dog")
    (data $active (memory $a) (i32.const 100) "a segment that is gone once the module is there")
    (elem $some func $0 $1 $2 $3 $4 $0 $1 $2 $3 $4 $0)
    (elem declare func $0)
    (func $0 (result i32) i32.const 0) (func $1 (result i32) i32.const 1) (func $2 (result i32) i32.const 2)
    (func $3 (result i32) i32.const 3) (func $4 (result i32) i32.const 4)

    (func (export "fill a") (param i32 i32 i32) (memory.fill $a (local.get 0) (local.get 1) (local.get 2)))
    (func (export "fill x") (param i32 i32 i32) (memory.fill $x (local.get 0) (local.get 1) (local.get 2)))
    (func (export "fill none") (param i32 i32 i32) (memory.fill $none (local.get 0) (local.get 1) (local.get 2)))
    (func (export "fill w") (param i64 i32 i64) (memory.fill $w (local.get 0) (local.get 1) (local.get 2)))
    (func (export "copy a a") (param i32 i32 i32) (memory.copy $a $a (local.get 0) (local.get 1) (local.get 2)))
    (func (export "copy a x") (param i32 i32 i32) (memory.copy $a $x (local.get 0) (local.get 1) (local.get 2)))
    (func (export "copy x y") (param i32 i32 i32) (memory.copy $x $y (local.get 0) (local.get 1) (local.get 2)))
    (func (export "copy w w") (param i64 i64 i64) (memory.copy $w $w (local.get 0) (local.get 1) (local.get 2)))
    (func (export "copy w a") (param i64 i32 i32) (memory.copy $w $a (local.get 0) (local.get 1) (local.get 2)))
    (func (export "copy a w") (param i32 i64 i32) (memory.copy $a $w (local.get 0) (local.get 1) (local.get 2)))
    (func (export "init a") (param i32 i32 i32) (memory.init $a $long (local.get 0) (local.get 1) (local.get 2)))
    (func (export "init w") (param i64 i32 i32) (memory.init $w $long (local.get 0) (local.get 1) (local.get 2)))
    (func (export "init gone") (param i32 i32 i32) (memory.init $a $active (local.get 0) (local.get 1) (local.get 2)))
    (func (export "drop data") (data.drop $long))
    (func (export "grow a") (drop (memory.grow $a (i32.const 1))))

    (func $ref (param i32) (result funcref)
        (if (result funcref) (i32.and (local.get 0) (i32.const 1)) (then (ref.func $0)) (else (ref.null func))))
    (func (export "table.fill t") (param i32 i32 i32)
        (table.fill $t (local.get 0) (call $ref (local.get 1)) (local.get 2)))
    (func (export "table.fill v") (param i64 i32 i64)
        (table.fill $v (local.get 0) (call $ref (local.get 1)) (local.get 2)))
    (func (export "table.copy t t") (param i32 i32 i32) (table.copy $t $t (local.get 0) (local.get 1) (local.get 2)))
    (func (export "table.copy t u") (param i32 i32 i32) (table.copy $t $u (local.get 0) (local.get 1) (local.get 2)))
    (func (export "table.copy v v") (param i64 i64 i64) (table.copy $v $v (local.get 0) (local.get 1) (local.get 2)))
    (func (export "table.copy v t") (param i64 i32 i32) (table.copy $v $t (local.get 0) (local.get 1) (local.get 2)))
    (func (export "table.init t") (param i32 i32 i32) (table.init $t $some (local.get 0) (local.get 1) (local.get 2)))
    (func (export "table.init u") (param i32 i32 i32) (table.init $u $some (local.get 0) (local.get 1) (local.get 2)))
    (func (export "table.init v") (param i64 i32 i32) (table.init $v $some (local.get 0) (local.get 1) (local.get 2)))
    (func (export "drop elem") (elem.drop $some))

    (func (export "see t") (param i32) (result i32)
        (if (result i32) (ref.is_null (table.get $t (local.get 0)))
            (then (i32.const -1)) (else (call_indirect $t (result i32) (local.get 0)))))
    (func (export "see u") (param i32) (result i32)
        (if (result i32) (ref.is_null (table.get $u (local.get 0)))
            (then (i32.const -1)) (else (call_indirect $u (result i32) (local.get 0)))))
    (func (export "see v") (param i64) (result i32)
        (if (result i32) (ref.is_null (table.get $v (local.get 0)))
            (then (i32.const -1)) (else (call_indirect $v (result i32) (local.get 0))))))"#;

static ENGINE: LazyLock<Engine> = LazyLock::new(|| crate::engine::engine().unwrap());

fn cut(original: &[u8], pieces: Pieces) -> Vec<u8> {
    let Cow::Owned(cut) = rewrite_in(original, pieces).unwrap() else { panic!("it was left as it is") };
    Validator::new().validate_all(&cut).unwrap();
    cut
}

fn text(module: &str) -> Vec<u8> {
    wat::parse_str(module).unwrap()
}

struct Running {
    store: Store<()>,
    instance: Instance,
    imported: Memory,
}

impl Running {
    fn new(module: &Module) -> Self {
        let mut store = Store::new(&ENGINE, ());
        store.set_epoch_deadline(u64::MAX / 2);
        let imported = Memory::new(&mut store, MemoryType::new(1, None)).unwrap();
        let imports: Vec<Extern> = module.imports().map(|_| imported.into()).collect();
        let instance = Instance::new(&mut store, module, &imports).unwrap();
        let mut running = Self { store, instance, imported };
        for memory in running.memories() {
            for (n, byte) in memory.data_mut(&mut running.store).iter_mut().enumerate() {
                // A pattern that no shift maps to itself.
                *byte = ((n * n + n / 251) % 256) as u8;
            }
        }
        running
    }

    fn memories(&mut self) -> Vec<Memory> {
        let own = ["a", "w"].map(|name| self.instance.get_memory(&mut self.store, name));
        own.into_iter().flatten().chain([self.imported]).collect()
    }

    fn call(&mut self, name: &str, operands: &[u64]) -> Result<Option<i32>, Trap> {
        let function = self.instance.get_func(&mut self.store, name).unwrap();
        let ty = function.ty(&self.store);
        let operands: Vec<Val> = ty
            .params()
            .zip(operands)
            .map(|(ty, &n)| if ty.is_i64() { Val::I64(n.cast_signed()) } else { Val::I32(n as i32) })
            .collect();
        let mut results = vec![Val::I32(0); ty.results().len()];
        match function.call(&mut self.store, &operands, &mut results) {
            Ok(()) => Ok(results.first().map(|result| result.unwrap_i32())),
            Err(error) => Err(*error.downcast_ref::<Trap>().unwrap()),
        }
    }

    fn contents(&mut self) -> Vec<Vec<u8>> {
        self.memories().iter().map(|memory| memory.data(&self.store).to_vec()).collect()
    }

    fn elements(&mut self) -> Vec<Option<i32>> {
        let mut all = Vec::new();
        for (table, size) in [("see t", 40), ("see u", 30), ("see v", 40)] {
            all.extend((0..size).map(|n| self.call(table, &[n]).unwrap()));
        }
        all
    }
}

static MODULES: LazyLock<[Module; 2]> = LazyLock::new(|| {
    let original = text(MODULE);
    [Module::new(&ENGINE, &original).unwrap(), Module::new(&ENGINE, cut(&original, TINY)).unwrap()]
});

/// Numbers where something happens: small ones, those about the size of a memory or table, and those at which sums wrap.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        6 => 0..60_u64,
        2 => 0..1_000_u64,
        2 => 65_400..65_600_u64,
        1 => 131_000..131_100_u64,
        1 => (0..60_u64).prop_map(|n| (1 << 32) - 30 + n),
        1 => (0..60_u64).prop_map(|n| (1_u64 << 63) - 30 + n),
        1 => (0..60_u64).prop_map(|n| n.wrapping_sub(60)),
    ]
}

fn operations() -> impl Strategy<Value = Vec<(usize, [u64; 3])>> {
    let names = exports().len();
    // What drops a segment, or grows a memory, comes rarely, so that there is something to drop.
    let which = prop_oneof![40 => 0..names - 3, 1 => names - 3..names];
    // Half of the operands fit together, so that the operation does something.
    let fitting = (0..65_536_u64, 0..200_u64, 0..200_u64).prop_map(|(to, shift, length)| {
        let from = (to + shift).saturating_sub(100).min(65_535);
        [to, from, length.min(65_536 - to.max(from))]
    });
    let any = [number(), number(), number()];
    prop::collection::vec((which, prop_oneof![fitting, any]), 1..40)
}

/// The exports that are operations, the rare ones last.
fn exports() -> Vec<&'static str> {
    let rare = ["drop data", "drop elem", "grow a"];
    let all = MODULE.split("(func (export \"").skip(1).filter_map(|rest| rest.split('"').next());
    all.filter(|name| !name.starts_with("see") && !rare.contains(name)).chain(rare).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_cut_does_the_same(operations in operations()) {
        let [mut one, mut other] = MODULES.each_ref().map(Running::new);
        for (which, operands) in operations {
            let name = exports()[which];
            prop_assert_eq!(one.call(name, &operands), other.call(name, &operands), "{} {:?}", name, operands);
            prop_assert!(one.contents() == other.contents(), "{} {:?}", name, operands);
        }
        prop_assert_eq!(one.elements(), other.elements());
    }

    #[test]
    fn damage_is_an_error_at_most(at in 0..10_000_usize, with in any::<[u8; 3]>(), cut in 0..10_000_usize) {
        let mut bytes = component("", &text(MODULE));
        let at = at % bytes.len();
        for (old, new) in bytes[at..].iter_mut().zip(with) {
            *old = new;
        }
        let _ = rewrite_in(&bytes, TINY);
        let _ = rewrite_in(&bytes[..cut % bytes.len()], TINY);
    }
}

/// Every pair of short distances and lengths, in both directions, since a mistake of one is the likely one.
#[test]
fn overlapping_ends_are_copied_as_if_through_a_third_place() {
    let [mut one, mut other] = MODULES.each_ref().map(Running::new);
    for name in ["copy a a", "copy x y", "copy w w"] {
        for shift in 0..30 {
            for length in 0..30 {
                for operands in [[100 + shift, 100, length], [100, 100 + shift, length]] {
                    assert_eq!(one.call(name, &operands), Ok(None));
                    assert_eq!(other.call(name, &operands), Ok(None));
                    assert!(one.contents() == other.contents(), "{name} {operands:?}");
                }
            }
        }
    }
}

#[test]
fn nothing_is_written_out_of_bounds() {
    let mut running = Running::new(&MODULES[1]);
    let before = running.contents();
    for (name, operands) in [
        ("fill a", [65_500, 1, 37]),
        ("fill a", [65_536, 1, u64::from(u32::MAX)]),
        ("fill a", [65_537, 1, 0]),
        ("fill w", [65_500, 1, u64::MAX - 65_499]),
        ("fill w", [u64::MAX, 1, 1]),
        ("copy a a", [65_500, 0, 37]),
        ("copy a a", [0, 65_500, 37]),
        ("copy w a", [0, 65_500, 37]),
        ("init a", [65_500, 0, 37]),
        ("init a", [0, 30, 37]),
        ("init a", [0, u64::from(u32::MAX), 37]),
        ("init gone", [0, 0, 20]),
    ] {
        assert_eq!(running.call(name, &operands), Err(Trap::MemoryOutOfBounds), "{name} {operands:?}");
        assert!(running.contents() == before, "{name} {operands:?}");
    }
    let before = running.elements();
    for (name, operands) in [
        ("table.fill t", [30, 1, 11]),
        ("table.fill v", [30, 1, u64::MAX - 29]),
        ("table.copy t u", [0, 20, 11]),
        ("table.init t", [35, 0, 6]),
        ("table.init t", [0, 6, 6]),
    ] {
        assert_eq!(running.call(name, &operands), Err(Trap::TableOutOfBounds), "{name} {operands:?}");
        assert_eq!(running.elements(), before, "{name} {operands:?}");
    }
}

/// A component with a module, which comes after the text of other items.
fn component(items: &str, module: &[u8]) -> Vec<u8> {
    let mut bytes = text(&format!("(component {items})"));
    section(&mut bytes, super::CORE_MODULE, module);
    bytes
}

fn section(bytes: &mut Vec<u8>, id: u8, content: &[u8]) {
    bytes.push(id);
    bytes.extend(super::patch::leb(u32::try_from(content.len()).unwrap()));
    bytes.extend_from_slice(content);
}

const EMPTY_COMPONENT: [u8; 8] = [0, b'a', b's', b'm', 13, 0, 1, 0];

#[test]
fn the_engine_looks_at_the_epoch_at_every_piece() {
    static LOOKS: AtomicU64 = AtomicU64::new(0);
    let original = text(MODULE);
    let looks = |bytes: &[u8], name: &str, operands: [u64; 3]| {
        let mut running = Running::new(&Module::new(&ENGINE, bytes).unwrap());
        // The deadline is always over, so that every look is a call of this.
        running.store.set_epoch_deadline(0);
        running.store.epoch_deadline_callback(|_| {
            LOOKS.fetch_add(1, Relaxed);
            Ok(UpdateDeadline::Continue(0))
        });
        LOOKS.store(0, Relaxed);
        running.call(name, &operands).unwrap();
        LOOKS.load(Relaxed)
    };
    let pieces = Pieces { bytes: 1 << 10, elements: 4 };
    let cut = cut(&original, pieces);
    for (name, operands, pieces) in [
        ("fill a", [0, 1, 65_536], 64),
        ("fill w", [0, 1, 65_536], 64),
        ("copy a a", [0, 1, 65_535], 64),
        ("copy a a", [1, 0, 65_535], 64),
        ("copy a x", [0, 0, 65_536], 64),
        ("table.fill t", [0, 1, 40], 10),
        ("table.copy t t", [0, 1, 39], 10),
        ("table.init t", [0, 0, 11], 3),
    ] {
        let (before, now) = (looks(&original, name, operands), looks(&cut, name, operands));
        assert!(before <= 4, "{name}: {before} looks; wasmtime does it by itself now");
        assert!(now >= before + pieces, "{name}: {now} looks");
    }
}

#[test]
fn what_cannot_be_long_is_left_as_it_is() {
    let short = r#"(module
        (memory $m 1) (memory $small 4 4) (table $t 1 funcref) (table $small 1 16384 funcref)
        (data $d "short") (elem $e func 0)
        (func (param i32 i32 i32)
            (memory.fill $m (local.get 0) (local.get 1) (i32.const 262144))
            (memory.fill $small (local.get 0) (local.get 1) (local.get 2))
            (memory.copy $m $small (local.get 0) (local.get 1) (local.get 2))
            (memory.copy $m $m (local.get 0) (local.get 1) (i32.const 0))
            (memory.init $m $d (local.get 0) (local.get 1) (local.get 2))
            (table.fill $small (local.get 0) (ref.null func) (local.get 2))
            (table.copy $t $t (local.get 0) (local.get 1) (i32.const 16384))
            (table.init $t $e (local.get 0) (local.get 1) (local.get 2))))"#;
    for bytes in [text(short), component("", &text(short)), text("(module)"), EMPTY_COMPONENT.to_vec()] {
        assert!(matches!(rewrite(&bytes).unwrap(), Cow::Borrowed(same) if same == bytes));
    }
    for long in [
        "(memory.fill $m (local.get 0) (local.get 1) (local.get 2))",
        "(memory.fill $m (local.get 0) (local.get 1) (i32.const 262145))",
        "(memory.fill $m (local.get 0) (local.get 1) (i32.const -1))",
        "(memory.copy $m $m (local.get 0) (local.get 1) (block (result i32) (i32.const 1)))",
        "(table.fill $t (local.get 0) (ref.null func) (i32.const 16385))",
    ] {
        let module = format!("(module (memory $m 1) (table $t 1 funcref) (func (param i32 i32 i32) {long}))");
        assert!(matches!(rewrite(&text(&module)).unwrap(), Cow::Owned(_)), "{long}");
    }
}

/// All sections but those of types, functions and code, in order.
fn others(bytes: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut all = Vec::new();
    for payload in Parser::new(0).parse_all(bytes) {
        if let Some((id, range)) = payload.unwrap().as_section()
            && ![1, 3, 10].contains(&id)
        {
            all.push((id, bytes[range].to_vec()));
        }
    }
    all
}

#[test]
fn all_else_stays_byte_for_byte() {
    let original = text(MODULE);
    let cut = cut(&original, TINY);
    assert_eq!(others(&original), others(&cut));
    assert!(others(&cut).iter().any(|(id, content)| *id == 0 && content.starts_with(b"\x04name")), "it has names");
    assert_eq!(super::rewrite_in(&original, TINY).unwrap(), cut, "twice the same");
}

#[test]
fn modules_are_found_at_any_depth() {
    let module = text(MODULE);
    let count = |bytes: &[u8]| {
        let payloads = Parser::new(0).parse_all(bytes);
        payloads.filter(|payload| matches!(payload, Ok(Payload::CodeSectionEntry(_)))).count()
    };
    // Sizes of the sections pass 127 and 16383 on the way out, and some grow by the change.
    let mut nested = component("(type (func))", &module);
    for depth in 0..40 {
        let mut outer = EMPTY_COMPONENT.to_vec();
        section(&mut outer, super::COMPONENT, &nested);
        section(&mut outer, 0, &[b"\x04some".to_vec(), vec![7; depth * 10]].concat());
        if depth % 8 == 0 {
            section(&mut outer, super::CORE_MODULE, &module);
        }
        nested = outer;
    }
    let cut = cut(&nested, TINY);
    let added = count(&rewrite_in(&module, TINY).unwrap()) - count(&module);
    assert!(added > 10);
    assert_eq!(count(&cut) - count(&nested), 6 * added);

    let mut deep = component("", &module);
    for _ in 0..5_000 {
        let mut outer = EMPTY_COMPONENT.to_vec();
        section(&mut outer, super::COMPONENT, &deep);
        deep = outer;
    }
    assert!(rewrite_in(&deep, TINY).unwrap().len() > deep.len());
}
