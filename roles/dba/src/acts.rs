//! What a statement does, as far as a rule asks for it.

use crate::sql::{Cursor, Kind, Name, Statement, Token, has_all, split_list};

/// The value that a column has when none is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Default {
    None,
    /// One value for all rows.
    Same,
    /// A value for each row, so that every row is written.
    PerRow,
}

/// A column as it is added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: Name,
    pub(crate) not_null: bool,
    pub(crate) default: Default,
    /// Its type holds text.
    pub(crate) text: bool,
    pub(crate) primary: bool,
    pub(crate) line: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Constraint {
    ForeignKey,
    Check,
    Unique,
    PrimaryKey,
    Exclude,
}

/// One thing that a statement does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    CreateTable {
        table: Name,
        temporary: bool,
        key: bool,
        derived: bool,
        columns: Vec<Column>,
    },
    DropTable {
        tables: Vec<Name>,
        cascade: bool,
    },
    DropDatabase {
        what: &'static str,
        name: Name,
    },
    DropColumn {
        table: Name,
        column: Name,
    },
    Truncate {
        table: Name,
    },
    Delete {
        table: Name,
        limited: bool,
    },
    Update {
        table: Name,
        limited: bool,
    },
    /// Rows that are computed from others, not listed.
    InsertSelect {
        table: Name,
    },
    AddColumn {
        table: Name,
        column: Column,
    },
    ColumnType {
        table: Name,
        column: Name,
        to_text: bool,
    },
    /// MySQL's MODIFY and CHANGE.
    Modify {
        table: Name,
        column: Name,
    },
    SetNotNull {
        table: Name,
        column: Name,
    },
    AddConstraint {
        table: Name,
        kind: Constraint,
        not_valid: bool,
        by_index: bool,
    },
    Validate {
        table: Name,
    },
    CreateIndex {
        table: Name,
        concurrently: bool,
    },
    DropIndex {
        concurrently: bool,
    },
    /// VACUUM FULL, CLUSTER, REINDEX.
    Rebuild {
        what: &'static str,
        concurrently: bool,
    },
    RenameTable {
        old: Name,
        new: Name,
    },
    RenameColumn {
        table: Name,
        old: Name,
        new: Name,
    },
    /// Any other change of a table.
    Alter {
        table: Name,
    },
    Grant {
        all: bool,
        public: bool,
        usage: bool,
    },
    Lock {
        exclusive: bool,
    },
    Begin,
    Commit,
    LockTimeout,
}

/// What a statement does, each with its line; nothing where no rule asks for it.
pub(crate) fn acts(statement: &Statement<'_>) -> Vec<(u32, Act)> {
    if statement.begins(&["ALTER"]) {
        let mut at = statement.cursor();
        at.skip();
        return alter(at);
    }
    all(statement).into_iter().map(|act| (statement.line(), act)).collect()
}

fn all(statement: &Statement<'_>) -> Vec<Act> {
    let mut at = statement.cursor();
    let Some(first) = at.peek().filter(|token| token.kind == Kind::Word) else { return Vec::new() };
    let word = first.text.to_ascii_uppercase();
    at.skip();
    let one = |act: Option<Act>| act.into_iter().collect();
    match word.as_str() {
        "CREATE" => create(at, statement),
        "DROP" => one(drop(at)),
        "TRUNCATE" => {
            at.eat(&["TABLE"]);
            at.eat(&["ONLY"]);
            one(at.name().map(|table| Act::Truncate { table }))
        }
        "DELETE" => one(delete(at)),
        "UPDATE" => one(update(at)),
        "WITH" => one(with(at)),
        "INSERT" | "REPLACE" => one(insert(at)),
        "RENAME" => rename_tables(at),
        "GRANT" => one(Some(grant(statement))),
        "LOCK" => one(lock(at, statement)),
        "BEGIN" => one(Some(Act::Begin)),
        "START" if at.eat(&["TRANSACTION"]) => vec![Act::Begin],
        "COMMIT" | "ROLLBACK" | "END" => one(Some(Act::Commit)),
        "SET" | "SELECT" if statement.tokens.iter().any(|token| is_timeout(token)) => vec![Act::LockTimeout],
        "EXEC" | "EXECUTE" => one(sp_rename(at)),
        "VACUUM" if statement.has("FULL") => vec![Act::Rebuild { what: "VACUUM FULL", concurrently: false }],
        "CLUSTER" => vec![Act::Rebuild { what: "CLUSTER", concurrently: false }],
        "REINDEX" => vec![Act::Rebuild { what: "REINDEX", concurrently: statement.has("CONCURRENTLY") }],
        _ => Vec::new(),
    }
}

