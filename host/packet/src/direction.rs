//! Direction tags. Brain to agent, and agent to Brain: there is no third.
//!
//! Each tag is a type with one value. A packet cannot be built with the wrong one, and JSON that carries the wrong one
//! does not parse: the error names the field, what it has to be and what was found. An agent-to-agent packet has no
//! type, so there is nothing to send.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::terminal::quoted;

macro_rules! tag {
    ($(#[$doc:meta])* $name:ident, $field:literal, $value:literal, $of:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub struct $name;

        impl $name {
            /// What the tag reads as in JSON.
            pub const VALUE: &'static str = $value;
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(Self::VALUE)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(Self::VALUE)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct OneValue;
                impl de::Visitor<'_> for OneValue {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        write!(f, concat!("\"", $value, "\" in `", $field, "`, since ", $of))
                    }

                    fn visit_str<E: de::Error>(self, found: &str) -> Result<$name, E> {
                        if found == $value {
                            return Ok($name);
                        }
                        Err(E::custom(format_args!(
                            concat!("wrong direction: expected \"", $value, "\" in `", $field, "`, found {}; ", $of),
                            quoted(found)
                        )))
                    }
                }
                deserializer.deserialize_str(OneValue)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "const": $value, "type": "string" })
            }
        }
    };
}

tag!(
    /// A handoff comes from Brain.
    FromBrain, "fromLayer", "brain", "a handoff goes from brain to agent"
);
tag!(
    /// A handoff goes to an agent.
    ToAgent, "toLayer", "agent", "a handoff goes from brain to agent"
);
tag!(
    /// A result comes from an agent.
    FromAgent, "fromLayer", "agent", "a result goes from agent to brain"
);
tag!(
    /// A result goes to Brain.
    ToBrain, "toLayer", "brain", "a result goes from agent to brain"
);
tag!(
    /// The layer of Brain's own task.
    BrainLayer, "layer", "brain", "this is brain's own task"
);
tag!(
    /// The layer of a worker's task.
    AgentLayer, "layer", "agent", "this is a worker's task"
);
