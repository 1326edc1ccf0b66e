//! A component without what it computes: the same types, imports, parts and exports, and not an instruction. Whether a
//! component loads is seen by its skeleton, in a small part of the time that compiling it takes.
//!
//! INVARIANT: what a skeleton leaves out was held against the engine before, so a component and its skeleton load alike.

use std::convert::Infallible;

use wasm_encoder::reencode::{self, Reencode, ReencodeComponent};
use wasm_encoder::{CodeSection, Component, DataSection, Module as CoreModule};
use wasmparser::{CustomSectionReader, Data, DataKind, FunctionBody, Parser};
use wasmtime::{Engine, Module};

use super::fault::Misfit;
use super::outline::outline;

/// A function that has no locals and traps: `unreachable`, `end`.
const TRAPS: &[u8] = &[0x00, 0x00, 0x0b];

/// Makes the skeleton of a component, once its core modules are known to be valid.
pub(super) fn skeleton(engine: &Engine, bytes: &[u8]) -> Result<Vec<u8>, Misfit> {
    for module in outline(bytes)? {
        Module::validate(engine, module).map_err(|_invalid| Misfit::Invalid)?;
    }
    let mut bones = Component::new();
    Bones.parse_component(&mut bones, Parser::new(0), bytes).map_err(|_unknown| Misfit::Invalid)?;
    Ok(bones.finish())
}

type Written = Result<(), reencode::Error<Infallible>>;

/// Writes what it reads, but for code, data and what tools note down.
struct Bones;

impl Reencode for Bones {
    type Error = Infallible;

    fn parse_function_body(&mut self, code: &mut CodeSection, _body: FunctionBody<'_>) -> Written {
        code.raw(TRAPS);
        Ok(())
    }

    fn parse_data(&mut self, section: &mut DataSection, data: Data<'_>) -> Written {
        match data.kind {
            DataKind::Active { memory_index, offset_expr } => {
                section.active(self.memory_index(memory_index)?, &self.const_expr(offset_expr)?, [])
            }
            DataKind::Passive => section.passive([]),
        };
        Ok(())
    }

    fn parse_custom_section(
        &mut self,
        _module: &mut CoreModule,
        _section: CustomSectionReader<'_>,
    ) -> Written {
        Ok(())
    }
}

impl ReencodeComponent for Bones {
    fn parse_component_custom_section(
        &mut self,
        _component: &mut Component,
        _section: CustomSectionReader<'_>,
    ) -> Written {
        Ok(())
    }
}
