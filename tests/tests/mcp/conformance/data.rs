//! What the suite asks a server under test to have: tools, prompts and resources with fixed contents, as JSON.
//!
//! Names, texts and schemas are the suite's words; its scenarios look for them.

use serde_json::{Value, json};

/// A red pixel, as PNG.
const IMAGE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
/// Silence, as WAV.
const AUDIO: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

/// Tools whose results are always the same.
pub(super) fn results() -> Vec<(&'static str, Value)> {
    let text = |text: &str| json!({"type": "text", "text": text});
    let image = json!({"type": "image", "data": IMAGE, "mimeType": "image/png"});
    let resource = |uri: &str, kind: &str, text: &str| json!({"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": text}});
    vec![
        ("test_simple_text", json!({"content": [text("This is a simple text response for testing.")]})),
        ("test_image_content", json!({"content": [image.clone()]})),
        (
            "test_audio_content",
            json!({"content": [{"type": "audio", "data": AUDIO, "mimeType": "audio/wav"}]}),
        ),
        (
            "test_embedded_resource",
            json!({"content": [
                resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")
            ]}),
        ),
        (
            "test_multiple_content_types",
            json!({"content": [
                text("Multiple content types test:"), image,
                resource("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#)
            ]}),
        ),
        (
            "test_error_handling",
            json!({"isError": true, "content": [text("This tool intentionally returns an error for testing")]}),
        ),
        ("test_logging_tool", json!({"content": [text("It logs nothing that nobody asked for.")]})),
    ]
}

/// Every other tool, by its name.
pub(super) const OTHERS: [&str; 17] = [
    "test_tool_with_progress",
    "test_tool_with_logging",
    "test_missing_capability",
    "test_streaming_elicitation",
    "test_sampling",
    "test_elicitation",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
    "test_input_required_result_prompt",
];

/// How a tool is listed.
pub(super) fn tool(name: &str) -> Value {
    let argument = match name {
        "test_sampling" => Some("prompt"),
        "test_elicitation" => Some("message"),
        _ => None,
    };
    let schema = match argument {
        Some(argument) => json!({"type": "object", "required": [argument], "additionalProperties": false,
                                 "properties": {argument: {"type": "string", "description": "What is shown."}}}),
        None => json!({"type": "object", "properties": {}, "additionalProperties": false}),
    };
    json!({"name": name, "description": "A fixture of the conformance suite.", "inputSchema": schema})
}

/// What a client is asked by a round of a tool or a prompt, by the key that its answer has.
pub(super) fn question(key: &str) -> Value {
    let form = |message: &str, field: &str, kind: &str| {
        json!({"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": {
            "type": "object", "properties": {field: {"type": kind}}, "required": [field]}}})
    };
    let sampling = |text: &str| {
        json!({"method": "sampling/createMessage", "params": {"maxTokens": 100, "messages": [
            {"role": "user", "content": {"type": "text", "text": text}}]}})
    };
    match key {
        "user_name" => form("What is your name?", "name", "string"),
        "confirm" => form("Please confirm", "ok", "boolean"),
        "step1" => form("Step 1: What is your name?", "name", "string"),
        "step2" => form("Step 2: What is your favorite color?", "color", "string"),
        "user_context" => form("What context should the prompt use?", "context", "string"),
        "capital_question" => sampling("What is the capital of France?"),
        "greeting" => sampling("Generate a greeting"),
        "client_roots" => json!({"method": "roots/list", "params": {}}),
        other => panic!("there is no question `{other}`"),
    }
}

/// The form of a tool that asks in the middle of its call.
pub(super) fn form(tool: &str) -> Value {
    let choice = |value: &str, title: &str| json!({"const": value, "title": title});
    let three = |word: &str| {
        json!([
            choice("value1", &format!("First {word}")),
            choice("value2", &format!("Second {word}")),
            choice("value3", &format!("Third {word}"))
        ])
    };
    match tool {
        "test_elicitation" => json!({
            "username": {"type": "string", "description": "User's response"},
            "email": {"type": "string", "description": "User's email address"}
        }),
        "test_elicitation_sep1034_defaults" => json!({
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
            "verified": {"type": "boolean", "default": true}
        }),
        "test_elicitation_sep1330_enums" => json!({
            "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
            "titledSingle": {"type": "string", "oneOf": three("Option")},
            "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"],
                           "enumNames": ["Option One", "Option Two", "Option Three"]},
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
            "titledMulti": {"type": "array", "items": {"anyOf": three("Choice")}}
        }),
        other => panic!("`{other}` has no form"),
    }
}

/// The prompts, as they are listed.
pub(super) fn prompts() -> Value {
    let argument = |name: &str| json!({"name": name, "description": "An argument.", "required": true});
    let prompt = |name: &str, arguments: Vec<Value>| json!({"name": name, "description": "A fixture of the conformance suite.", "arguments": arguments});
    json!([
        prompt("test_simple_prompt", vec![]),
        prompt("test_prompt_with_arguments", vec![argument("arg1"), argument("arg2")]),
        prompt("test_prompt_with_embedded_resource", vec![argument("resourceUri")]),
        prompt("test_prompt_with_image", vec![]),
        prompt("test_input_required_result_prompt", vec![]),
    ])
}

/// A prompt's messages, with these arguments.
pub(super) fn messages(name: &str, argument: impl Fn(&str) -> String) -> Option<Value> {
    let user = |content: Value| json!({"role": "user", "content": content});
    let text = |text: String| json!({"role": "user", "content": {"type": "text", "text": text}});
    let messages = match name {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.".to_owned())],
        "test_prompt_with_arguments" => {
            let (first, second) = (argument("arg1"), argument("arg2"));
            vec![text(format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
        }
        "test_prompt_with_embedded_resource" => vec![
            user(
                json!({"type": "resource", "resource": {"uri": argument("resourceUri"), "mimeType": "text/plain",
                        "text": "Embedded resource content for testing."}}),
            ),
            text("Please process the embedded resource above.".to_owned()),
        ],
        "test_prompt_with_image" => vec![
            user(json!({"type": "image", "data": IMAGE, "mimeType": "image/png"})),
            text("Please analyze the image above.".to_owned()),
        ],
        "test_input_required_result_prompt" => vec![text("The context is known.".to_owned())],
        _ => return None,
    };
    Some(json!({"messages": messages}))
}

/// The resources, as they are listed.
pub(super) fn resources() -> Value {
    let resource = |uri: &str, name: &str, kind: &str| json!({"uri": uri, "name": name, "description": "A fixture of the conformance suite.", "mimeType": kind});
    json!([
        resource("test://static-text", "text", "text/plain"),
        resource("test://static-binary", "binary", "image/png"),
    ])
}

/// The one template.
pub(super) fn templates() -> Value {
    json!([{"uriTemplate": "test://template/{id}/data", "name": "data", "mimeType": "application/json",
            "description": "A fixture of the conformance suite."}])
}

/// What is at an address.
pub(super) fn contents(uri: &str) -> Option<Value> {
    let content = match uri {
        "test://static-text" => json!({"uri": uri, "mimeType": "text/plain",
                                       "text": "This is the content of the static text resource."}),
        "test://static-binary" => json!({"uri": uri, "mimeType": "image/png", "blob": IMAGE}),
        _ => {
            let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
            let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            json!({"uri": uri, "mimeType": "application/json", "text": data.to_string()})
        }
    };
    Some(json!({"contents": [content]}))
}
