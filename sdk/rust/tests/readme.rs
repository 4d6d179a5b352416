//! The role of the README is compiled and tested here; the README shows it to the letter.

#[path = "readme/lib.rs"]
mod todo_list;

#[test]
fn the_readme_shows_the_role_that_is_tested() {
    let role = include_str!("readme/lib.rs");
    let readme = include_str!("../README.md");
    let shown = format!("```rust\n{role}```\n");
    assert!(readme.contains(&shown), "README.md must show tests/readme/lib.rs as it is");
}
