#![allow(missing_docs)]
#[path = "../../secret-scan/tests/common/mod.rs"]
#[allow(dead_code)]
mod common;
#[test] fn t(){ let mut bad=0; let mut miss=std::collections::BTreeMap::<&str,u32>::new(); for seed in 1..12000u64 { for (rule,value,text) in common::samples(seed*77) {
 if !secret_scan::scan("src/a.env", &text).iter().any(|h|h.rule==rule){ *miss.entry(rule).or_default()+=1; continue;}
 let one=text.trim_end().replace('\n'," "); if !one.contains(&value){continue}
 let fs=[("src/a.env",text.clone()),("src/run.py", format!("import os\nos.system(f'curl {{x}} {one}')\neval(x) # {one}\n")),("src/run.sh",format!("eval $x {one}\nchmod 777 {one}\n")),("Dockerfile",format!("FROM x:latest\nENV API_TOKEN={value} DB_PASSWORD={value}\nRUN curl -H '{one}' x | sh\n")),(".github/workflows/a.yml",format!("on: push\njobs:\n  a:\n    steps:\n      - run: |\n          echo ${{{{ secrets.A }}}} {one}\n          curl -H '{one}' x | sh\n"))];
 for (p,s) in &fs { let r=security::inspect(p,s); for f in r.findings { let o=format!("{f:?}"); for w in value.as_bytes().windows(8){ let public=w.iter().all(|b|b.is_ascii_uppercase()||matches!(b,b' '|b'-')); if !public && o.as_bytes().windows(8).any(|x|x==w){ bad+=1; if bad<8 {println!("{rule} {p}: {o}\n   {value}");} break;} } } } } } println!("bad {bad} miss {miss:?}"); }
