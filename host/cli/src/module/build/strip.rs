//! Takes everything out of a component that does not run: names, producers, debug information.

use wasm_encoder::{ComponentSectionId, Encode as _, RawSection, Section as _};
use wasmparser::{BinaryReaderError, Encoding, Parser, Payload};

/// How a core module begins, and a component.
const MODULE: &[u8] = &[0, b'a', b's', b'm', 1, 0, 0, 0];
const COMPONENT: &[u8] = &[0, b'a', b's', b'm', 0x0d, 0, 1, 0];

/// The same component, or core module, without custom sections at any depth.
pub(super) fn strip(bytes: &[u8]) -> Result<Vec<u8>, BinaryReaderError> {
    // What surrounds the part that is read, and the id of the section that the part is.
    let mut outside: Vec<(Vec<u8>, u8)> = Vec::new();
    let mut part = Vec::new();
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload?;
        match &payload {
            Payload::Version { encoding: Encoding::Module, .. } => part.extend_from_slice(MODULE),
            Payload::Version { encoding: Encoding::Component, .. } => part.extend_from_slice(COMPONENT),
            Payload::ModuleSection { .. } => {
                outside.push((std::mem::take(&mut part), ComponentSectionId::CoreModule.into()));
            }
            Payload::ComponentSection { .. } => {
                outside.push((std::mem::take(&mut part), ComponentSectionId::Component.into()));
            }
            Payload::End(_) => {
                if let Some((mut around, id)) = outside.pop() {
                    around.push(id);
                    part.as_slice().encode(&mut around);
                    part = around;
                }
            }
            Payload::CustomSection(_) => {}
            other => {
                if let Some((id, range)) = other.as_section() {
                    let data = bytes.get(range).unwrap_or_default();
                    RawSection { id, data }.append_to(&mut part);
                }
            }
        }
    }
    Ok(part)
}
