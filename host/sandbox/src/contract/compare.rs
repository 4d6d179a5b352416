//! Where two WIT types differ, by name: the exact item, not "type mismatch".

use wit_parser::{Function, Handle, Resolve, Type, TypeDefKind, TypeId};

/// Nesting of types that a comparison goes into. The contract's own types are far below it.
const MAX_DEPTH: usize = 32;

/// One place where a component's type is not the contract's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    /// The item, such as `worker-result.findings`.
    pub item: String,
    /// What the contract has there.
    pub contract: String,
    /// What the component has there.
    pub component: String,
}

/// The contract's side and the component's side of a comparison.
pub(crate) struct Compare<'a> {
    pub contract: &'a Resolve,
    pub component: &'a Resolve,
}

impl Compare<'_> {
    /// The differences between two functions, in the order of the contract.
    pub(crate) fn functions(&self, contract: &Function, component: &Function) -> Vec<Difference> {
        let mut out = Vec::new();
        let name = &contract.name;
        if contract.params.len() == component.params.len() {
            for (ours, theirs) in contract.params.iter().zip(&component.params) {
                self.types(&ours.name, &ours.ty, &theirs.ty, 0, &mut out);
            }
        } else {
            out.push(Difference {
                item: name.clone(),
                contract: count(contract.params.len(), "parameter"),
                component: count(component.params.len(), "parameter"),
            });
        }
        match (&contract.result, &component.result) {
            (Some(ours), Some(theirs)) => self.types(&format!("the result of {name}"), ours, theirs, 0, &mut out),
            (None, None) => {}
            (ours, theirs) => out.push(Difference {
                item: format!("the result of {name}"),
                contract: self.optional(self.contract, ours.as_ref()),
                component: self.optional(self.component, theirs.as_ref()),
            }),
        }
        out
    }

    fn types(&self, item: &str, ours: &Type, theirs: &Type, depth: usize, out: &mut Vec<Difference>) {
        let ours = plain(self.contract, *ours);
        let theirs = plain(self.component, *theirs);
        let (Type::Id(a), Type::Id(b)) = (ours, theirs) else {
            if ours != theirs {
                out.push(Difference {
                    item: item.to_owned(),
                    contract: describe(self.contract, &ours, 0),
                    component: describe(self.component, &theirs, 0),
                });
            }
            return;
        };
        if depth < MAX_DEPTH {
            self.definitions(item, a, b, depth + 1, out);
        }
    }

    fn definitions(&self, item: &str, a: TypeId, b: TypeId, depth: usize, out: &mut Vec<Difference>) {
        use TypeDefKind as K;
        let (Some(ours), Some(theirs)) = (self.contract.types.get(a), self.component.types.get(b)) else {
            return;
        };
        let name = ours.name.as_deref().unwrap_or(item);
        let differ = |out: &mut Vec<Difference>| {
            out.push(Difference {
                item: item.to_owned(),
                contract: describe(self.contract, &Type::Id(a), 0),
                component: describe(self.component, &Type::Id(b), 0),
            });
        };
        match (&ours.kind, &theirs.kind) {
            (K::Record(x), K::Record(y)) => {
                let ours: Vec<_> = x.fields.iter().map(|f| (f.name.as_str(), Some(f.ty))).collect();
                let theirs: Vec<_> = y.fields.iter().map(|f| (f.name.as_str(), Some(f.ty))).collect();
                self.members(name, "field", &ours, &theirs, depth, out);
            }
            (K::Variant(x), K::Variant(y)) => {
                let ours: Vec<_> = x.cases.iter().map(|c| (c.name.as_str(), c.ty)).collect();
                let theirs: Vec<_> = y.cases.iter().map(|c| (c.name.as_str(), c.ty)).collect();
                self.members(name, "case", &ours, &theirs, depth, out);
            }
            (K::Enum(x), K::Enum(y)) => {
                let ours: Vec<_> = x.cases.iter().map(|c| (c.name.as_str(), None)).collect();
                let theirs: Vec<_> = y.cases.iter().map(|c| (c.name.as_str(), None)).collect();
                self.members(name, "case", &ours, &theirs, depth, out);
            }
            (K::Flags(x), K::Flags(y)) => {
                let ours: Vec<_> = x.flags.iter().map(|c| (c.name.as_str(), None)).collect();
                let theirs: Vec<_> = y.flags.iter().map(|c| (c.name.as_str(), None)).collect();
                self.members(name, "flag", &ours, &theirs, depth, out);
            }
            (K::Option(x), K::Option(y)) | (K::List(x), K::List(y)) => self.types(item, x, y, depth, out),
            (K::Tuple(x), K::Tuple(y)) if x.types.len() == y.types.len() => {
                for (x, y) in x.types.iter().zip(&y.types) {
                    self.types(item, x, y, depth, out);
                }
            }
            (K::Result(x), K::Result(y)) => {
                for (x, y) in [(&x.ok, &y.ok), (&x.err, &y.err)] {
                    match (x, y) {
                        (Some(x), Some(y)) => self.types(item, x, y, depth, out),
                        (None, None) => {}
                        _ => differ(out),
                    }
                }
            }
            (K::Handle(Handle::Own(x)), K::Handle(Handle::Own(y)))
            | (K::Handle(Handle::Borrow(x)), K::Handle(Handle::Borrow(y))) => {
                self.types(item, &Type::Id(*x), &Type::Id(*y), depth, out);
            }
            (K::Resource, K::Resource) => {}
            _ => differ(out),
        }
    }

    /// Compares the named members of a record, variant, enum or flags. Order counts: it is the layout.
    fn members(
        &self,
        of: &str,
        kind: &str,
        ours: &[(&str, Option<Type>)],
        theirs: &[(&str, Option<Type>)],
        depth: usize,
        out: &mut Vec<Difference>,
    ) {
        let before = out.len();
        for (name, ty) in ours {
            match theirs.iter().find(|(other, _)| other == name) {
                None => out.push(Difference {
                    item: format!("{of}.{name}"),
                    contract: match ty {
                        Some(ty) => format!("the {kind} `{name}: {}`", describe(self.contract, ty, 0)),
                        None => format!("the {kind} `{name}`"),
                    },
                    component: "nothing".into(),
                }),
                Some((_, other)) => match (ty, other) {
                    (Some(a), Some(b)) => self.types(&format!("{of}.{name}"), a, b, depth, out),
                    (None, None) => {}
                    (a, b) => out.push(Difference {
                        item: format!("{of}.{name}"),
                        contract: self.optional(self.contract, a.as_ref()),
                        component: self.optional(self.component, b.as_ref()),
                    }),
                },
            }
        }
        for (name, _) in theirs {
            if !ours.iter().any(|(other, _)| other == name) {
                out.push(Difference {
                    item: format!("{of}.{name}"),
                    contract: "nothing".into(),
                    component: format!("the {kind} `{name}`"),
                });
            }
        }
        if out.len() == before && ours.iter().map(|m| m.0).ne(theirs.iter().map(|m| m.0)) {
            let list = |members: &[(&str, Option<Type>)]| members.iter().map(|m| m.0).collect::<Vec<_>>().join(", ");
            out.push(Difference {
                item: of.to_owned(),
                contract: format!("the {kind}s in the order {}", list(ours)),
                component: format!("the order {}", list(theirs)),
            });
        }
    }

    fn optional(&self, resolve: &Resolve, ty: Option<&Type>) -> String {
        ty.map_or_else(|| "nothing".into(), |ty| describe(resolve, ty, 0))
    }
}

