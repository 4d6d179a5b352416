#![allow(clippy::all, missing_docs)]
use std::time::{Duration, Instant};
use wasmtime::component::Component;
use wasmtime::*;

fn text(t: &str) -> Vec<u8> {
    wat::parse_str(t).unwrap()
}

#[test]
fn scratch_guests() {
    return;
    let engine = crate::engine::engine().unwrap();
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/debug");
    let mut files = vec![];
    for d in ["guests", "roles"] {
        fn walk(p: &std::path::Path, out: &mut Vec<std::path::PathBuf>) {
            for e in std::fs::read_dir(p).unwrap() {
                let p = e.unwrap().path();
                if p.is_dir() {
                    walk(&p, out)
                } else if p.extension().is_some_and(|e| e == "wasm") {
                    out.push(p)
                }
            }
        }
        walk(&root.join(d), &mut files);
    }
    for f in files {
        let bytes = std::fs::read(&f).unwrap();
        let mut t = [Duration::MAX; 3];
        let mut new = vec![];
        for _ in 0..3 {
            let s = Instant::now();
            Component::from_binary(&engine, &bytes).unwrap();
            t[0] = t[0].min(s.elapsed());
            let s = Instant::now();
            new = super::rewrite(&bytes).unwrap().into_owned();
            t[1] = t[1].min(s.elapsed());
            let s = Instant::now();
            Component::from_binary(&engine, &new).unwrap();
            t[2] = t[2].min(s.elapsed());
        }
        println!(
            "{:40} {:>9} -> {:>9} bytes  compile {:>7.1} ms  rewrite {:>5.1} ms  compile rewritten {:>7.1} ms",
            f.file_name().unwrap().to_string_lossy(),
            bytes.len(),
            new.len(),
            t[0].as_secs_f64() * 1e3,
            t[1].as_secs_f64() * 1e3,
            t[2].as_secs_f64() * 1e3
        );
    }
}

#[test]
fn scratch_small_ops() {
    let engine = crate::engine::engine().unwrap();
    for (name, op) in [
        ("copy", "(memory.copy (local.get $d) (i32.const 4096) (local.get $n))"),
        ("fill", "(memory.fill (local.get $d) (i32.const 1) (local.get $n))"),
    ] {
        let m = text(&format!(
            r#"(module (memory 2) (func (export "go") (param $n i32) (param $times i32) (local $d i32)
            (loop $l {op} (local.set $d (i32.and (i32.add (local.get $d) (i32.const 8)) (i32.const 1023)))
              (br_if $l (local.tee $times (i32.sub (local.get $times) (i32.const 1)))))))"#
        ));
        let cut = super::rewrite(&m).unwrap().into_owned();
        assert_ne!(m, cut);
        let mut made: Vec<_> = [&m, &cut]
            .iter()
            .map(|b| {
                let module = Module::new(&engine, b).unwrap();
                let mut store = Store::new(&engine, ());
                store.set_epoch_deadline(u64::MAX / 2);
                let i = Instance::new(&mut store, &module, &[]).unwrap();
                let f = i.get_typed_func::<(i32, i32), ()>(&mut store, "go").unwrap();
                (store, f)
            })
            .collect();
        for n in [0, 4, 16, 64, 256, 1024] {
            let mut best = [Duration::MAX; 2];
            for _ in 0..7 {
                for k in 0..2 {
                    let (store, f) = &mut made[k];
                    let s = Instant::now();
                    f.call(store, (n, 1_000_000)).unwrap();
                    best[k] = best[k].min(s.elapsed());
                }
            }
            println!(
                "{name} {n:>5} bytes: {:>6.2} ns -> {:>6.2} ns",
                best[0].as_secs_f64() * 1e3,
                best[1].as_secs_f64() * 1e3
            );
        }
    }
}

fn gaps(store: &mut Store<(Option<Instant>, Duration)>) {
    store.set_epoch_deadline(0);
    store.epoch_deadline_callback(|mut s| {
        let now = Instant::now();
        let d = s.data_mut();
        if let Some(last) = d.0 {
            d.1 = d.1.max(now - last);
        }
        d.0 = Some(Instant::now());
        Ok(UpdateDeadline::Continue(0))
    });
}