fn is_timeout(token: &Token<'_>) -> bool {
    let names = ["lock_timeout", "statement_timeout", "lock_wait_timeout", "innodb_lock_wait_timeout"];
    matches!(token.kind, Kind::Word | Kind::Quoted | Kind::Text)
        && names.iter().any(|name| {
            token.text.trim_start_matches('@').eq_ignore_ascii_case(name)
                || token.text.to_ascii_lowercase().ends_with(&format!(".{name}"))
        })
}

fn exists(at: &mut Cursor<'_, '_>) {
    let _ = at.eat(&["IF", "NOT", "EXISTS"]) || at.eat(&["IF", "EXISTS"]);
}

fn create(mut at: Cursor<'_, '_>, statement: &Statement<'_>) -> Vec<Act> {
    at.eat(&["OR", "REPLACE"]);
    let mut temporary = false;
    while at.eat_any(&["GLOBAL", "LOCAL"]) {}
    temporary |= at.eat_any(&["TEMP", "TEMPORARY"]);
    at.eat_any(&["UNLOGGED", "FOREIGN"]);
    if at.eat(&["TABLE"]) {
        exists(&mut at);
        return create_table(at, temporary).into_iter().collect();
    }
    let unique = at.eat_any(&["UNIQUE", "FULLTEXT", "SPATIAL", "CLUSTERED", "NONCLUSTERED"]);
    if unique {
        at.eat_any(&["CLUSTERED", "NONCLUSTERED"]);
    }
    if at.eat(&["INDEX"]) {
        let concurrently = at.eat(&["CONCURRENTLY"]);
        exists(&mut at);
        if !at.peek().is_some_and(|token| token.is("ON")) {
            at.name();
            // MySQL: USING before ON.
            if at.eat(&["USING"]) {
                at.skip();
            }
        }
        if at.eat(&["ON"]) {
            at.eat(&["ONLY"]);
            let online = statement.has_all(&["ONLINE"]);
            return at
                .name()
                .map(|table| Act::CreateIndex { table, concurrently: concurrently || online })
                .into_iter()
                .collect();
        }
    }
    Vec::new()
}

fn create_table(mut at: Cursor<'_, '_>, temporary: bool) -> Option<Act> {
    let hash = at.eat_sign("#");
    let table = at.name()?;
    let derived =
        at.peek().is_none_or(|token| ["AS", "LIKE", "PARTITION", "OF", "SELECT"].iter().any(|word| token.is(word)));
    let mut columns = Vec::new();
    let mut key = false;
    let mut copies = derived;
    if let Some(inside) = at.group() {
        for part in split_list(inside) {
            let mut at = Cursor::new(part);
            if at.eat(&["CONSTRAINT"]) {
                at.name();
            }
            if at.eat(&["PRIMARY", "KEY"]) {
                key = true;
            } else if at.eat(&["LIKE"]) {
                copies = true;
            } else if !at.peek().is_some_and(|token| {
                token.kind == Kind::Word
                    && ["UNIQUE", "CHECK", "FOREIGN", "EXCLUDE", "INDEX", "KEY", "FULLTEXT", "SPATIAL", "PERIOD"]
                        .iter()
                        .any(|word| token.is(word))
            }) && let Some(column) = column(at)
            {
                key |= column.primary;
                columns.push(column);
            }
        }
        let rest: Vec<&Token<'_>> = at.rest().iter().collect();
        copies |= rest.iter().any(|token| ["AS", "INHERITS", "SELECT"].iter().any(|word| token.is(word)));
    }
    Some(Act::CreateTable { table, temporary: temporary || hash, key, derived: copies, columns })
}

/// Functions that give each row a value of its own.
const PER_ROW: &[&str] = &[
    "gen_random_uuid",
    "uuid_generate_v1",
    "uuid_generate_v4",
    "uuidv4",
    "uuidv7",
    "random",
    "clock_timestamp",
    "timeofday",
    "nextval",
    "newid",
    "uuid",
    "rand",
    "setseed",
];

