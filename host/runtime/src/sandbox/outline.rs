//! The outline of some bytes, before anything is made of them: a whole component, of parts that can be put together and
//! compiled in good time.
//!
//! Refuses what no compiler of a language makes: parts inside of parts without end, parts that are instantiated by each other
//! again and again, so many functions, or one so tangled, that to compile it takes minutes or gigabytes. INVARIANT: what is
//! looked at here is read once, and takes time and memory by its size alone.

use wasmparser::{
    BinaryReaderError, ComponentAlias, ComponentExternalKind, ComponentInstance, ComponentOuterAliasKind,
    ComponentTypeRef, Encoding, FunctionBody, Instance, Operator, Parser, Payload,
};

use super::fault::{Cost, Misfit};

/// How deep parts of a component stand inside of each other: what tools make of several components has two or three.
const DEPTH_MAX: usize = 10;
/// Most instantiations of all parts, those that an instantiated component makes included. Python has 40.
const INSTANTIATIONS_MAX: u64 = 500;
/// Most functions of all core modules together. Python has 13,500.
const FUNCTIONS_MAX: u64 = 50_000;
/// Most bytes of a function. Python's largest has 430,000.
const BODY_MAX: usize = 1 << 20;
/// Deepest nesting of blocks in a function. Python's deepest is 780.
const NESTING_MAX: usize = 2_000;
/// Most locals of a function times the blocks and branches that they may change in, which a compiler has to keep apart; of one
/// function, and of all. Python has 180,000 and 4,000,000.
const TANGLE_MAX: u64 = 400_000;
const TANGLES_MAX: u64 = 8_000_000;

/// What is known of the component that is being read.
#[derive(Default)]
struct Frame {
    /// What to instantiate each of the components costs that have a number in it.
    components: Vec<u64>,
    /// What its own instances cost.
    cost: u64,
}

/// Looks at the outline of some bytes. Gives the core modules in it.
pub(super) fn outline(bytes: &[u8]) -> Result<Vec<&[u8]>, Misfit> {
    let mut outline = Outline::default();
    for payload in Parser::new(0).parse_all(bytes) {
        outline.take(payload.map_err(invalid)?, bytes)?;
    }
    Ok(outline.modules)
}

fn invalid(_error: BinaryReaderError) -> Misfit {
    Misfit::Invalid
}

#[derive(Default)]
struct Outline<'b> {
    modules: Vec<&'b [u8]>,
    /// The components around what is being read; the last is the innermost.
    frames: Vec<Frame>,
    in_module: bool,
    functions: u64,
    tangles: u64,
}

