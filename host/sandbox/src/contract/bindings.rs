//! Bindings of the contract's world `agent`, which includes `role`.
#![allow(missing_docs)]

wasmtime::component::bindgen!({
    path: "../../wit",
    world: "brain:role/agent",
    require_store_data_send: true,
});