/// A column definition. `None` where there is no name.
fn column(mut at: Cursor<'_, '_>) -> Option<Column> {
    let line = at.peek()?.line;
    let name = at.name()?;
    let rest = at.rest();
    let kind = rest.first().map(|token| token.text.to_ascii_lowercase()).unwrap_or_default();
    let text = matches!(
        kind.as_str(),
        "text"
            | "varchar"
            | "char"
            | "character"
            | "nvarchar"
            | "nchar"
            | "string"
            | "varchar2"
            | "tinytext"
            | "mediumtext"
            | "longtext"
            | "citext"
    );
    let outside: Vec<Token<'_>> = Cursor::new(rest).outside().cloned().collect();
    let has = |words: &[&str]| has_all(&outside, words);
    let counts = kind.contains("serial")
        || has(&["IDENTITY"])
        || has(&["AUTO_INCREMENT"])
        || has(&["AUTOINCREMENT"])
        || has(&["STORED"]);
    let computed = has(&["GENERATED"]) || has(&["AS"]) || counts;
    let default_at = outside.iter().position(|token| token.is("DEFAULT"));
    let value = default_at.and_then(|at| outside.get(at + 1));
    let per_row = value.is_some_and(|token| token.kind == Kind::Word && PER_ROW.iter().any(|name| token.is(name)))
        || value.is_some_and(|token| token.is_sign("("))
            && rest.iter().any(|token| PER_ROW.iter().any(|name| token.is(name)));
    let default = match value {
        _ if counts => Default::PerRow,
        _ if computed => Default::Same,
        Some(_) if per_row => Default::PerRow,
        Some(token) if token.is("NULL") => Default::None,
        Some(_) => Default::Same,
        None => Default::None,
    };
    Some(Column { name, not_null: has(&["NOT", "NULL"]), default, text, primary: has(&["PRIMARY", "KEY"]), line })
}

fn alter(mut at: Cursor<'_, '_>) -> Vec<(u32, Act)> {
    at.eat_any(&["ONLINE", "IGNORE"]);
    at.eat(&["FOREIGN"]);
    if !at.eat(&["TABLE"]) {
        return Vec::new();
    }
    exists(&mut at);
    at.eat(&["ONLY"]);
    let Some(table) = at.name() else { return Vec::new() };
    at.eat_sign("*");
    let mut all: Vec<(u32, Act)> = Vec::new();
    for part in at.parts() {
        let line = part.first().map_or(0, |token| token.line);
        all.extend(change(&table, Cursor::new(part)).into_iter().map(|act| (line, act)));
    }
    all
}

