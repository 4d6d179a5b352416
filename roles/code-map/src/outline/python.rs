//! Python, by the parser of ruff. It repairs as it goes, so a file with errors has an outline too.

use ruff_python_ast::token::TokenKind;
use ruff_python_ast::{Expr, PySourceType, Stmt};
use ruff_python_parser::parse_unchecked_source;
use ruff_text_size::{Ranged, TextRange};

use super::{Definition, Found, Kind, Lines};

pub(super) fn outline(text: &str) -> Found {
    let parsed = parse_unchecked_source(text, PySourceType::Python);
    let mut reader = Reader { lines: Lines::new(text), found: Found::default() };
    let comments = parsed.tokens().iter().filter(|token| token.kind() == TokenKind::Comment);
    reader.found.comments.extend(comments.map(|token| bytes(token.range())));
    reader.doc_string(parsed.suite());
    reader.block(parsed.suite(), &Scope::default());
    let mut found = reader.found;
    found.comments.sort_by_key(|range| range.start);
    let lines = Lines::new(text);
    for definition in &mut found.definitions {
        definition.top = definition.top.min(super::comment_top(&lines, text, &found.comments, definition.top));
    }
    found
}

struct Reader {
    lines: Lines,
    found: Found,
}

#[derive(Clone, Default)]
struct Scope {
    /// Name of the class or function around.
    container: Option<String>,
    class: bool,
    function: bool,
    test: bool,
}

fn bytes(range: TextRange) -> std::ops::Range<usize> {
    range.start().to_usize()..range.end().to_usize()
}

impl Reader {
    fn line(&self, ranged: &impl Ranged) -> u32 {
        self.lines.of(ranged.range().start().to_usize())
    }

    /// The doc string at the start of a body counts as a comment.
    fn doc_string(&mut self, body: &[Stmt]) {
        if let Some(Stmt::Expr(first)) = body.first()
            && first.value.is_string_literal_expr()
        {
            self.found.comments.push(bytes(first.range()));
        }
    }

    // The depth of this recursion is bounded by the guard: every block is indented or in brackets.
    fn block(&mut self, body: &[Stmt], scope: &Scope) {
        for statement in body {
            self.statement(statement, scope);
        }
    }

    fn statement(&mut self, statement: &Stmt, scope: &Scope) {
        match statement {
            Stmt::FunctionDef(function) => {
                let name = function.name.as_str();
                let test = scope.test || name.starts_with("test_");
                let kind = match scope.class {
                    _ if name.starts_with("test") && (name.starts_with("test_") || scope.test) => Kind::Test,
                    true => Kind::Method,
                    false => Kind::Function,
                };
                self.define(name, kind, scope, self.line(&function.name), self.line(function), function.range(), test);
                self.doc_string(&function.body);
                self.block(
                    &function.body,
                    &Scope { container: Some(name.to_owned()), class: false, function: true, test },
                );
            }
            Stmt::ClassDef(class) => {
                let name = class.name.as_str();
                let test = scope.test
                    || (name.starts_with("Test")
                        && class
                            .body
                            .iter()
                            .any(|inner| matches!(inner, Stmt::FunctionDef(f) if f.name.starts_with("test"))));
                self.define(name, Kind::Class, scope, self.line(&class.name), self.line(class), class.range(), test);
                self.doc_string(&class.body);
                self.block(
                    &class.body,
                    &Scope { container: Some(name.to_owned()), class: true, function: false, test },
                );
            }
            Stmt::Assign(assign) if !scope.function => {
                if let [Expr::Name(target)] = assign.targets.as_slice() {
                    self.constant(target.id.as_str(), statement, scope);
                }
            }
            Stmt::AnnAssign(assign) if !scope.function => {
                if let Expr::Name(target) = assign.target.as_ref() {
                    self.constant(target.id.as_str(), statement, scope);
                }
            }
            Stmt::TypeAlias(alias) => {
                if let Expr::Name(target) = alias.name.as_ref() {
                    self.define(
                        target.id.as_str(),
                        Kind::Type,
                        scope,
                        self.line(alias),
                        self.line(alias),
                        alias.range(),
                        scope.test,
                    );
                }
            }
            Stmt::If(inner) => {
                if is_main_guard(&inner.test) {
                    self.define(
                        "__main__",
                        Kind::Function,
                        scope,
                        self.line(inner),
                        self.line(inner),
                        inner.range(),
                        false,
                    );
                }
                self.block(&inner.body, scope);
                for clause in &inner.elif_else_clauses {
                    self.block(&clause.body, scope);
                }
            }
            Stmt::Try(inner) => {
                self.block(&inner.body, scope);
                for handler in &inner.handlers {
                    let ruff_python_ast::ExceptHandler::ExceptHandler(handler) = handler;
                    self.block(&handler.body, scope);
                }
                self.block(&inner.orelse, scope);
                self.block(&inner.finalbody, scope);
            }
            Stmt::With(inner) => self.block(&inner.body, scope),
            Stmt::For(inner) => self.block(&inner.body, scope),
            Stmt::While(inner) => self.block(&inner.body, scope),
            _ => {}
        }
    }