impl<'b> Outline<'b> {
    fn take(&mut self, payload: Payload<'b>, bytes: &'b [u8]) -> Result<(), Misfit> {
        match payload {
            Payload::Version { encoding: Encoding::Module, .. } if self.frames.is_empty() => {
                return Err(Misfit::CoreModule);
            }
            Payload::Version { encoding: Encoding::Module, .. } => self.in_module = true,
            Payload::Version { encoding: Encoding::Component, .. } => {
                if self.frames.len() > DEPTH_MAX {
                    return Err(Misfit::Deep);
                }
                self.frames.push(Frame::default());
            }
            Payload::ModuleSection { unchecked_range, .. } => {
                self.modules.push(bytes.get(unchecked_range).ok_or(Misfit::Invalid)?);
            }
            Payload::CodeSectionEntry(body) => {
                self.functions = self.functions.saturating_add(1);
                if self.functions > FUNCTIONS_MAX {
                    return Err(Misfit::Costly(Cost::Functions));
                }
                self.tangles = self.tangles.saturating_add(tangle(&body)?);
                if self.tangles > TANGLES_MAX {
                    return Err(Misfit::Costly(Cost::Tangle));
                }
            }
            Payload::End(_) if self.in_module => self.in_module = false,
            Payload::End(_) => self.end_component(),
            Payload::InstanceSection(instances) => {
                for instance in instances {
                    if matches!(instance.map_err(invalid)?, Instance::Instantiate { .. }) {
                        self.spend(1)?;
                    }
                }
            }
            Payload::ComponentInstanceSection(instances) => {
                for instance in instances {
                    if let ComponentInstance::Instantiate { component_index, .. } =
                        instance.map_err(invalid)?
                    {
                        let cost = self.cost_of(0, component_index)?;
                        self.spend(cost.saturating_add(1))?;
                    }
                }
            }
            Payload::ComponentAliasSection(aliases) => {
                for alias in aliases {
                    match alias.map_err(invalid)? {
                        ComponentAlias::Outer { kind: ComponentOuterAliasKind::Component, count, index } => {
                            let cost = self.cost_of(count, index)?;
                            self.number(cost);
                        }
                        // Whose it is would have to be known.
                        ComponentAlias::InstanceExport { kind: ComponentExternalKind::Component, .. } => {
                            return Err(Misfit::Parts);
                        }
                        _ => {}
                    }
                }
            }
            Payload::ComponentImportSection(imports) => {
                for import in imports {
                    // A component that is handed in; nobody does.
                    if matches!(import.map_err(invalid)?.ty, ComponentTypeRef::Component(_)) {
                        self.number(INSTANTIATIONS_MAX);
                    }
                }
            }
            Payload::ComponentExportSection(exports) => {
                for export in exports {
                    let export = export.map_err(invalid)?;
                    if export.kind == ComponentExternalKind::Component {
                        let cost = self.cost_of(0, export.index)?;
                        self.number(cost);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// What it costs to instantiate a component by its number, so many components further out.
    fn cost_of(&self, out: u32, index: u32) -> Result<u64, Misfit> {
        let (out, index) = (usize::try_from(out), usize::try_from(index));
        let frame = out.ok().and_then(|out| self.frames.iter().rev().nth(out));
        let cost = frame.zip(index.ok()).and_then(|(frame, index)| frame.components.get(index));
        cost.copied().ok_or(Misfit::Invalid)
    }

    /// The next number of a component in the innermost one stands for this.
    fn number(&mut self, cost: u64) {
        if let Some(frame) = self.frames.last_mut() {
            frame.components.push(cost);
        }
    }

    fn spend(&mut self, cost: u64) -> Result<(), Misfit> {
        let Some(frame) = self.frames.last_mut() else { return Err(Misfit::Invalid) };
        frame.cost = frame.cost.saturating_add(cost);
        if frame.cost > INSTANTIATIONS_MAX { Err(Misfit::Parts) } else { Ok(()) }
    }

    fn end_component(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.number(frame.cost);
        }
    }
}

/// How tangled a function is, if no more than compilers make them.
fn tangle(body: &FunctionBody<'_>) -> Result<u64, Misfit> {
    if body.range().len() > BODY_MAX {
        return Err(Misfit::Costly(Cost::Body));
    }
    let mut locals = 1_u64;
    for local in body.get_locals_reader().map_err(invalid)? {
        locals = locals.saturating_add(u64::from(local.map_err(invalid)?.0));
    }
    let (mut nesting, mut joins) = (0_usize, 0_u64);
    for operator in body.get_operators_reader().map_err(invalid)? {
        match operator.map_err(invalid)? {
            Operator::Block { .. }
            | Operator::Loop { .. }
            | Operator::If { .. }
            | Operator::TryTable { .. } => {
                nesting = nesting.saturating_add(1);
                joins = joins.saturating_add(1);
                if nesting > NESTING_MAX {
                    return Err(Misfit::Costly(Cost::Nesting));
                }
            }
            Operator::End => nesting = nesting.saturating_sub(1),
            Operator::Br { .. } | Operator::BrIf { .. } => joins = joins.saturating_add(1),
            Operator::BrTable { targets } => joins = joins.saturating_add(targets.len().into()),
            _ => {}
        }
    }
    match locals.saturating_mul(joins) {
        tangle if tangle > TANGLE_MAX => Err(Misfit::Costly(Cost::Tangle)),
        tangle => Ok(tangle),
    }
}

#[cfg(test)]
mod tests;
