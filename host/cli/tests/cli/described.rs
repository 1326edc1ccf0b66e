//! `pinhole manifest draft|verify`: from a provider's description to a manifest, and a manifest held against one.

use serde_json::{Value, json};

use crate::home::Home;

const YAML: &str = r#"
openapi: 3.0.3
info: { title: Shelf, version: "1" }
servers: [{ url: "https://api.shelf.pinhole.dev/v2" }]
paths:
  /books:
    get:
      operationId: listBooks
      parameters:
        - { name: sort, in: query, schema: { type: string, enum: [a, "no"] } }
      responses:
        200:
          description: ok
          content: { application/json: { schema: { type: array, items: { type: object, properties: { id: { type: integer } } } } } }
    post:
      operationId: addBook
      responses: { 204: { description: done } }
  /raw:
    get:
      operationId: "raw\u001b[31m"
      responses: { 200: { description: ok, content: { text/csv: {} } } }
"#;

const SDL: &str = "type Query { viewer: User, book(id: ID!): Book }\ntype User { id: ID! name: String }\ntype Book { id: ID! title: String }\n";

#[test]
fn a_description_in_yaml_becomes_a_manifest_that_checks_and_verifies() {
    let home = Home::empty();
    let spec = home.write("shelf.yaml", YAML);
    let to = home.path("manifest.json").to_str().unwrap().to_owned();
    let ran = home.run(&["manifest", "draft", &spec, "--all", "-o", &to]).expect(0);
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains("drafted 2 of 3 operations"), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("not drafted (answer_type)") && ran.stderr.contains("decide: /ops/"),
        "{}",
        ran.stderr
    );
    home.run(&["manifest", "check", &to]).expect(0);
    let verified = home.run(&["manifest", "verify", &to, "--spec", &spec]).expect(0);
    assert!(verified.stdout.contains("0 errors, 0 warnings"), "{}", verified.stdout);
    let again = home.run(&["manifest", "draft", &spec, "--all", "-o", &to]).expect(2);
    assert!(again.stderr.contains("could not be written"), "{}", again.stderr);
    let value: Value = serde_json::from_slice(&std::fs::read(&to).unwrap()).unwrap();
    assert_eq!(value["ops"]["list_books"]["args"]["properties"]["sort"]["enum"], json!(["a", "no"]));
}

#[test]
fn chosen_operations_go_to_stdout_or_into_one_document() {
    let home = Home::empty();
    let spec = home.write("shelf.yaml", YAML);
    let ran = home.run(&["manifest", "draft", &spec, "--op", "POST /books", "--op", "nobody"]).expect(0);
    let manifest: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(manifest["ops"].as_object().unwrap().keys().collect::<Vec<_>>(), ["add_book"]);
    assert!(ran.stderr.contains("not drafted (unknown): nobody"), "{}", ran.stderr);
    let whole = home.run(&["manifest", "draft", &spec, "--all", "--json", "--id", "books"]).expect(0).json();
    assert_eq!(whole["manifest"]["id"], "books");
    assert_eq!(whole["refused"][0]["reason"], "answer_type");
    assert!(whole["notes"].as_array().unwrap().iter().any(|note| note["pointer"] == "/ops/add_book/confirm"));
    let nothing = home.run(&["manifest", "draft", &spec, "--op", "nobody"]).expect(1);
    assert!(nothing.stderr.contains("none of the operations"), "{}", nothing.stderr);
    let none = home.run(&["manifest", "draft", &spec]).expect(2);
    assert!(none.stderr.contains("--op") && none.stderr.contains("--all"), "{}", none.stderr);
    home.run(&["manifest", "draft", &spec, "--op", "listBooks", "--all"]).expect(2);
}

#[test]
fn a_host_is_taken_from_the_description_or_said() {
    let home = Home::empty();
    let spec = home.write("shelf.yaml", YAML.replace("https://api.shelf.pinhole.dev/v2", "/v2"));
    let refused = home.run(&["manifest", "draft", &spec, "--all"]).expect(1);
    assert!(
        refused.stderr.contains("is relative") && refused.stderr.contains("--host"),
        "{}",
        refused.stderr
    );
    let said = home.run(&["manifest", "draft", &spec, "--all", "--host", "api.shelf.pinhole.dev"]).expect(0);
    assert_eq!(serde_json::from_str::<Value>(&said.stdout).unwrap()["host"], "api.shelf.pinhole.dev");
    home.run(&["manifest", "draft", &spec, "--all", "--host", "127.0.0.1"]).expect(2);
}