/// A type behind its aliases.
fn plain(resolve: &Resolve, mut ty: Type) -> Type {
    for _ in 0..MAX_DEPTH {
        match ty {
            Type::Id(id) => match resolve.types.get(id).map(|t| &t.kind) {
                Some(TypeDefKind::Type(inner)) => ty = *inner,
                _ => break,
            },
            _ => break,
        }
    }
    ty
}

/// A type as WIT writes it.
fn describe(resolve: &Resolve, ty: &Type, depth: usize) -> String {
    if depth > MAX_DEPTH {
        return "…".into();
    }
    let inner = |ty: &Type| describe(resolve, ty, depth + 1);
    let Type::Id(id) = ty else {
        return match ty {
            Type::Bool => "bool",
            Type::U8 => "u8",
            Type::U16 => "u16",
            Type::U32 => "u32",
            Type::U64 => "u64",
            Type::S8 => "s8",
            Type::S16 => "s16",
            Type::S32 => "s32",
            Type::S64 => "s64",
            Type::F32 => "f32",
            Type::F64 => "f64",
            Type::Char => "char",
            Type::String => "string",
            Type::ErrorContext | Type::Id(_) => "error-context",
        }
        .into();
    };
    let Some(def) = resolve.types.get(*id) else { return "an unknown type".into() };
    if let Some(name) = &def.name {
        return name.clone();
    }
    let or_none = |ty: &Option<Type>| ty.as_ref().map_or_else(|| "_".into(), inner);
    match &def.kind {
        TypeDefKind::Option(t) => format!("option<{}>", inner(t)),
        TypeDefKind::List(t) => format!("list<{}>", inner(t)),
        TypeDefKind::Tuple(t) => format!("tuple<{}>", t.types.iter().map(inner).collect::<Vec<_>>().join(", ")),
        TypeDefKind::Result(r) => format!("result<{}, {}>", or_none(&r.ok), or_none(&r.err)),
        TypeDefKind::Handle(Handle::Own(id)) => inner(&Type::Id(*id)),
        TypeDefKind::Handle(Handle::Borrow(id)) => format!("borrow<{}>", inner(&Type::Id(*id))),
        TypeDefKind::Type(t) => inner(t),
        other => other.as_str().into(),
    }
}

fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn differences(theirs: &str) -> Vec<Difference> {
        let parse = |body: &str| {
            let mut resolve = Resolve::default();
            let text = format!("package t:t; interface i {{ {body} }}");
            resolve.push_source("t.wit", &text).unwrap();
            resolve
        };
        let ours = parse("enum e { a, b } record r { x: option<e>, y: list<string> } f: func(p: r) -> result<u32, e>;");
        let theirs = parse(theirs);
        let function = |r: &Resolve| r.interfaces.iter().next().unwrap().1.functions.get("f").unwrap().clone();
        let (a, b) = (function(&ours), function(&theirs));
        Compare { contract: &ours, component: &theirs }.functions(&a, &b)
    }

    #[test]
    fn equal_types_have_no_differences_whatever_they_are_called() {
        let same =
            "enum k { a, b } type q = k; record z { x: option<q>, y: list<string> } f: func(p: z) -> result<u32, q>;";
        assert_eq!(differences(same), []);
    }

    #[test]
    fn the_exact_member_is_named() {
        let missing = "enum e { a } record r { x: option<e>, y: list<string> } f: func(p: r) -> result<u32, e>;";
        let found = differences(missing);
        assert_eq!(found.first().map(|d| (d.item.as_str(), d.component.as_str())), Some(("e.b", "nothing")));

        let retyped = "enum e { a, b } record r { x: option<e>, y: list<u8> } f: func(p: r) -> result<u32, e>;";
        assert_eq!(
            differences(retyped),
            [Difference { item: "r.y".into(), contract: "string".into(), component: "u8".into() }]
        );
    }

    #[test]
    fn order_and_arity_count() {
        let swapped = "enum e { b, a } record r { x: option<e>, y: list<string> } f: func(p: r) -> result<u32, e>;";
        assert!(differences(swapped).iter().any(|d| d.contract.contains("in the order a, b")));
        let more = "enum e { a, b } record r { x: option<e>, y: list<string> } f: func(p: r, q: u8) -> result<u32, e>;";
        assert!(differences(more).iter().any(|d| d.component == "2 parameters"));
        let silent = "enum e { a, b } record r { x: option<e>, y: list<string> } f: func(p: r);";
        assert!(differences(silent).iter().any(|d| d.component == "nothing"));
    }
}
