//! What no compiler of a language makes is refused by its outline, and in good time; what they make is not.

use super::*;

const PROBE: &[u8] = include_bytes!("../../../../../tests/guests/built/probe.wasm");
const JAVASCRIPT: &[u8] = include_bytes!("../../../../../manifests/linear/modules/cycle_report.wasm");

fn of(text: &str) -> Result<usize, Misfit> {
    outline(&wat::parse_str(text).unwrap()).map(|modules| modules.len())
}

/// A component with one core module that has this function.
fn with(locals: usize, body: &str) -> String {
    let locals = "i32 ".repeat(locals);
    format!("(component (core module (func (local {locals}) {body})))")
}

#[test]
fn what_compilers_make_is_let_through() {
    assert!(outline(PROBE).is_ok());
    assert!(outline(JAVASCRIPT).is_ok());
    assert_eq!(of(&with(3, "(block (block))")), Ok(1));
}

/// Each level makes the one before it twice: a few bytes more, and twice as much to put together.
fn doubling(levels: usize) -> String {
    let level = |level: usize| {
        let twice = "(instance (instantiate $b))".repeat(2);
        format!("(component $c{level} (alias outer 1 $c{} (component $b)) {twice})", level - 1)
    };
    let inner = (1..=levels).map(level).collect::<Vec<_>>().concat();
    format!("(component (component $c0) {inner} (instance (instantiate $c{levels})))")
}

#[test]
fn components_that_double_with_each_level_are_refused() {
    assert_eq!(of(&doubling(5)), Ok(0));
    for levels in [9, 24, 200] {
        assert_eq!(of(&doubling(levels)), Err(Misfit::Parts), "{levels}");
    }
    // An exported component has a number more.
    let exported = "(component (component $a) (export $b \"x\" (component $a)) (instance (instantiate $b)))";
    assert_eq!(of(exported), Ok(0));
    let handed_in = "(component (import \"x\" (component $a)) (instance (instantiate $a)))";
    assert_eq!(of(handed_in), Err(Misfit::Parts));
}

#[test]
fn core_instances_inside_of_instances_are_counted() {
    let many = |count: usize| {
        let instances = "(core instance (instantiate $m))".repeat(count);
        format!(
            "(component (component $c (core module $m) {instances}) (instance (instantiate $c)) (instance (instantiate $c)))"
        )
    };
    assert_eq!(of(&many(100)), Ok(1));
    assert_eq!(of(&many(300)), Err(Misfit::Parts));
}

#[test]
fn functions_without_number_are_refused() {
    let many = |count: usize| format!("(component (core module {}))", "(func)".repeat(count));
    assert_eq!(of(&many(50_000)), Ok(1));
    assert_eq!(of(&many(50_001)), Err(Misfit::Costly(Cost::Functions)));
}

#[test]
fn a_function_that_is_too_long_is_refused() {
    assert_eq!(of(&with(1, &"nop ".repeat(1 << 20))), Err(Misfit::Costly(Cost::Body)));
}

#[test]
fn blocks_inside_of_blocks_without_end_are_refused() {
    let nested = |depth: usize| with(1, &format!("{}{}", "block ".repeat(depth), "end ".repeat(depth)));
    assert_eq!(of(&nested(2000)), Ok(1));
    assert_eq!(of(&nested(2001)), Err(Misfit::Costly(Cost::Nesting)));
}

#[test]
fn locals_that_change_in_too_many_branches_are_refused() {
    let loops = |count: usize| "loop end ".repeat(count);
    assert_eq!(of(&with(999, &loops(400))), Ok(1));
    assert_eq!(of(&with(1000, &loops(400))), Err(Misfit::Costly(Cost::Tangle)));
    let table = with(1000, &format!("block (br_table {} (i32.const 0)) end", "0 ".repeat(400)));
    assert_eq!(of(&table), Err(Misfit::Costly(Cost::Tangle)));
    let each = format!("(func (local {}) {})", "i32 ".repeat(999), loops(400));
    let all = |count: usize| of(&format!("(component (core module {}))", each.repeat(count)));
    assert_eq!((all(20), all(21)), (Ok(1), Err(Misfit::Costly(Cost::Tangle))));
}
