//! The imports of the world `agent`. In a native build there is nobody to answer them, so they answer as a Brain does
//! that grants nothing.

/// Language-model access, for a role that is granted it. The role never names a model: the operator decides.
///
/// Where it is not granted, and in a native test, each function answers
/// [`ModelError::Denied`](model::ModelError::Denied).
pub mod model {
    pub use crate::bindings::brain::role::model::{
        Content, Image, Message, ModelError, ModelInfo, Request, Response, Speaker, StopReason, ToolCall, ToolReply,
        ToolSpec, Usage,
    };
    #[cfg(target_family = "wasm")]
    pub use crate::bindings::brain::role::model::{complete, info};

    /// What the model that will answer can take.
    ///
    /// # Errors
    /// Always [`ModelError::Denied`]: this is the native build.
    #[cfg(not(target_family = "wasm"))]
    pub fn info() -> Result<ModelInfo, ModelError> {
        Err(ModelError::Denied(super::NATIVE.to_owned()))
    }

    /// Asks the model and waits for its whole answer.
    ///
    /// # Errors
    /// Always [`ModelError::Denied`]: this is the native build.
    #[cfg(not(target_family = "wasm"))]
    pub fn complete(_request: &Request) -> Result<Response, ModelError> {
        Err(ModelError::Denied(super::NATIVE.to_owned()))
    }
}

/// Brain's own tools and connected MCP tools, for a role that is granted them.
///
/// Where nothing is granted, and in a native test, the list is empty and each call answers
/// [`ToolError::Denied`](tools::ToolError::Denied).
pub mod tools {
    pub use crate::bindings::brain::role::tools::{ToolError, ToolOutput, ToolSpec};
    #[cfg(target_family = "wasm")]
    pub use crate::bindings::brain::role::tools::{call, offered};

    /// The tools that this role may call: none in a native build.
    #[cfg(not(target_family = "wasm"))]
    pub fn offered() -> Vec<ToolSpec> {
        Vec::new()
    }

    /// Calls one tool by its name, with its arguments as a JSON object.
    ///
    /// # Errors
    /// Always [`ToolError::Denied`]: this is the native build.
    #[cfg(not(target_family = "wasm"))]
    pub fn call(_name: &str, _arguments_json: &str) -> Result<ToolOutput, ToolError> {
        Err(ToolError::Denied(super::NATIVE.to_owned()))
    }
}

#[cfg(not(target_family = "wasm"))]
const NATIVE: &str = "a native build has no model and no tools";