#[test]
fn scratch_strings() {
    let engine = crate::engine::engine().unwrap();
    for (from, to, fill) in [
        ("utf8", "utf8", 97),
        ("utf8", "utf8", 0xc2),
        ("utf8", "utf16", 97),
        ("utf16", "utf8", 97),
        ("utf16", "utf16", 97),
        ("utf8", "latin1+utf16", 97),
        ("utf8", "latin1+utf16", 0xc2),
    ] {
        let c = format!(
            r#"(component
  (component $A
    (core module $m (memory (export "memory") 1)
      (func (export "realloc") (param i32 i32 i32 i32) (result i32)
         (drop (memory.grow (i32.div_u (i32.add (local.get 3) (i32.const 65536)) (i32.const 65536)))) (i32.const 65536))
      (func (export "f") (param i32 i32)))
    (core instance $i (instantiate $m))
    (func (export "f") (param "s" string) (canon lift (core func $i "f") string-encoding={to} (memory (core memory $i "memory")) (realloc (core func $i "realloc")))))
  (component $B
    (import "f" (func $f (param "s" string)))
    (core module $libc (memory (export "memory") 1601))
    (core instance $libc (instantiate $libc))
    (core func $g (canon lower (func $f) (memory (core memory $libc "memory")) string-encoding={from}))
    (core module $m (import "" "f" (func $f (param i32 i32))) (import "" "memory" (memory 1))
       (func (export "go") (param $v i32)
          (local $i i32)
          (memory.fill (i32.const 0) (local.get $v) (i32.const 104857600))
          (if (i32.eq (local.get $v) (i32.const 0xc2)) (then (loop $l (i32.store8 offset=1 (local.get $i) (i32.const 0x80)) (br_if $l (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 2))) (i32.const 104857600))))))
          (call $f (i32.const 0) (i32.const {len}))))
    (core instance $e (export "f" (func $g)) (export "memory" (memory $libc "memory")))
    (core instance $i (instantiate $m (with "" (instance $e))))
    (func (export "go") (param "v" s32) (canon lift (core func $i "go"))))
  (instance $a (instantiate $A))
  (instance $b (instantiate $B (with "f" (func $a "f"))))
  (export "go" (func $b "go")))"#,
            len = if from == "utf16" { 50 << 20 } else { 100 << 20 }
        );
        let bytes = super::rewrite(&text(&c)).unwrap().into_owned();
        let component = Component::new(&engine, &bytes).unwrap();
        let mut store = Store::new(&engine, (None, Duration::ZERO));
        gaps(&mut store);
        let i = component::Linker::new(&engine).instantiate(&mut store, &component).unwrap();
        let f = i.get_typed_func::<(i32,), ()>(&mut store, "go").unwrap();
        let r = f.call(&mut store, (fill,)).map_err(|e| e.root_cause().to_string());
        println!("100 MiB {from} -> {to} of {fill}: longest gap {:?} {r:?}", store.data().1);
    }
}

#[test]
fn scratch_segments() {
    let engine = crate::engine::engine().unwrap();
    let m = text(&format!(r#"(module (memory (export "m") 1024))"#));
    let d = text(&format!(r#"(module (import "" "m" (memory 1)) (data (i32.const 0) "{}"))"#, "x".repeat(60 << 20)));
    let (m, d) = (Module::new(&engine, &m).unwrap(), Module::new(&engine, &d).unwrap());
    let mut store = Store::new(&engine, (None, Duration::ZERO));
    gaps(&mut store);
    let i = Instance::new(&mut store, &m, &[]).unwrap();
    let mem = i.get_export(&mut store, "m").unwrap();
    for _ in 0..5 {
        let s = Instant::now();
        Instance::new(&mut store, &d, &[mem.clone()]).unwrap();
        println!("instance with a segment of 60 MiB: {:?}, longest gap {:?}", s.elapsed(), store.data().1);
    }
    let m = text(
        r#"(module (memory 2000) (func (export "go") (memory.fill (i32.const 0) (i32.const 1) (i32.const 131072000)) (memory.copy (i32.const 1) (i32.const 0) (i32.const 131071999))))"#,
    );
    for b in [m.clone(), super::rewrite(&m).unwrap().into_owned()] {
        let module = Module::new(&engine, &b).unwrap();
        let mut store = Store::new(&engine, (None, Duration::ZERO));
        gaps(&mut store);
        let i = Instance::new(&mut store, &module, &[]).unwrap();
        let f = i.get_typed_func::<(), ()>(&mut store, "go").unwrap();
        let s = Instant::now();
        f.call(&mut store, ()).unwrap();
        println!("125 MiB fill+copy: {:?}, longest gap {:?}", s.elapsed(), store.data().1);
        let m2 = text(
            r#"(module (table 90000 funcref) (elem func 0) (func (export "go") (table.fill (i32.const 0) (ref.func 0) (i32.const 90000)) (table.copy (i32.const 1) (i32.const 0) (i32.const 89999)) (drop (table.grow (ref.func 0) (i32.const 90000)))))"#,
        );
        let module = Module::new(&engine, &m2).unwrap();
        let mut store = Store::new(&engine, (None, Duration::ZERO));
        gaps(&mut store);
        let i = Instance::new(&mut store, &module, &[]).unwrap();
        let f = i.get_typed_func::<(), ()>(&mut store, "go").unwrap();
        let s = Instant::now();
        f.call(&mut store, ()).unwrap();
        println!("90,000 elements fill+copy+grow uncut: {:?}, longest gap {:?}", s.elapsed(), store.data().1);
    }
}
