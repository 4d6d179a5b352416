//! What `wit-bindgen` makes of the world `agent` of `wit/role.wit`. The only place of the crate with unsafe code.
#![allow(missing_docs, unsafe_code, clippy::all, clippy::pedantic, clippy::restriction)]

wit_bindgen::generate!({
    path: "wit",
    world: "agent",
    pub_export_macro: true,
    export_macro_name: "export_worker",
    default_bindings_module: "brain_role::bindings",
    additional_derives: [PartialEq],
});
