//! From tokens to statements, with what the comments say to the tool that runs the file.

use super::lex::{Lexer, Piece};
use super::{Dialect, Kind, Statement, Token};
use crate::limits::{MAX_BODY_DEPTH, MAX_STATEMENTS, MAX_TOKENS};

/// Which way a statement goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    /// Forward.
    Up,
    /// Back.
    Down,
}

/// A file as statements.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script<'t> {
    pub(crate) statements: Vec<Statement<'t>>,
    /// A comment tells the tool to run it outside of a transaction.
    pub(crate) no_transaction: bool,
    /// A comment opened a section for the way back.
    pub(crate) has_down: bool,
    /// A comment opened a section for the way forward.
    pub(crate) has_up: bool,
    /// What could not be read.
    pub(crate) faults: Vec<&'static str>,
}

impl Script<'_> {
    fn fault(&mut self, what: &'static str) {
        if !self.faults.contains(&what) {
            self.faults.push(what);
        }
    }
}

pub(crate) const UNCLOSED: &str = "SQL with a quote or comment that is never closed: read up to there";
pub(crate) const TOO_MANY: &str = "more SQL in one file than is kept: read up to there";
pub(crate) const UNBALANCED: &str = "SQL statements with parentheses that do not match";

/// Reads the statements of `text`, whose first line is called `line`.
pub(crate) fn read(text: &str, dialect: Dialect, line: u32) -> Script<'_> {
    let mut script = Script::default();
    let mut budget = MAX_TOKENS;
    read_into(&mut script, &mut budget, text, dialect, line, Section::Up, 0);
    script
}

fn read_into<'t>(
    script: &mut Script<'t>,
    budget: &mut usize,
    text: &'t str,
    dialect: Dialect,
    line: u32,
    section: Section,
    depth: usize,
) {
    let mut lexer = Lexer::new(text, dialect, line);
    let mut open = Open { section, ..Open::default() };
    loop {
        if open.tokens.is_empty() && lexer.is_meta() {
            lexer.rest_of_line();
            continue;
        }
        if let Some(mark) = lexer.mark
            && lexer.pass_mark(mark)
        {
            close(script, &mut open, budget, dialect, depth);
            continue;
        }
        let Some(piece) = lexer.next() else { break };
        if *budget == 0 || script.statements.len() >= MAX_STATEMENTS {
            script.fault(TOO_MANY);
            break;
        }
        let token = match piece {
            Piece::Comment(said) => {
                direct(script, &mut open, said);
                continue;
            }
            Piece::Unclosed => {
                script.fault(UNCLOSED);
                // The statement with the open quote is not one that can be judged.
                open.tokens.clear();
                break;
            }
            Piece::Token(token) => token,
        };
        *budget -= 1;
        if open.tokens.is_empty() && token.is("DELIMITER") {
            let mark = lexer.rest_of_line();
            lexer.mark = Some(mark).filter(|mark| *mark != ";" && !mark.is_empty());
            continue;
        }
        let is_end = token.is_sign(";") && lexer.mark.is_none() && open.bodies == 0;
        let is_batch = dialect == Dialect::SqlServer && token.is("GO") && open.is_new_line(&token);
        if is_end || is_batch {
            let copies = open.tokens.first().is_some_and(|token| token.is("COPY"))
                && open.tokens.iter().any(|token| token.is("STDIN"));
            close(script, &mut open, budget, dialect, depth);
            if copies {
                lexer.pass_copy_data();
            }
            continue;
        }
        open.push(token);
    }
    close(script, &mut open, budget, dialect, depth);
}

/// A statement that is being read.
struct Open<'t> {
    tokens: Vec<Token<'t>>,
    section: Section,
    /// `BEGIN` and `CASE` of a routine that are not ended.
    bodies: usize,
}

impl Default for Open<'_> {
    fn default() -> Self {
        Self { tokens: Vec::new(), section: Section::Up, bodies: 0 }
    }
}

impl<'t> Open<'t> {
    fn is_new_line(&self, token: &Token<'_>) -> bool {
        self.tokens.last().is_none_or(|last| last.line < token.line)
    }

    /// Whether it makes a routine, whose body holds statements of its own.
    fn is_routine(&self) -> bool {
        self.tokens.first().is_some_and(|token| token.is("CREATE") || token.is("ALTER"))
            && self.tokens.iter().take(14).any(|token| {
                ["TRIGGER", "PROCEDURE", "PROC", "FUNCTION", "EVENT", "PACKAGE"].iter().any(|word| token.is(word))
            })
    }

