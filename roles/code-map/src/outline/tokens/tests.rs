use super::super::tables::Table;
use super::super::tables::{
    self, C, CPP, CSHARP, GO, JAVA, JAVASCRIPT, KOTLIN, PHP, PROTO, PYTHON, RUBY, RUST, SCALA, SHELL, SQL, SWIFT, WIT,
};
use super::outline;
use crate::outline::Definition;

/// `name:kind:line-end` of every definition, a test with `!`.
fn rows(table: &Table, text: &str) -> String {
    let found = outline(table, text);
    let row = |d: &Definition| {
        format!("{}:{}:{}-{}{}", d.qualified(), d.kind.name(), d.line, d.end, if d.test { "!" } else { "" })
    };
    found.definitions.iter().map(row).collect::<Vec<_>>().join(" ")
}

#[test]
fn go() {
    let text = "package a // func no()\n\nconst Max = 1\n\ntype Store struct {\n\tf func(int) int\n}\ntype Reader interface{ Read() }\nfunc (s *Store) Put(k string) error {\n\tx := func() {}\n\treturn `}`\n}\nfunc Map[T any](f func(T) T) T { var a T; return a }\nfunc TestPut(t *testing.T) {}\n";
    assert_eq!(
        rows(&GO, text),
        "Max:constant:3-3 Store:struct:5-7 Reader:interface:8-8 Store::Put:method:9-12 Map:function:13-13 TestPut:test:14-14!"
    );
}

#[test]
fn java_and_csharp() {
    let text = "package a;\n/** class No */\npublic class Store<T> extends Base implements A, B {\n  private final int x = call(1);\n  public Store(int a) { super(a); }\n  @Test\n  void puts() throws IOException, E {\n    if (a) { b(); }\n    new Thread() { public void run() {} };\n  }\n  abstract int size();\n  enum Kind { A, B }\n}\nrecord Point(int x, int y) {}\n";
    assert_eq!(
        rows(&JAVA, text),
        "Store:class:3-13 Store::Store:method:5-5 Store::puts:test:7-10! Store::Kind:enum:12-12 Point:struct:14-14"
    );
    let text = "namespace A.B {\n  [Fact]\n  public async Task<int> Runs() {\n    foreach (var a in b) { }\n  }\n  public int X { get; set; }\n}\n";
    assert_eq!(rows(&CSHARP, text), "A.B:module:1-7 A.B::Runs:test:3-5!");
}

#[test]
fn kotlin_swift_and_scala() {
    let text = "data class A(val b: Int) {\n  fun c(): Int = 1\n  companion object { fun d() {} }\n}\nfun <T> List<T>.second(): T { fun inner() {} }\nobject O\n";
    assert!(
        rows(&KOTLIN, text).starts_with("A:class:1-4 A::c:method:2-2") && rows(&KOTLIN, text).contains("O:class:6-6"),
        "{}",
        rows(&KOTLIN, text)
    );
    assert!(
        rows(&KOTLIN, text).contains("List::second:method:5-5") && !rows(&KOTLIN, text).contains("inner"),
        "{}",
        rows(&KOTLIN, text)
    );
    let text = "/* a /* b */ func no() */\nstruct A: B {\n  func c<T>(_ x: T) -> Int { 1 }\n}\nextension A { func testD() {} }\n";
    assert_eq!(rows(&SWIFT, text), "A:struct:2-4 A::c:method:3-3 A:type:5-5 A::testD:test:5-5!");
    assert_eq!(
        rows(&SCALA, "object A {\n  def b(c: Int): Int = c\n  trait D\n}\n"),
        "A:class:1-4 A::b:method:2-2 A::D:interface:3-3"
    );
}

#[test]
fn c_and_cpp() {
    let text = "#define MAX(a) (a)\nstruct list { struct list *next; };\ntypedef struct { int a; } point_t;\ntypedef int (*callback)(int);\nstatic int\nput(struct list *l, const char *k)\n{\n  if (k) { return f('}'); }\n  while (x()) {}\n}\nint declared(void);\nint main(void) { return 0; }\n";
    assert_eq!(rows(&C, text), "MAX:macro:1-1 list:struct:2-2 point_t:type:3-3 put:function:6-10 main:function:12-12");
    let text = "namespace a::b {\nclass Store : public Base<int> {\n public:\n  Store() : x_(1), y_{2} {}\n  ~Store() = default;\n  int size() const noexcept override { return 1; }\n};\nint Store::put(int k) { return k; }\nenum class Kind { A };\nextern \"C\" { void c_api() {} }\n}\nstruct Store;\n";
    let found = rows(&CPP, text);
    for row in [
        "a::b:module:1-11",
        "Store:class:2-7",
        "Store::size:method:6-6",
        "Store::put:method:8-8",
        "Kind:enum:9-9",
        "c_api:function:10-10",
    ] {
        assert!(found.contains(row), "{row} in {found}");
    }
}