#[test]
fn a_graphql_schema_is_drafted_and_verified_by_the_same_commands() {
    let home = Home::empty();
    let spec = home.write("shelf.graphql", SDL);
    home.run(&["manifest", "draft", &spec, "--all"]).expect(2);
    let to = home.path("manifest.json").to_str().unwrap().to_owned();
    let endpoint =
        ["--id", "shelf", "--endpoint", "api.shelf.pinhole.dev/graphql", "--auth", "bare", "-o", &to];
    home.run(&[&["manifest", "draft", &spec, "--op", "viewer"][..], &endpoint].concat()).expect(0);
    let verified = home.run(&["manifest", "verify", &to, "--spec", &spec]).expect(0);
    assert!(verified.stdout.contains("1 ops"), "{}", verified.stdout);
    let other = home.write("other.graphql", "type Query { nobody: Int }\n");
    home.run(&["manifest", "verify", &to, "--spec", &other]).expect(1);
}

#[test]
fn a_difference_is_shown_in_each_shape_and_one_that_is_known_is_not_counted() {
    let home = Home::empty();
    let spec = home.write("shelf.yaml", YAML);
    let draft = home.run(&["manifest", "draft", &spec, "--op", "listBooks"]).expect(0).stdout;
    let file = home.write(
        "manifest.json",
        draft.replace("\"id\"]", "\"id\", \"col\\u202e\"]").replace("\\u202e", "our"),
    );
    let verify = |more: &[&str]| home.run(&[&["manifest", "verify", &file, "--spec", &spec], more].concat());
    let pointer = "/ops/list_books/pick/fields/1";
    let text = verify(&[]).expect(1).stdout;
    assert!(text.contains("error (pick_unknown)") && text.contains(pointer), "{text}");
    let json = verify(&["--json"]).expect(1).json();
    assert_eq!(
        (json["holds"].as_bool(), &json["findings"][0]["code"]),
        (Some(false), &json!("pick_unknown"))
    );
    assert!(json["findings"][0]["line"].as_u64() > Some(1), "{json}");
    let annotation = verify(&["--annotations"]).expect(1).stdout;
    assert!(
        annotation.starts_with("::error file=") && annotation.contains("title=pick_unknown"),
        "{annotation}"
    );
    verify(&["--known", &format!("pick_unknown:{pointer}")]).expect(0);
    let stale = verify(&["--known", &format!("pick_unknown:{pointer}"), "--known", "pick_unknown:/ops/gone"])
        .expect(1);
    assert!(stale.stdout.contains("is not found"), "{}", stale.stdout);
}

#[test]
fn what_is_no_description_is_refused_with_what_to_pass() {
    let home = Home::empty();
    let good = home.write("shelf.yaml", YAML);
    let manifest =
        home.write("manifest.json", &home.run(&["manifest", "draft", &good, "--all"]).expect(0).stdout);
    let mut bomb = "openapi: 3.0.0\npaths: {}\na0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..9 {
        let all = vec![format!("*a{}", n - 1); 9].join(", ");
        bomb += &["a", &n.to_string(), ": &a", &n.to_string(), " [", &all, "]\n"].concat();
    }
    let deep = format!("openapi: 3.0.0\npaths: {}1{}", "[".repeat(5_000), "]".repeat(5_000));
    for (name, text) in [
        ("bomb.yaml", bomb.as_str()),
        ("deep.yaml", &deep),
        ("empty.json", "{}"),
        ("cut.json", "{\"openapi\": \"3.0.0\","),
        ("four.json", "{\"openapi\": \"4.0.0\", \"paths\": {}}"),
        ("list.yaml", "- a\n"),
        ("bad.graphql", "type Query {"),
        ("text.txt", "hello"),
        ("two.yaml", "openapi: 3.0.0\npaths: {}\n---\na: b\n"),
    ] {
        let spec = home.write(name, text);
        for command in [
            vec!["manifest", "draft", &spec, "--all"],
            vec!["manifest", "verify", &manifest, "--spec", &spec],
        ] {
            let ran = home.run(&command).expect(2);
            assert!(ran.stderr.contains("cannot be read as a description"), "{name}: {}", ran.stderr);
            assert!(ran.stderr.lines().count() < 6, "{name}: {}", ran.stderr);
        }
    }
    home.run(&["manifest", "draft", "nowhere.json", "--all"]).expect(2);
    let broken = home.write("broken.json", "{}");
    home.run(&["manifest", "verify", &broken, "--spec", &good]).expect(4);
}
