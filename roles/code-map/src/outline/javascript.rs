//! JavaScript, TypeScript and JSX, by the parser of oxc.

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    ArrowFunctionBody, AssignmentExpression, AssignmentTarget, CallExpression, Class, ClassElement, Declaration,
    ExportDefaultDeclarationKind, Expression, Function, FunctionBody, ObjectPropertyKind, Statement,
    TSNamespaceDeclaration, TSNamespaceDeclarationBody, VariableDeclaration,
};
use oxc_parser::{ParseOptions, Parser};
use oxc_span::{GetSpan, SourceType, Span};

use super::{Definition, Found, Kind, Lines};

/// Functions whose call with a text and a function is a test, or a group of tests.
const TESTS: &[&str] = &["test", "it", "specify"];
const GROUPS: &[&str] = &["describe", "suite", "context"];

/// `None` when the parser gave up on the file.
pub(super) fn outline(path: &str, text: &str) -> Option<Found> {
    let source_type = SourceType::from_path(path).unwrap_or_else(|_| SourceType::tsx());
    // Many `.js` files have JSX.
    let source_type = if source_type.is_javascript() { source_type.with_jsx(true) } else { source_type };
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    let allocator = Allocator::default();
    let mut parsed = Parser::new(&allocator, text, source_type).with_options(options).parse();
    if parsed.panicked && source_type.is_javascript() {
        // Old scripts use as names what modules reserve.
        parsed = Parser::new(&allocator, text, source_type.with_script(true)).with_options(options).parse();
    }
    if parsed.panicked {
        return None;
    }
    let mut reader = Reader { lines: Lines::new(text), found: Found::default() };
    let comments = parsed.program.comments.iter().map(|comment| range(comment.span));
    reader.found.comments.extend(comments);
    reader.statements(&parsed.program.body, &Scope::default());
    let Reader { lines, mut found } = reader;
    for definition in &mut found.definitions {
        definition.top = super::comment_top(&lines, text, &found.comments, definition.top).min(definition.top);
    }
    Some(found)
}

fn range(span: Span) -> std::ops::Range<usize> {
    span.start as usize..span.end as usize
}

struct Reader {
    lines: Lines,
    found: Found,
}

/// Where a statement stands.
#[derive(Clone, Default)]
struct Scope {
    container: Option<String>,
    /// Inside a function: variables there are nobody's business.
    function: bool,
    test: bool,
}

impl Scope {
    fn inside(&self, container: &str) -> Self {
        Self { container: Some(container.to_owned()), ..self.clone() }
    }
}

impl Reader {
    fn define(&mut self, name: &str, kind: Kind, scope: &Scope, at: Span, whole: Span, test: bool) {
        let name = name.trim();
        if name.is_empty() {
            return;
        }
        let line = self.lines.of(at.start as usize);
        let top = self.lines.of(whole.start as usize).min(line);
        let end = self.lines.of((whole.end as usize).saturating_sub(1)).max(line);
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        self.found.definitions.push(Definition {
            name,
            kind,
            container: scope.container.clone(),
            line,
            top,
            end,
            test: test || scope.test,
        });
    }

    // The depth of the recursion below is bounded by the guard: every step down goes through a bracket or a link of a chain.
    fn statements(&mut self, body: &[Statement], scope: &Scope) {
        for statement in body {
            self.statement(statement, scope);
        }
    }