fn change(table: &Name, mut at: Cursor<'_, '_>) -> Vec<Act> {
    let other = || vec![Act::Alter { table: table.clone() }];
    let one = |act: Option<Act>| act.map_or_else(other, |act| vec![act]);
    let constraint = |kind, at: &Cursor<'_, '_>| Act::AddConstraint {
        table: table.clone(),
        kind,
        not_valid: has_all(at.rest(), &["NOT", "VALID"]) || has_all(at.rest(), &["NOCHECK"]),
        by_index: has_all(at.rest(), &["USING", "INDEX"]),
    };
    if at.eat(&["WITH", "NOCHECK"]) && at.eat(&["ADD"]) {
        return other();
    }
    if at.eat(&["ADD"]) {
        if at.eat(&["CONSTRAINT"]) {
            exists(&mut at);
            // MySQL allows a constraint without a name.
            if !at
                .peek()
                .is_some_and(|token| ["FOREIGN", "CHECK", "UNIQUE", "PRIMARY"].iter().any(|word| token.is(word)))
            {
                at.name();
            }
        }
        let kind = match () {
            () if at.eat(&["FOREIGN", "KEY"]) => Some(Constraint::ForeignKey),
            () if at.eat(&["CHECK"]) => Some(Constraint::Check),
            () if at.eat(&["PRIMARY", "KEY"]) => Some(Constraint::PrimaryKey),
            () if at.eat(&["UNIQUE"]) => Some(Constraint::Unique),
            () if at.eat(&["EXCLUDE"]) => Some(Constraint::Exclude),
            () => None,
        };
        if let Some(kind) = kind {
            return vec![constraint(kind, &at)];
        }
        if at.peek().is_some_and(|token| {
            ["INDEX", "KEY", "FULLTEXT", "SPATIAL", "PARTITION", "PERIOD", "SYSTEM"].iter().any(|word| token.is(word))
        }) {
            return other();
        }
        at.eat(&["COLUMN"]);
        exists(&mut at);
        // MySQL: `ADD COLUMN (a int, b int)`.
        if let Some(inside) = at.group() {
            return split_list(inside)
                .into_iter()
                .filter_map(|part| column(Cursor::new(part)))
                .map(|column| Act::AddColumn { table: table.clone(), column })
                .collect();
        }
        return one(column(at).map(|column| Act::AddColumn { table: table.clone(), column }));
    }
    if at.eat(&["DROP"]) {
        let is_column = at.eat(&["COLUMN"]);
        if !is_column
            && at.peek().is_none_or(|token| {
                ["CONSTRAINT", "INDEX", "KEY", "FOREIGN", "PRIMARY", "PARTITION", "CHECK", "EXPRESSION", "PERIOD"]
                    .iter()
                    .any(|word| token.is(word))
            })
        {
            return other();
        }
        exists(&mut at);
        return one(at.name().map(|column| Act::DropColumn { table: table.clone(), column }));
    }
    if at.eat(&["ALTER"]) {
        at.eat(&["COLUMN"]);
        let Some(column) = at.name() else { return other() };
        if at.eat(&["SET", "DATA", "TYPE"]) || at.eat(&["TYPE"]) {
            let to_text = at.eat(&["TEXT"]) && at.rest().is_empty();
            return vec![Act::ColumnType { table: table.clone(), column, to_text }];
        }
        if at.eat(&["SET", "NOT", "NULL"]) {
            return vec![Act::SetNotNull { table: table.clone(), column }];
        }
        if at.peek().is_some_and(|token| ["SET", "DROP", "ADD", "RESET", "RESTART"].iter().any(|word| token.is(word))) {
            return other();
        }
        // SQL Server: `ALTER COLUMN a int NOT NULL`.
        return vec![Act::ColumnType { table: table.clone(), column, to_text: false }];
    }
    if at.eat(&["MODIFY"]) {
        at.eat(&["COLUMN"]);
        return one(at.name().map(|column| Act::Modify { table: table.clone(), column }));
    }
    if at.eat(&["CHANGE"]) {
        at.eat(&["COLUMN"]);
        let (Some(old), Some(new)) = (at.name(), at.name()) else { return other() };
        let same = old.key() == new.key();
        let renamed = Act::RenameColumn { table: table.clone(), old: old.clone(), new };
        let modified = Act::Modify { table: table.clone(), column: old };
        return if same { vec![modified] } else { vec![renamed, modified] };
    }
    if at.eat(&["RENAME"]) {
        if at.eat_any(&["TO", "AS"]) {
            return one(at.name().map(|new| Act::RenameTable { old: table.clone(), new }));
        }
        if at.eat_any(&["CONSTRAINT", "INDEX", "KEY"]) {
            return other();
        }
        let says_column = at.eat(&["COLUMN"]);
        let old = at.name();
        if at.eat(&["TO"]) {
            return one(old.zip(at.name()).map(|(old, new)| Act::RenameColumn { table: table.clone(), old, new }));
        }
        // MySQL: `RENAME new_name`.
        return one(old.filter(|_| !says_column).map(|new| Act::RenameTable { old: table.clone(), new }));
    }
    if at.eat(&["VALIDATE"]) {
        return vec![Act::Validate { table: table.clone() }];
    }
    other()
}

fn drop(mut at: Cursor<'_, '_>) -> Option<Act> {
    if at.eat(&["INDEX"]) {
        return Some(Act::DropIndex { concurrently: at.eat(&["CONCURRENTLY"]) });
    }
    for what in ["DATABASE", "SCHEMA"] {
        if at.eat(&[what]) {
            exists(&mut at);
            let what = if what == "DATABASE" { "database" } else { "schema" };
            return Some(Act::DropDatabase { what, name: at.name()? });
        }
    }
    if at.eat(&["TEMPORARY", "TABLE"]) || !at.eat_any(&["TABLE", "TABLES"]) {
        return None;
    }
    exists(&mut at);
    if at.eat_sign("#") {
        return None;
    }
    let tables: Vec<Name> = at.parts().into_iter().filter_map(|part| Cursor::new(part).name()).collect();
    (!tables.is_empty()).then(|| Act::DropTable { tables, cascade: has_all(at.rest(), &["CASCADE"]) })
}

/// Whether a statement says of which rows it is: a WHERE outside of parentheses that is not always true.
fn limited(at: Cursor<'_, '_>) -> bool {
    let outside: Vec<&Token<'_>> = at.outside().collect();
    let Some(place) = outside.iter().position(|token| token.is("WHERE")) else {
        return outside.iter().any(|token| token.is("LIMIT") || token.is("JOIN"));
    };
    let condition: Vec<&str> = outside.iter().skip(place + 1).map(|token| token.text).collect();
    let always = condition.len() == 1 && condition[0].eq_ignore_ascii_case("true")
        || condition == ["1", "=", "1"]
        || condition == ["1"];
    !always
}

fn delete(mut at: Cursor<'_, '_>) -> Option<Act> {
    let limited = limited(at);
    // MySQL: `DELETE a FROM a JOIN b`.
    while !at.eat(&["FROM"]) {
        at.peek()?;
        at.skip();
    }
    at.eat(&["ONLY"]);
    Some(Act::Delete { table: at.name()?, limited })
}

