//! Where the code still says a name that a migration drops or renames.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::limits::{MAX_NAMES, MAX_USES};
use crate::sql::Name;

/// A name as the code may write it: `user_name`, `userName` and `UserName` are one.
fn folded(name: &str) -> String {
    name.chars().filter(|c| *c != '_' && *c != '-').flat_map(char::to_lowercase).collect()
}

/// The name of one thing that a table holds many of.
fn singular(name: &str) -> String {
    if let Some(stem) = name.strip_suffix("ies") {
        return format!("{stem}y");
    }
    name.strip_suffix('s').unwrap_or(name).to_owned()
}

/// What was found of one name: its first line in each file.
type Uses = BTreeMap<String, u32>;

/// The names that are looked for, and where they are.
#[derive(Debug, Default)]
pub(crate) struct Usage {
    names: HashMap<String, Uses>,
    /// The first characters of the names, so that most words need no second look.
    firsts: BTreeSet<char>,
    /// Names past the bound.
    pub(crate) not_looked_for: usize,
    /// Files in which names were looked for.
    pub(crate) files: u64,
}

/// A use of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    pub(crate) file: String,
    pub(crate) line: u32,
    /// Further files that use it.
    pub(crate) more: usize,
}

impl Use {
    /// `src/a.py:3` with the number of the others.
    pub(crate) fn place(&self) -> String {
        let name: String = self.file.escape_debug().take(200).collect();
        let more = match self.more {
            0 => String::new(),
            1 => " and 1 more file".to_owned(),
            n => format!(" and {n} more files"),
        };
        format!("{name}:{}{more}", self.line)
    }
}

impl Usage {
    fn add(&mut self, name: String) {
        if name.is_empty() || self.names.contains_key(&name) {
            return;
        }
        if self.names.len() >= MAX_NAMES {
            self.not_looked_for += 1;
            return;
        }
        self.firsts.extend(name.chars().next());
        self.names.insert(name, Uses::new());
    }

    /// Looks for a table.
    pub(crate) fn look_for_table(&mut self, table: &Name) {
        self.add(folded(&table.0));
    }

    /// Looks for a column, and for its table or what its rows are called.
    pub(crate) fn look_for_column(&mut self, table: &Name, column: &Name) {
        self.add(folded(&column.0));
        self.add(folded(&table.0));
        self.add(singular(&folded(&table.0)));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Takes in a file of code.
    pub(crate) fn read(&mut self, path: &str, text: &str) {
        self.files += 1;
        let mut seen: BTreeSet<String> = BTreeSet::new();
        for (number, line) in (1u32..).zip(text.lines()) {
            let start = line.trim_start();
            // A comment uses nothing.
            if ["//", "#", "--", "*", "/*"].iter().any(|mark| start.starts_with(mark)) && !start.starts_with("#[") {
                continue;
            }
            for word in line.split(|c: char| !c.is_alphanumeric() && c != '_') {
                let first = word.chars().find(|c| *c != '_').and_then(|c| c.to_lowercase().next());
                if word.len() > 256 || !first.is_some_and(|first| self.firsts.contains(&first)) {
                    continue;
                }
                let name = folded(word);
                let Some(uses) = self.names.get_mut(&name) else { continue };
                if seen.insert(name) && uses.len() < MAX_USES {
                    uses.insert(path.to_owned(), number);
                }
            }
        }
    }

    /// Where a table is used.
    pub(crate) fn table(&self, table: &Name) -> Option<Use> {
        first(self.names.get(&folded(&table.0))?.iter())
    }

    /// Where a column is used, in files that speak of its table too.
    pub(crate) fn column(&self, table: &Name, column: &Name) -> Option<Use> {
        let table = folded(&table.0);
        let tables = [self.names.get(&table), self.names.get(&singular(&table))];
        let speaks = |file: &String| tables.iter().flatten().any(|uses| uses.contains_key(file));
        first(self.names.get(&folded(&column.0))?.iter().filter(|(file, _)| speaks(file)))
    }
}

fn first<'u>(mut uses: impl Iterator<Item = (&'u String, &'u u32)>) -> Option<Use> {
    let (file, line) = uses.next()?;
    Some(Use { file: file.clone(), line: *line, more: uses.count() })
}

/// Whether names are looked for in a file.
pub(crate) fn is_code(path: &str) -> bool {
    const EXTENSIONS: &[&str] = &[
        "rs", "py", "js", "jsx", "ts", "tsx", "mjs", "cjs", "go", "java", "kt", "kts", "scala", "rb", "erb", "php",
        "cs", "ex", "exs", "swift", "c", "cc", "cpp", "h", "hpp", "sql", "prisma", "graphql", "vue", "svelte", "clj",
        "dart",
    ];
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(_, extension)| EXTENSIONS.contains(&extension))
        && !file_findings::paths::is_foreign(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_used_where_its_table_is_spoken_of() {
        let mut usage = Usage::default();
        let (orders, note) = (Name::new("orders"), Name::new("delivery_note"));
        usage.look_for_column(&orders, &note);
        usage.read("a.py", "# order.delivery_note\nlabel = delivery_note\n");
        assert_eq!(usage.column(&orders, &note), None);
        usage.read("b.ts", "const x = 1;\nreturn order.deliveryNote;\n");
        usage.read("c.rs", "SELECT delivery_note FROM orders\n");
        let found = usage.column(&orders, &note).map(|found| found.place());
        assert_eq!(found.as_deref(), Some("b.ts:2 and 1 more file"));
        assert_eq!(usage.table(&orders).map(|found| found.place()).as_deref(), Some("c.rs:1"));
    }

    #[test]
    fn names_and_uses_are_bounded() {
        let mut usage = Usage::default();
        for n in 0..MAX_NAMES + 2 {
            usage.look_for_table(&Name::new(&format!("t{n}")));
        }
        assert_eq!(usage.not_looked_for, 2);
        for n in 0..MAX_USES + 9 {
            usage.read(&format!("f{n}.py"), "t1\n");
        }
        assert_eq!(usage.table(&Name::new("t1")).map(|found| found.more), Some(MAX_USES - 1));
    }
}