    fn statement(&mut self, statement: &Statement, scope: &Scope) {
        match statement {
            Statement::FunctionDeclaration(function) => self.function(function, None, scope, function.span),
            Statement::ClassDeclaration(class) => self.class(class, None, scope, class.span),
            Statement::VariableDeclaration(variables) => self.variables(variables, scope, variables.span),
            Statement::TSTypeAliasDeclaration(alias) => {
                self.define(alias.id.name.as_str(), Kind::Type, scope, alias.id.span, alias.span, false)
            }
            Statement::TSInterfaceDeclaration(interface) => {
                self.define(
                    interface.id.name.as_str(),
                    Kind::Interface,
                    scope,
                    interface.id.span,
                    interface.span,
                    false,
                );
            }
            Statement::TSEnumDeclaration(declared) => {
                self.define(declared.id.name.as_str(), Kind::Enum, scope, declared.id.span, declared.span, false)
            }
            Statement::TSNamespaceDeclaration(namespace) => self.namespace(namespace, scope),
            Statement::ExportDeclaration(export) => self.declaration(&export.declaration, scope, export.span),
            Statement::ExportDefaultDeclaration(export) => match &export.declaration {
                ExportDefaultDeclarationKind::FunctionDeclaration(function) => {
                    self.function(function, Some("default"), scope, export.span)
                }
                ExportDefaultDeclarationKind::ClassDeclaration(class) => {
                    self.class(class, Some("default"), scope, export.span)
                }
                ExportDefaultDeclarationKind::TSInterfaceDeclaration(interface) => {
                    self.define(
                        interface.id.name.as_str(),
                        Kind::Interface,
                        scope,
                        interface.id.span,
                        export.span,
                        false,
                    );
                }
                other => {
                    if let Some(value) = other.as_expression() {
                        self.value("default", value, scope, value.span(), export.span);
                    }
                }
            },
            Statement::ExpressionStatement(expression) => self.expression(&expression.expression, scope),
            Statement::BlockStatement(block) => self.statements(&block.body, scope),
            Statement::IfStatement(branch) => {
                self.statement(&branch.consequent, scope);
                if let Some(alternate) = &branch.alternate {
                    self.statement(alternate, scope);
                }
            }
            Statement::TryStatement(attempt) => self.statements(&attempt.block.body, scope),
            _ => {}
        }
    }

    fn declaration(&mut self, declaration: &Declaration, scope: &Scope, whole: Span) {
        match declaration {
            Declaration::FunctionDeclaration(function) => self.function(function, None, scope, whole),
            Declaration::ClassDeclaration(class) => self.class(class, None, scope, whole),
            Declaration::VariableDeclaration(variables) => self.variables(variables, scope, whole),
            Declaration::TSTypeAliasDeclaration(alias) => {
                self.define(alias.id.name.as_str(), Kind::Type, scope, alias.id.span, whole, false)
            }
            Declaration::TSInterfaceDeclaration(interface) => {
                self.define(interface.id.name.as_str(), Kind::Interface, scope, interface.id.span, whole, false);
            }
            Declaration::TSEnumDeclaration(declared) => {
                self.define(declared.id.name.as_str(), Kind::Enum, scope, declared.id.span, whole, false)
            }
            Declaration::TSNamespaceDeclaration(namespace) => self.namespace(namespace, scope),
            _ => {}
        }
    }

    fn namespace(&mut self, namespace: &TSNamespaceDeclaration, scope: &Scope) {
        let name = namespace.id.name.as_str();
        self.define(name, Kind::Module, scope, namespace.id.span, namespace.span, false);
        match &namespace.body {
            TSNamespaceDeclarationBody::TSModuleBlock(block) => self.statements(&block.body, &scope.inside(name)),
            TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => self.namespace(inner, &scope.inside(name)),
        }
    }

    fn function(&mut self, function: &Function, unnamed: Option<&str>, scope: &Scope, whole: Span) {
        let (name, at) = match &function.id {
            Some(id) => (id.name.as_str(), id.span),
            None => (unnamed.unwrap_or(""), function.span),
        };
        self.define(name, Kind::Function, scope, at, whole, false);
        self.body(name, function.body.as_deref(), scope);
    }

    fn body(&mut self, name: &str, body: Option<&FunctionBody>, scope: &Scope) {
        if let Some(body) = body {
            let scope = Scope { function: true, ..if name.is_empty() { scope.clone() } else { scope.inside(name) } };
            self.statements(&body.statements, &scope);
        }
    }

    fn class(&mut self, class: &Class, unnamed: Option<&str>, scope: &Scope, whole: Span) {
        let (name, at) = match &class.id {
            Some(id) => (id.name.as_str(), id.span),
            None => (unnamed.unwrap_or(""), class.span),
        };
        self.define(name, Kind::Class, scope, at, whole, false);
        let inside = scope.inside(name);
        for element in &class.body.body {
            match element {
                ClassElement::MethodDefinition(method) => {
                    if let Some(key) = method.key.name() {
                        self.define(&key, Kind::Method, &inside, method.key.span(), method.span, false);
                        self.body(&key, method.value.body.as_deref(), &inside);
                    }
                }
                ClassElement::PropertyDefinition(property) => {
                    if let (Some(key), Some(value)) = (property.key.name(), &property.value)
                        && is_function(value)
                    {
                        self.define(&key, Kind::Method, &inside, property.key.span(), property.span, false);
                    }
                }
                _ => {}
            }
        }
    }

