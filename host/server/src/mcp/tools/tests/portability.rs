//! What every client takes: schemas held against the rules of the pickiest.

use serde_json::{Value, json};

use super::*;

/// Holds a schema to the facts: no references, no unions of schemas, plain property names, one dialect.
fn assert_portable(name: &str, schema: &Value, place: &str) {
    let Value::Object(members) = schema else { return };
    for keyword in
        ["$ref", "$defs", "definitions", "oneOf", "anyOf", "allOf", "not", "if", "patternProperties"]
    {
        assert!(!members.contains_key(keyword), "{name} {place}: {keyword}");
    }
    if let Some(pattern) = members.get("pattern").and_then(Value::as_str) {
        assert!(portable::is_portable_pattern(pattern), "{name} {place}: {pattern}");
    }
    if let Some(format) = members.get("format") {
        assert_eq!(format, "date-time", "{name} {place}");
    }
    if members.contains_key("enum") {
        assert_eq!(members["type"], "string", "{name} {place}");
    }
    for (property, schema) in members.get("properties").and_then(Value::as_object).into_iter().flatten() {
        assert!(portable::is_portable_name(property), "{name} {place}: {property}");
        assert_portable(name, schema, &format!("{place}.{property}"));
    }
    for keyword in ["items", "additionalProperties"] {
        if let Some(schema) = members.get(keyword) {
            assert_portable(name, schema, &format!("{place}.{keyword}"));
        }
    }
}

fn held(tool: &Tool) {
    let name = &tool.name;
    let input = Value::Object((*tool.input_schema).clone());
    assert_eq!(input["type"], "object", "{name}");
    assert_eq!(input["additionalProperties"], false, "{name}");
    assert_portable(name, &input, "input");
    assert!(jsonschema::draft202012::meta::is_valid(&input), "{name}");
    if let Some(output) = &tool.output_schema {
        let output = Value::Object((**output).clone());
        assert_eq!(output["type"], "object", "{name}");
        assert_portable(name, &output, "output");
        assert!(jsonschema::draft202012::meta::is_valid(&output), "{name}");
    }
    let description = tool.description.as_deref().unwrap();
    assert!(description.len() < 2_048, "{name}: {}", description.len());
    assert!(pinhole_manifest::visible::is_plain_line(description), "{name}");
}

#[test]
fn every_tool_of_every_manifest_is_portable_and_short() {
    let catalog = built_in();
    let mut connections = all(&catalog, Access::Write);
    connections
        .extend(catalog.sources().map(|(service, _)| connected(service.as_str(), "other", Access::Write)));
    for mode in [ToolsMode::Each, ToolsMode::Search] {
        let offer = Offer::default().in_mode(mode).with_confirm_arg(ConfirmArg::Reversible);
        let toolbox = Toolbox::new(&catalog, &connections, &Reach::default(), &offer);
        for tool in listed(&toolbox) {
            held(&tool);
            let length = tool.description.as_deref().unwrap().chars().count();
            assert!(length <= 800, "{} has {length}", tool.name);
        }
    }
}

#[test]
fn the_longest_texts_of_a_manifest_stay_under_two_kilobytes() {
    let long = |most: usize| "ŵ".repeat(most);
    let bytes = manifest("long", &["look", "write_it"], |_, op| {
        op["summary"] = long(200).into();
        let fields: Vec<String> = (0..200).map(|n| format!("{}{n}", "f".repeat(50))).collect();
        op["pick"] = json!({ "fields": fields });
    });
    let catalog = catalog_of(&[bytes]);
    let connections = all(&catalog, Access::Write);
    let offer = Offer::default().with_confirm_arg(ConfirmArg::Reversible);
    for tool in listed(&Toolbox::new(&catalog, &connections, &Reach::default(), &offer)) {
        held(&tool);
    }
}

#[test]
fn an_arg_of_the_op_keeps_its_name_and_ours_gives_way() {
    let bytes = manifest("clash", &["look", "write_it"], |name, op| {
        op["args"]["properties"] = json!({
            "connection": {"type": "string", "description": "A wire."},
            "next": {"type": "string", "description": "A day."},
            "pinhole_next": {"type": "string", "description": "Odd."},
            "confirm": {"type": "string", "description": "A code."},
        });
        if name == "look" {
            let query = json!({
                "connection": "{connection}", "next": "{next}", "pinhole_next": "{pinhole_next}", "confirm": "{confirm}",
            });
            op["request"]["query"] = query;
            op["page"] = json!({"style": "page", "query": "page"});
            op["pick"] = json!({"root": "$[*]", "fields": ["id"]});
        } else {
            op["request"]["json"] = json!({
                "connection": "{connection}", "next": "{next}", "pinhole_next": "{pinhole_next}", "confirm": "{confirm}",
            });
        }
    });
    let catalog = catalog_of(&[bytes]);
    let connections = ["a", "b"].map(|label| connected("clash", label, Access::Write));
    let offer = Offer::default().with_confirm_arg(ConfirmArg::Reversible);
    let toolbox = Toolbox::new(&catalog, &connections, &Reach::default(), &offer);
    for (name, wanted) in [
        (
            "clash_look",
            ["connection", "next", "pinhole_next", "confirm", "pinhole_connection", "pinhole_next_"],
        ),
        (
            "clash_write_it",
            ["connection", "next", "pinhole_next", "confirm", "pinhole_connection", "pinhole_confirm"],
        ),
    ] {
        let Some(Target::Op(op)) = toolbox.find(name) else { panic!("{name}") };
        let schema = op.tool().input_schema;
        let properties = schema["properties"].as_object().unwrap();
        assert_eq!(properties.len(), wanted.len(), "{properties:?}");
        for name in wanted {
            assert!(properties.contains_key(name), "{name}");
        }
        assert_eq!(properties["connection"]["description"], "A wire.");
    }
    let arguments = json!({
        "connection": "copper", "next": "Monday", "pinhole_connection": "b", "pinhole_confirm": true, "confirm": "1234",
    });
    let Some(Target::Op(op)) = toolbox.find("clash_write_it") else { panic!() };
    let call = op.read(arguments.as_object().cloned()).unwrap();
    assert_eq!(call.connection().as_str(), "b");
    assert_eq!(call.yes(), pinhole_runtime::local::Yes::InTheClient);
    let args: Value = serde_json::from_str(call.args()).unwrap();
    assert_eq!(args, json!({"connection": "copper", "next": "Monday", "confirm": "1234"}));
}

#[test]
fn what_the_portable_schema_refuses_the_op_refuses_too() {
    let catalog = built_in();
    for entry in catalog.iter() {
        for op in entry.manifest.ops().values() {
            let validator = jsonschema::validator_for(&input::args_schema(op)).unwrap();
            // The recorded cases are calls of every kind.
            let cases = shapes::cases(entry.manifest.id().as_str(), op.id.as_str());
            assert!(!cases.is_empty(), "{}.{}", entry.manifest.id(), op.id);
            for (name, case) in cases {
                let text = case.args.as_str();
                if op.args.parse_text(text).is_ok() && !text.contains("null") {
                    let args: Value = serde_json::from_str(text).unwrap();
                    let valid = validator.is_valid(&args);
                    assert!(valid, "{} {name}: {:?}", op.id, validator.iter_errors(&args).next());
                }
            }
        }
    }
}
