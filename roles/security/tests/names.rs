//! A finding names the path that is in the tree, whatever is in it.

use brain_role::testing::Bench;

#[test]
fn the_path_in_a_finding_is_the_one_in_the_tree() {
    for name in
        ["a\u{1b}]0;x\u{7}.py", "say \"a\".py", "back\\slash.py", "line\nbreak.py", "größe/漢.py", "\u{202e}x.py"]
    {
        let result = Bench::new().file(name, "import os\nos.system(f\"ls {name}\")\n").run(security::run);
        let places: Vec<_> = result.findings.iter().map(|finding| (finding.file.as_deref(), finding.line)).collect();
        assert_eq!(places, [(Some(name), Some(2))]);
    }
}