fn update(mut at: Cursor<'_, '_>) -> Option<Act> {
    let limited = limited(at);
    at.eat(&["LOW_PRIORITY"]);
    at.eat(&["ONLY"]);
    if at.eat(&["OR"]) {
        at.skip();
    }
    // `UPDATE STATISTICS` of SQL Server changes no rows.
    if at.peek()?.is("STATISTICS") {
        return None;
    }
    let table = at.name()?;
    has_all(at.rest(), &["SET"]).then_some(Act::Update { table, limited })
}

/// The statement behind the queries of a WITH.
fn with(mut at: Cursor<'_, '_>) -> Option<Act> {
    while at.peek().is_some() {
        if at.group().is_some() {
            continue;
        }
        if at.eat(&["UPDATE"]) {
            return update(at);
        }
        if at.eat(&["DELETE"]) {
            return delete(at);
        }
        if at.eat(&["INSERT"]) {
            return insert(at);
        }
        if at.eat(&["SELECT"]) {
            return None;
        }
        at.skip();
    }
    None
}

fn insert(mut at: Cursor<'_, '_>) -> Option<Act> {
    at.eat_any(&["IGNORE"]);
    at.eat(&["OR", "IGNORE"]);
    at.eat(&["OR", "REPLACE"]);
    at.eat(&["INTO"]);
    let table = at.name()?;
    let copies = at.outside().any(|token| token.is("SELECT")) && at.rest().iter().any(|token| token.is("FROM"));
    copies.then_some(Act::InsertSelect { table })
}

fn rename_tables(mut at: Cursor<'_, '_>) -> Vec<Act> {
    if !at.eat_any(&["TABLE", "TABLES"]) {
        return Vec::new();
    }
    at.parts()
        .into_iter()
        .filter_map(|part| {
            let mut at = Cursor::new(part);
            let old = at.name()?;
            at.eat(&["TO"]);
            Some(Act::RenameTable { old, new: at.name()? })
        })
        .collect()
}

/// `EXEC sp_rename 'dbo.orders.note', 'remark', 'COLUMN'`.
fn sp_rename(mut at: Cursor<'_, '_>) -> Option<Act> {
    let called = at.name()?;
    if called.key() != "sp_rename" {
        return None;
    }
    let texts: Vec<&str> = at.rest().iter().filter(|token| token.kind == Kind::Text).map(|token| token.text).collect();
    let parts: Vec<&str> = texts.first()?.split('.').map(|part| part.trim_matches(['[', ']'])).collect();
    let new = Name::new(texts.get(1)?);
    let last = parts.last()?;
    if texts.get(2).is_some_and(|kind| kind.eq_ignore_ascii_case("COLUMN")) {
        let table = parts.len().checked_sub(2).and_then(|at| parts.get(at))?;
        return Some(Act::RenameColumn { table: Name::new(table), old: Name::new(last), new });
    }
    texts.get(2).is_none().then(|| Act::RenameTable { old: Name::new(last), new })
}

fn grant(statement: &Statement<'_>) -> Act {
    let tokens = &statement.tokens;
    Act::Grant {
        all: statement.begins(&["GRANT", "ALL"]),
        public: has_all(tokens, &["TO", "PUBLIC"]),
        usage: statement.begins(&["GRANT", "USAGE"])
            || statement.begins(&["GRANT", "EXECUTE"])
            || statement.begins(&["GRANT", "CONNECT"]),
    }
}

fn lock(mut at: Cursor<'_, '_>, statement: &Statement<'_>) -> Option<Act> {
    at.eat_any(&["TABLE", "TABLES"]);
    at.peek()?;
    let mode = statement.tokens.iter().any(|token| token.is("MODE"));
    let weak =
        ["SHARE", "ROW", "READ"].iter().any(|word| statement.has(word)) && !statement.has_all(&["ACCESS", "EXCLUSIVE"]);
    Some(Act::Lock { exclusive: !(weak && (mode || statement.has("READ"))) })
}

impl Act {
    /// The existing table that it changes the form of.
    pub(crate) fn changes(&self) -> Option<&Name> {
        match self {
            Self::DropColumn { table, .. }
            | Self::AddColumn { table, .. }
            | Self::ColumnType { table, .. }
            | Self::Modify { table, .. }
            | Self::SetNotNull { table, .. }
            | Self::AddConstraint { table, .. }
            | Self::Validate { table }
            | Self::RenameColumn { table, .. }
            | Self::RenameTable { old: table, .. }
            | Self::Alter { table } => Some(table),
            _ => None,
        }
    }
}