    fn push(&mut self, token: Token<'t>) {
        // `END IF`, `END LOOP` end what no BEGIN has opened; `END CASE` ends a CASE.
        let ends_other = self.tokens.last().is_some_and(|last| last.is("END"))
            && ["IF", "LOOP", "WHILE", "REPEAT", "FOR"].iter().any(|word| token.is(word))
            && self.is_routine();
        let after_end = self.tokens.last().is_some_and(|last| last.is("END"));
        let opens = token.is("BEGIN") || self.bodies > 0 && token.is("CASE") && !after_end;
        if ends_other || opens && self.is_routine() {
            self.bodies += 1;
        } else if token.is("END") && self.bodies > 0 {
            self.bodies -= 1;
        }
        self.tokens.push(token);
    }
}

/// Ends a statement. The statements of a `DO` block, which run now, follow it.
fn close<'t>(script: &mut Script<'t>, open: &mut Open<'t>, budget: &mut usize, dialect: Dialect, depth: usize) {
    let mut tokens = std::mem::take(&mut open.tokens);
    open.bodies = 0;
    if depth > 0 {
        tokens = inner(tokens);
    }
    if tokens.is_empty() || script.statements.len() >= MAX_STATEMENTS {
        return;
    }
    let opened = tokens.iter().filter(|token| token.is_sign("(")).count();
    if opened != tokens.iter().filter(|token| token.is_sign(")")).count() {
        script.fault(UNBALANCED);
    }
    let body = tokens
        .first()
        .filter(|token| token.is("DO") && depth < MAX_BODY_DEPTH)
        .and_then(|_| tokens.iter().find(|token| matches!(token.kind, Kind::Body)).cloned());
    script.statements.push(Statement { tokens, section: open.section });
    if let Some(body) = body {
        read_into(script, budget, body.text, dialect, body.line, open.section, depth + 1);
    }
}