    fn variables(&mut self, variables: &VariableDeclaration, scope: &Scope, whole: Span) {
        for variable in &variables.declarations {
            let Some(id) = variable.id.get_binding_identifier() else { continue };
            match &variable.init {
                Some(value) => self.value(id.name.as_str(), value, scope, id.span, whole),
                None if !scope.function => self.define(id.name.as_str(), Kind::Constant, scope, id.span, whole, false),
                None => {}
            }
        }
    }

    /// A name that is given a value.
    fn value(&mut self, name: &str, value: &Expression, scope: &Scope, at: Span, whole: Span) {
        match value {
            Expression::FunctionExpression(function) => {
                self.define(name, Kind::Function, scope, at, whole, false);
                self.body(name, function.body.as_deref(), scope);
            }
            Expression::ArrowFunctionExpression(function) => {
                self.define(name, Kind::Function, scope, at, whole, false);
                if let ArrowFunctionBody::FunctionBody(body) = &function.body {
                    self.body(name, Some(body), scope);
                }
            }
            Expression::ClassExpression(class) => self.class(class, Some(name), scope, whole),
            _ if scope.function => {}
            Expression::ObjectExpression(object) => {
                self.define(name, Kind::Constant, scope, at, whole, false);
                let inside = scope.inside(name);
                for property in &object.properties {
                    if let ObjectPropertyKind::ObjectProperty(property) = property
                        && is_function(&property.value)
                        && let Some(key) = property.key.name()
                    {
                        self.define(&key, Kind::Method, &inside, property.key.span(), property.span, false);
                    }
                }
            }
            // `const handler = wrap(async () => …)`: the function is what the name stands for.
            Expression::CallExpression(call)
                if call.arguments.iter().any(|argument| argument.as_expression().is_some_and(is_function)) =>
            {
                self.define(name, Kind::Function, scope, at, whole, false);
            }
            _ => self.define(name, Kind::Constant, scope, at, whole, false),
        }
    }

    fn expression(&mut self, expression: &Expression, scope: &Scope) {
        match expression {
            Expression::AssignmentExpression(assignment) => self.assignment(assignment, scope),
            Expression::CallExpression(call) => self.call(call, scope),
            _ => {}
        }
    }

    /// `exports.name = function …`, `Class.prototype.name = …`, `module.exports = { … }`.
    fn assignment(&mut self, assignment: &AssignmentExpression, scope: &Scope) {
        let AssignmentTarget::StaticMemberExpression(target) = &assignment.left else { return };
        let mut name = target.property.name.as_str();
        let mut at = target.property.span;
        // `module.exports = function name() { … }`: its own name says more.
        if name == "exports"
            && let Expression::FunctionExpression(function) = &assignment.right
            && let Some(id) = &function.id
        {
            (name, at) = (id.name.as_str(), id.span);
        }
        if is_function(&assignment.right)
            || (name == "exports" && matches!(assignment.right, Expression::ObjectExpression(_)))
        {
            self.value(name, &assignment.right, scope, at, assignment.span);
        }
    }

    /// `describe("…", () => { it("…", () => …) })`.
    fn call(&mut self, call: &CallExpression, scope: &Scope) {
        let Some(callee) = callee(&call.callee) else { return };
        let group = GROUPS.contains(&callee);
        if !group && !TESTS.contains(&callee) {
            return;
        }
        let name = match call.arguments.first().and_then(|argument| argument.as_expression()) {
            Some(Expression::StringLiteral(text)) => text.value.as_str(),
            Some(Expression::TemplateLiteral(text)) => text.quasis.first().map_or("", |part| part.value.raw.as_str()),
            _ => return,
        };
        self.define(name, Kind::Test, scope, call.span, call.span, true);
        if !group {
            return;
        }
        let inside = Scope { test: true, ..scope.inside(name) };
        for argument in &call.arguments {
            match argument.as_expression() {
                Some(Expression::ArrowFunctionExpression(function)) => {
                    if let ArrowFunctionBody::FunctionBody(body) = &function.body {
                        self.statements(&body.statements, &inside);
                    }
                }
                Some(Expression::FunctionExpression(function)) => {
                    if let Some(body) = &function.body {
                        self.statements(&body.statements, &inside);
                    }
                }
                _ => {}
            }
        }
    }
}

