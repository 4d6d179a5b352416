//! Stand-ins for standard interfaces that no role is granted: every call is denied and counted.

use wasmtime::component::types::{ComponentFunc, ComponentInstance, ComponentItem, Type};
use wasmtime::component::{Linker, Resource, ResourceAny, ResourceType, Val};
use wasmtime::{Engine, StoreContextMut};

use crate::state::State;

/// The host's side of a resource of a stubbed interface. It holds nothing.
struct Nothing;

/// Resource names that stubbed interfaces borrow from `wasi:io`, where they are real.
const BORROWED: &[&str] = &["pollable", "input-stream", "output-stream", "error"];

/// Error cases that say "denied", in order of preference.
const DENIED: &[&str] = &["access-denied", "access", "not-permitted", "denied", "HTTP-request-denied", "not-supported"];

/// A call to a stubbed function whose type has no way to say no.
#[derive(Debug, thiserror::Error)]
#[error("the role called `{function}`, which no role is granted")]
pub(crate) struct StubTrap {
    pub function: String,
}

/// Defines every function and resource of `instance` as a stub.
pub(crate) fn link(linker: &mut Linker<State>, name: &str, instance: &ComponentInstance) -> wasmtime::Result<()> {
    let engine: Engine = linker.engine().clone();
    let mut defined = linker.instance(name)?;
    for (export, item) in instance.exports(&engine) {
        match item.ty {
            ComponentItem::ComponentFunc(_) => {
                let function = format!("{name}#{export}");
                defined.func_new(export, move |store, ty, arguments, results| {
                    deny(store, &function, &ty, arguments, results)
                })?;
            }
            ComponentItem::Resource(_) if !BORROWED.contains(&export) => {
                defined.resource(export, ResourceType::host::<Nothing>(), |_, _| Ok(()))?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn deny(
    mut store: StoreContextMut<'_, State>,
    function: &str,
    ty: &ComponentFunc,
    arguments: &[Val],
    results: &mut [Val],
) -> wasmtime::Result<()> {
    store.data_mut().count_stub(function);
    for argument in arguments {
        give_back(&mut store, argument)?;
    }
    let (Some(result), Some(ty)) = (results.first_mut(), ty.results().next()) else {
        return Ok(());
    };
    *result = match refusal(&ty) {
        Some(value) => value,
        // Such as `instance-network`: a handle that opens nothing.
        None if matches!(ty, Type::Own(_)) => {
            Val::Resource(ResourceAny::try_from_resource(Resource::<Nothing>::new_own(0), &mut store)?)
        }
        None => return Err(wasmtime::Error::new(StubTrap { function: function.to_owned() })),
    };
    Ok(())
}

/// Drops the handles in an argument. A host function that is called with values owns them, and one that keeps a borrow is a
/// trap.
fn give_back(store: &mut StoreContextMut<'_, State>, value: &Val) -> wasmtime::Result<()> {
    match value {
        Val::Resource(handle) => handle.resource_drop(&mut *store),
        Val::List(values) | Val::Tuple(values) => values.iter().try_for_each(|value| give_back(store, value)),
        Val::Record(fields) => fields.iter().try_for_each(|(_, value)| give_back(store, value)),
        Val::Variant(_, payload) | Val::Option(payload) | Val::Result(Ok(payload) | Err(payload)) => {
            payload.iter().try_for_each(|value| give_back(store, value))
        }
        _ => Ok(()),
    }
}

/// A value of `ty` that means "denied" or "nothing".
fn refusal(ty: &Type) -> Option<Val> {
    match ty {
        Type::Result(result) => match result.err() {
            None => Some(Val::Result(Err(None))),
            Some(error) => Some(Val::Result(Err(Some(Box::new(error_case(&error)?))))),
        },
        Type::Option(_) => Some(Val::Option(None)),
        Type::List(_) => Some(Val::List(Vec::new())),
        _ => None,
    }
}

fn error_case(ty: &Type) -> Option<Val> {
    match ty {
        Type::Enum(cases) => {
            let names: Vec<&str> = cases.names().collect();
            let name = DENIED.iter().find(|d| names.contains(d)).copied().or_else(|| names.first().copied())?;
            Some(Val::Enum(name.to_owned()))
        }
        Type::Variant(cases) => {
            let plain: Vec<String> =
                cases.cases().filter(|case| case.ty.is_none()).map(|case| case.name.to_owned()).collect();
            let name = DENIED
                .iter()
                .map(|d| (*d).to_owned())
                .find(|d| plain.contains(d))
                .or_else(|| plain.first().cloned())?;
            Some(Val::Variant(name, None))
        }
        Type::String => Some(Val::String("denied".into())),
        _ => None,
    }
}