/// A statement of a block without what stands before it: `IF … THEN`, `BEGIN`, `LOOP`, `EXCEPTION WHEN … THEN`.
fn inner(mut tokens: Vec<Token<'_>>) -> Vec<Token<'_>> {
    const LEADS: &[&str] = &["BEGIN", "THEN", "ELSE", "LOOP"];
    const VERBS: &[&str] = &[
        "ALTER", "CREATE", "DELETE", "DROP", "EXECUTE", "GRANT", "INSERT", "LOCK", "PERFORM", "TRUNCATE", "UPDATE",
        "WITH",
    ];
    let is = |token: &Token<'_>, words: &[&str]| words.iter().any(|word| token.is(word));
    let is_block = tokens.first().is_some_and(|token| {
        is(token, &["BEGIN", "IF", "ELSIF", "ELSE", "FOR", "WHILE", "LOOP", "EXCEPTION", "WHEN", "DECLARE"])
    });
    if is_block && let Some(at) = tokens.windows(2).position(|pair| is(&pair[0], LEADS) && is(&pair[1], VERBS)) {
        tokens.drain(..=at);
    }
    tokens
}

/// What a comment says to goose, dbmate, sql-migrate, sqlx, Liquibase or Atlas.
fn direct(script: &mut Script<'_>, open: &mut Open<'_>, said: &str) {
    let said: String = said.chars().take(200).collect::<String>().to_ascii_lowercase();
    let said = said.trim();
    let after = |mark: &str| said.strip_prefix(mark).map(str::trim);
    if let Some(rest) = after("+goose").or_else(|| after("+migrate")) {
        if rest.starts_with("down") {
            open.section = Section::Down;
            script.has_down = true;
        } else if rest.starts_with("up") {
            open.section = Section::Up;
            script.has_up = true;
        }
        script.no_transaction |= rest.starts_with("no transaction") || rest.contains("notransaction");
    } else if let Some(rest) = after("migrate:") {
        if rest.starts_with("down") {
            open.section = Section::Down;
            script.has_down = true;
        } else if rest.starts_with("up") {
            open.section = Section::Up;
            script.has_up = true;
        }
        script.no_transaction |= rest.contains("transaction:false");
    } else if said.starts_with("no-transaction")
        || said.starts_with("atlas:txmode none")
        || said.starts_with("changeset") && said.contains("runintransaction:false")
        || said.starts_with("executeintransaction=false")
    {
        script.no_transaction = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Line and words of each statement.
    fn statements(text: &str, dialect: Dialect) -> Vec<String> {
        read(text, dialect, 1)
            .statements
            .iter()
            .map(|s| {
                let words: Vec<&str> = s.tokens.iter().map(|token| token.text).collect();
                format!("{}{} {}", s.line(), if s.section == Section::Down { "-" } else { "" }, words.join(" "))
            })
            .collect()
    }

    #[test]
    fn strings_comments_and_quotes_hide_what_ends_a_statement() {
        let text = "-- a; b\nSELECT ';' /* ; /* ; */ ; */ , \"x;y\" , $$ ; $$, $t$ $$ ; $t$, E'\\';', 'it''s;';\nDROP\nTABLE a";
        assert_eq!(
            statements(text, Dialect::Postgres),
            ["2 SELECT ; , x;y ,  ;  ,  $$ ;  , \\'; , it''s;", "3 DROP TABLE a"]
        );
        let text = "# a; b\nSELECT `a;b`, 'x\\';y', \"q;\"; /*!40101 SET NAMES utf8 */;\nDROP TABLE `t`;";
        assert_eq!(
            statements(text, Dialect::MySql),
            ["2 SELECT a;b , x\\';y , q;", "2 SET NAMES utf8", "3 DROP TABLE t"]
        );
        assert_eq!(
            statements("DROP TABLE [a;b]\nGO\nSELECT 1", Dialect::SqlServer),
            ["1 DROP TABLE a;b", "3 SELECT 1"]
        );
    }

    #[test]
    fn a_body_of_a_routine_is_one_statement() {
        let text = "CREATE TRIGGER t AFTER INSERT ON a BEGIN UPDATE b SET c = CASE WHEN 1 THEN 2 END; DELETE FROM d; END;\nSELECT 1;";
        assert_eq!(statements(text, Dialect::Sqlite).len(), 2);
        let text =
            "DELIMITER //\nCREATE PROCEDURE p() BEGIN IF a THEN DELETE FROM t; END IF; END//\nDELIMITER ;\nSELECT 1;";
        assert_eq!(statements(text, Dialect::MySql).last().map(String::as_str), Some("4 SELECT 1"));
        assert_eq!(statements(text, Dialect::MySql).len(), 2);
        let text = "CREATE PROCEDURE p() BEGIN IF a THEN DELETE FROM t; END IF; END;\nSELECT 1;";
        assert_eq!(statements(text, Dialect::MySql).len(), 2);
        let text = "CREATE FUNCTION f() RETURNS int AS $$ BEGIN DELETE FROM t; END $$ LANGUAGE plpgsql;\nSELECT 1;";
        assert_eq!(statements(text, Dialect::Postgres).len(), 2);
    }

    #[test]
    fn what_a_do_block_does_is_done_now() {
        let text =
            "DO $$\nBEGIN\n  IF NOT EXISTS (SELECT 1) THEN\n    ALTER TABLE a DROP b;\n  END IF;\nEND\n$$;\nSELECT 2;";
        let found = statements(text, Dialect::Postgres);
        assert!(found.contains(&"4 ALTER TABLE a DROP b".to_owned()), "{found:?}");
        assert_eq!(found.last().map(String::as_str), Some("8 SELECT 2"));
    }

    #[test]
    fn comments_open_the_way_back() {
        for (up, down) in
            [("+goose Up", "+goose Down"), ("migrate:up", "migrate:down"), ("+migrate Up", "+migrate Down")]
        {
            let text = format!("-- {up}\nSELECT 1;\n-- {down}\nDROP TABLE a;\n");
            assert_eq!(statements(&text, Dialect::Postgres), ["2 SELECT 1", "4- DROP TABLE a"]);
        }
        for mark in ["-- no-transaction", "-- +goose NO TRANSACTION", "-- migrate:up transaction:false"] {
            assert!(read(mark, Dialect::Postgres, 1).no_transaction, "{mark}");
        }
    }

    #[test]
    fn data_and_commands_of_psql_are_no_sql() {
        let text = "\\set x 'y\nCOPY a (b) FROM stdin;\n1\tit's;\n\\.\nSELECT 1;\n\\i other.sql\nSELECT 2;";
        assert_eq!(statements(text, Dialect::Postgres), ["2 COPY a ( b ) FROM stdin", "5 SELECT 1", "7 SELECT 2"]);
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        assert_eq!(read("SELECT 1; SELECT 'a", Dialect::Postgres, 1).faults, [UNCLOSED]);
        assert_eq!(read("SELECT 1; SELECT 'a", Dialect::Postgres, 1).statements.len(), 1);
        assert_eq!(read("SELECT (1;", Dialect::Postgres, 1).faults, [UNBALANCED]);
        assert_eq!(read(&"a ".repeat(MAX_TOKENS + 1), Dialect::Postgres, 1).faults, [TOO_MANY]);
        assert_eq!(read(&"a;".repeat(MAX_STATEMENTS + 1), Dialect::Postgres, 1).faults, [TOO_MANY]);
        let nested = format!("DO $a$ DO $b$ DO $c$ DO $d$ DO $e$ {} $e$ $d$ $c$ $b$ $a$", "DROP TABLE t");
        assert!(read(&nested, Dialect::Postgres, 1).statements.len() <= MAX_BODY_DEPTH + 1);
    }
}