#[test]
fn php_ruby_and_shell() {
    let text = "<?php\nnamespace App\\Http;\n# function no() {}\nabstract class A extends B {\n  public function c(): int { return \"}\"; }\n}\nfunction &d() {}\n";
    let found = rows(&PHP, text);
    assert!(found.contains("A:class:4-6") && found.contains("A::c:method:5-5"), "{found}");
    let text = "# class No\nmodule A\n  class B < C\n    def self.d(x)\n      if x then 1 end\n    end\n    def e? = 1\n  end\nend\ndescribe \"b\" do\n  it 'works' do\n    1\n  end\nend\n";
    let found = rows(&RUBY, text);
    for row in ["A:module:2-9", "A::B:class:3-8", "B::d:method:4-6", "b:test:10-14!", "b::works:test:11-13!"] {
        assert!(found.contains(row), "{row} in {found}");
    }
    let text = "#!/bin/sh\nset -e # no() {}\nbuild-all() {\n  echo \"} done() {\"\n}\nfunction go_on {\n  :\n}\nif test -f a; then b; fi\n";
    assert_eq!(rows(&SHELL, text), "build-all:function:3-5 go_on:function:6-8");
}

#[test]
fn sql_proto_and_wit() {
    let text = "-- create table no (a int);\nCREATE TABLE IF NOT EXISTS app.users (\n  id int, type text\n);\ncreate or replace function total(a int) returns int as 'x';\nALTER TABLE users ADD b int;\nselect 1 from table_x;\n";
    assert_eq!(rows(&SQL, text), "users:table:2-4 total:function:5-5");
    assert_eq!(
        rows(&PROTO, "message A {\n  int32 a = 1;\n  enum B { X = 0; }\n}\nservice S { rpc Get(A) returns (A); }\n"),
        "A:struct:1-4 A::B:enum:3-3 S:interface:5-5 S::Get:method:5-5"
    );
    assert_eq!(
        rows(&WIT, "/// a\ninterface packets {\n  record worker-result { a: u8 }\n}\nworld role { }\n"),
        "packets:interface:2-4 packets::worker-result:struct:3-3 role:module:5-5"
    );
}

#[test]
fn languages_with_parsers_have_a_table_too() {
    assert_eq!(
        rows(
            &RUST,
            "mod a {\n  pub struct B<'a>(&'a str);\n  impl<'a> B<'a> {\n    #[test]\n    fn c() { let x = '{'; }\n  }\n"
        ),
        "a:module:1-1 a::B:struct:2-2 a::B:type:3-6 B::c:test:5-5!"
    );
    assert_eq!(
        rows(&PYTHON, "class A:\n  '''def no():'''\n  async def b(self):\n    pass\n\ndef test_c(): pass\n"),
        "A:class:1-4 A::b:method:3-4 test_c:test:6-6!"
    );
    let found = rows(
        &JAVASCRIPT,
        "export const a = async (b) => {\n  if (c) {}\n}\nclass D {\n  e(f) { g() }\n}\nit('works', () => {})\nfunction h() { i() }\n",
    );
    for row in ["a:function:1-3", "D:class:4-6", "D::e:method:5-5", "works:test:7", "h:function:8-8"] {
        assert!(found.contains(row), "{row} in {found}");
    }
}

#[test]
fn any_text_is_taken() {
    let all = [
        &tables::GO,
        &JAVA,
        &KOTLIN,
        &C,
        &CPP,
        &CSHARP,
        &SWIFT,
        &SCALA,
        &PHP,
        &RUBY,
        &SHELL,
        &SQL,
        &PROTO,
        &WIT,
        &RUST,
        &PYTHON,
        &JAVASCRIPT,
    ];
    let odd = [
        "",
        "\"",
        "'é\\",
        "/*",
        "/* /* */",
        "class",
        "class\n",
        "func (",
        "func (a",
        "def self.",
        "create table",
        "\"\\",
        "`\\é",
        "=begin",
        "#define",
        "}}}}",
        "typedef ;",
        "fun <",
        "it '",
        "\u{0}\u{feff}",
        "a-",
        "-",
        "impl <",
        "const x =",
        "x(",
        "struct {",
        "namespace a.",
    ];
    for table in all {
        for text in odd {
            outline(table, text);
            outline(table, &text.repeat(3));
        }
        outline(table, &"{(<[".repeat(100_000));
        outline(table, &"class A {".repeat(20_000));
    }
}