    /// Names in capitals, and names that hold a whole object of a module, such as `app` and `router`.
    fn constant(&mut self, name: &str, statement: &Stmt, scope: &Scope) {
        if !name.starts_with('_') || name.chars().any(char::is_uppercase) {
            self.define(
                name,
                Kind::Constant,
                scope,
                self.line(statement),
                self.line(statement),
                statement.range(),
                scope.test,
            );
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn define(&mut self, name: &str, kind: Kind, scope: &Scope, line: u32, top: u32, range: TextRange, test: bool) {
        if name.is_empty() {
            return;
        }
        let end = self.lines.of(range.end().to_usize().saturating_sub(1)).max(line);
        self.found.definitions.push(Definition {
            name: name.to_owned(),
            kind,
            container: scope.container.clone(),
            line,
            top: top.min(line),
            end,
            test,
        });
    }
}

/// `if __name__ == "__main__":`
fn is_main_guard(test: &Expr) -> bool {
    let Expr::Compare(compare) = test else { return false };
    matches!(compare.left.as_ref(), Expr::Name(name) if name.id.as_str() == "__name__")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_functions_constants_and_tests() {
        let text = "\"\"\"Module.\"\"\"\nMAX = 1\n\n# Above.\n@cached\nclass Store:\n    \"\"\"Keeps.\"\"\"\n    size: int = 0\n\n    async def put(self, key):\n        x = 1\n        def inner(): pass\n\ndef test_put():\n    pass\n\nif __name__ == '__main__':\n    run()\n";
        let mut found = outline(text);
        found.definitions.sort_by_key(|d| d.line);
        let rows: Vec<_> = found.definitions.iter().map(|d| (d.qualified(), d.kind, d.line, d.test)).collect();
        let rows: Vec<_> = rows.iter().map(|(name, kind, line, test)| (name.as_str(), *kind, *line, *test)).collect();
        let expected = [
            ("MAX", Kind::Constant, 2, false),
            ("Store", Kind::Class, 6, false),
            ("Store::size", Kind::Constant, 8, false),
            ("Store::put", Kind::Method, 10, false),
            ("put::inner", Kind::Function, 12, false),
            ("test_put", Kind::Test, 14, true),
            ("__main__", Kind::Function, 17, false),
        ];
        assert_eq!(rows, expected);
        assert_eq!(found.definitions[1].top, 4);
        assert_eq!(found.comments.len(), 3);
    }

    #[test]
    fn a_broken_file_still_has_an_outline() {
        let found = outline("def a(:\n  pass\nclass B\n  def c(self): return (\ndef d(): pass\n");
        assert!(found.definitions.iter().any(|d| d.name == "a"), "{found:?}");
    }
}
