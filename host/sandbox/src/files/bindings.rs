//! Bindings of `wasi:filesystem`, with its resources mapped to the types of this module and everything else to
//! wasmtime-wasi's.
#![allow(missing_docs)]

wasmtime::component::bindgen!({
    path: "wit",
    world: "brain:host/files",
    imports: { default: trappable },
    with: {
        "wasi:io/error": wasmtime_wasi_io::bindings::wasi::io::error,
        "wasi:io/poll": wasmtime_wasi::p2::bindings::sync::io::poll,
        "wasi:io/streams": wasmtime_wasi::p2::bindings::sync::io::streams,
        "wasi:clocks": wasmtime_wasi::p2::bindings::clocks,
        "wasi:filesystem/types.descriptor": super::Descriptor,
        "wasi:filesystem/types.directory-entry-stream": super::EntryStream,
    },
    trappable_error_type: {
        "wasi:filesystem/types.error-code" => super::FsError,
    },
    require_store_data_send: true,
});
