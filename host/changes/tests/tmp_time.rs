#![allow(missing_docs, clippy::unwrap_used, reason = "x")]
use std::time::*;
#[test]
fn t(){
  let m=1024*1024;
  let rep=|s:&str|{ s.repeat(m/s.len()) };
  let mut rng=1u64; let mut rnd=|k:u64|{ rng^=rng<<13; rng^=rng>>7; rng^=rng<<17; rng%k };
  let r2:String=(0..m/2).map(|_| if rnd(2)==0{"a\n"}else{"\n\n"}).collect(); let r2=&r2[..m.min(r2.len())];
  let r3:String=(0..m/2).map(|_| if rnd(2)==0{"a\n"}else{"b\n"}).collect();
  let r4:String=(0..m/2).map(|_| if rnd(2)==0{"a\n"}else{"b\n"}).collect();
  let shuffled:String=(0..150_000).map(|_| format!("{}\n",rnd(100000))).collect();
  let shuffled2:String=(0..150_000).map(|_| format!("{}\n",rnd(100000))).collect();
  for (n,a,b) in [("nl vs half",rep("\n"),"\n".repeat(m/2)),("nl vs a",rep("\n"),rep("a\n")),("ab vs ba",rep("a\nb\n"),rep("b\na\n")),("aab vs ab",rep("a\na\nb\n"),rep("a\nb\n")),("rand nl",r2.to_string(),rep("a\n")),("r3r4",r3.clone(),r4),("r3 nl",r3,rep("\n")),("shuf",shuffled,shuffled2)] {
    for d in [Duration::from_millis(0),Duration::from_secs(2)] {
    let t=Instant::now();
    let r=brain_changes::diff::unified(&a,&b,t+d);
    eprintln!("{n} {d:?}: {:?} {:?}", t.elapsed(), r.map(|r|r.len()));
    }
  }
}