fn is_function(value: &Expression) -> bool {
    matches!(
        value,
        Expression::FunctionExpression(_) | Expression::ArrowFunctionExpression(_) | Expression::ClassExpression(_)
    )
}

/// `it` of `it`, `it.only` and `it.each(…)`.
fn callee<'a>(mut callee: &'a Expression) -> Option<&'a str> {
    loop {
        callee = match callee {
            Expression::Identifier(name) => return Some(name.name.as_str()),
            Expression::StaticMemberExpression(member) => &member.object,
            Expression::CallExpression(call) => &call.callee,
            Expression::TaggedTemplateExpression(tagged) => &tagged.tag,
            _ => return None,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_assignments_and_tests() {
        let text = "/** Keeps. */\nexport class Store<T> extends Base {\n  #size = 0;\n  put = async (key: string) => 1;\n  get(key: string): T { return this.items[key]; }\n}\n\
            export const load = async (path: string) => {\n  const inner = () => 1;\n  const x = 2;\n};\nexport interface Options { a?: string }\ntype Id = string;\nexport default function () {}\n\
            module.exports = { run() {}, stop: () => 1 };\nexports.go = function () {};\ndescribe('store', () => {\n  it.each([1])(`puts ${1}`, () => {});\n  it(\"gets\", async () => {});\n});\nnamespace A { export function b() {} }\n";
        let mut found = outline("src/store.ts", text).expect("parses");
        found.definitions.sort_by_key(|d| d.line);
        let rows: Vec<_> = found.definitions.iter().map(|d| (d.qualified(), d.kind, d.line, d.test)).collect();
        let rows: Vec<_> = rows.iter().map(|(name, kind, line, test)| (name.as_str(), *kind, *line, *test)).collect();
        let expected = [
            ("Store", Kind::Class, 2, false),
            ("Store::put", Kind::Method, 4, false),
            ("Store::get", Kind::Method, 5, false),
            ("load", Kind::Function, 7, false),
            ("load::inner", Kind::Function, 8, false),
            ("Options", Kind::Interface, 11, false),
            ("Id", Kind::Type, 12, false),
            ("default", Kind::Function, 13, false),
            ("exports", Kind::Constant, 14, false),
            ("exports::run", Kind::Method, 14, false),
            ("exports::stop", Kind::Method, 14, false),
            ("go", Kind::Function, 15, false),
            ("store", Kind::Test, 16, true),
            ("store::puts", Kind::Test, 17, true),
            ("store::gets", Kind::Test, 18, true),
            ("A", Kind::Module, 20, false),
            ("A::b", Kind::Function, 20, false),
        ];
        assert_eq!(rows, expected);
        assert_eq!(found.definitions[0].top, 1);
    }

    #[test]
    fn an_exported_function_has_its_own_name() {
        let text = "module.exports = function named(a) { return a; };\n";
        let found = outline("n.js", text).expect("parses");
        let names: Vec<_> = found.definitions.iter().map(|d| (d.qualified(), d.kind)).collect();
        assert_eq!(names, [("named".to_owned(), Kind::Function)]);
    }

    #[test]
    fn jsx_and_old_scripts_are_taken_from_plain_js() {
        for text in [
            "const a = () => <b c={1} />;",
            "function a() { with (b) {} }",
            "var await = 1; function a() {}",
            "function a() {}\nreturn 1;",
        ] {
            let found = outline("web/a.js", text);
            assert!(found.is_some_and(|found| found.definitions.iter().any(|d| d.name == "a")), "{text}");
        }
    }

    #[test]
    fn what_the_parser_gives_up_on_is_said() {
        assert!(outline("a.js", "function (((").is_none());
    }
}
