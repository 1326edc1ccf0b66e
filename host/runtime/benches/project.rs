//! Picking five fields out of an answer, against other ways of doing the same and against merely skipping it.
//!
//! `cargo bench -p pinhole-runtime --bench project`. All lines of one document come from one run, so compare within it. The
//! page is a real one where the shared material is beside the checkout (or where `PINHOLE_SHARED` says), else one of
//! the same make. Documents are fed as the network brings them, in pieces of 16 KiB.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a bench stops at the first surprise"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pinhole_manifest::pick::{Pick, Projection};
use pinhole_manifest::{Manifest, OpId};
use pinhole_runtime::project::Tree;
use pinhole_runtime::project::project;
use pinhole_runtime::project::prune::{Plan, Pruner};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value, json};
use simd_json::prelude::{ValueAsArray as _, ValueObjectAccess as _};

const PIECE: usize = 16 << 10;

/// How often each way runs for the table of least times.
const ROUNDS: u32 = 100;

/// A document, what is picked from it, and whether the comparison by names alone can do the same.
struct Case {
    name: &'static str,
    bytes: Vec<u8>,
    fields: Vec<&'static str>,
}

fn manifest(fields: &[&str]) -> Manifest {
    let manifest = json!({
        "pinhole": 1, "id": "bench", "version": "1.0.0", "name": "Bench", "summary": "A bench.",
        "host": "api.bench.dev", "auth": { "scheme": "bearer" },
        "ops": { "it": { "access": "read", "summary": "Picks.", "request": { "method": "GET", "path": "/" },
            "pick": { "fields": fields } } },
    });
    pinhole_manifest::read(manifest.to_string().as_bytes()).into_result().expect("a manifest that loads")
}

fn projection(manifest: &Manifest) -> &Projection {
    match &manifest.op(&OpId::parse("it").expect("a name")).expect("the op").pick {
        Pick::Fields(projection) => projection,
        Pick::None => panic!("the op picks fields"),
    }
}

/// One pass over the pieces, then the walk over what is left.
fn ours(bytes: &[u8], plan: &Plan, projection: &Projection) -> Tree {
    let mut pruner = Pruner::new(plan);
    for piece in bytes.chunks(PIECE) {
        pruner.feed(piece).expect("a document");
    }
    project(pruner.finish().expect("a whole document"), projection).expect("a pick").value
}

/// A parsed value, and the same fields out of it.
fn value_then_pick(bytes: &[u8], fields: &[&str]) -> Value {
    pick_value(&serde_json::from_slice(bytes).expect("a document"), fields)
}

fn pick_value(document: &Value, fields: &[&str]) -> Value {
    let rows = document.as_array().into_iter().flatten().map(|row| {
        let mut picked = Map::new();
        for field in fields {
            if let Some(value) = row.get(*field) {
                picked.insert((*field).to_owned(), value.clone());
            }
        }
        Value::Object(picked)
    });
    Value::Array(rows.collect())
}

fn jsonpath(bytes: &[u8], fields: &[&str]) -> Vec<Vec<Value>> {
    use jsonpath_rust::JsonPath as _;
    let document: Value = serde_json::from_slice(bytes).expect("a document");
    let found = fields.iter().map(|field| {
        let found = document.query(&format!("$[*].{field}")).expect("a path");
        found.into_iter().cloned().collect()
    });
    found.collect()
}

fn simd(bytes: &[u8], fields: &[&str]) -> usize {
    let mut copy = bytes.to_vec();
    let document = simd_json::to_borrowed_value(&mut copy).expect("a document");
    let mut kept = Vec::new();
    for row in document.as_array().into_iter().flatten() {
        for field in fields {
            kept.extend(row.get(*field).map(|value| value.clone().into_static()));
        }
    }
    kept.len()
}

/// Reads rows, keeps the values of a few names, and skips the rest as it streams.
struct Rows<'f>(&'f [&'f str]);

struct Row<'f>(&'f [&'f str]);

impl<'de> DeserializeSeed<'de> for Rows<'_> {
    type Value = Vec<Map<String, Value>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Rows<'_> {
    type Value = Vec<Map<String, Value>>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut rows = Vec::new();
        while let Some(row) = seq.next_element_seed(Row(self.0))? {
            rows.push(row);
        }
        Ok(rows)
    }
}

impl<'de> DeserializeSeed<'de> for Row<'_> {
    type Value = Map<String, Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Row<'_> {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a row")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut row = Map::new();
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            if self.0.contains(&key.as_ref()) {
                row.insert(key.into_owned(), map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(row)
    }
}

fn seed(bytes: &[u8], fields: &[&str]) -> Vec<Map<String, Value>> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    Rows(fields).deserialize(&mut deserializer).expect("rows")
}

#[expect(clippy::disallowed_methods, reason = "a bench finds its material by the environment")]
fn page() -> Vec<u8> {
    let beside = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("PINHOLE_SHARED").map_or(beside, Into::into);
    std::fs::read(shared.join("data/github/org-repos/3-o_j_repos.body.json")).unwrap_or_else(|_absent| {
        eprintln!("no real page beside the checkout: one of the same make is used");
        made_page()
    })
}

/// A hundred rows of 74 members, urls most of them.
fn made_page() -> Vec<u8> {
    let rows = (0..100).map(|row| {
        let mut members = Map::new();
        for member in 0..68 {
            members.insert(
                format!("member_{member:02}_url"),
                json!(format!("https://api.bench.dev/rows/{row}/{member}{{/more}}")),
            );
        }
        members.insert("owner".to_owned(), json!({"login": "bench", "id": 1, "site_admin": false}));
        for (name, value) in
            [("id", json!(row)), ("name", json!(format!("row-{row}"))), ("private", json!(false))]
        {
            members.insert(name.to_owned(), value);
        }
        members.insert("full_name".to_owned(), json!(format!("bench/row-{row}")));
        members.insert("language".to_owned(), json!("Rust"));
        Value::Object(members)
    });
    Value::Array(rows.collect()).to_string().into_bytes()
}

fn cases() -> Vec<Case> {
    let five = vec!["id", "name", "full_name", "private", "language"];
    let small: Vec<Value> = (0..10_000).map(|row| json!({"id": row, "name": "n", "x": true})).collect();
    let deep = format!("{}{}{}", "{\"d\":".repeat(100), "[1,2,3,\"four\"]", "}".repeat(100));
    let deep: Vec<String> = (0..400).map(|row| format!("{{\"id\":{row},\"d\":{deep}}}")).collect();
    let long: Vec<Value> = (0..100)
        .map(|row| json!({"id": row, "text": "a line of text, \"quoted\",\n\tand another — with é and 日本\\".repeat(80)}))
        .collect();
    vec![
        Case { name: "page", bytes: page(), fields: five },
        Case {
            name: "small_objects",
            bytes: Value::Array(small).to_string().into_bytes(),
            fields: vec!["id"],
        },
        Case { name: "deep", bytes: format!("[{}]", deep.join(",")).into_bytes(), fields: vec!["id"] },
        Case {
            name: "long_escaped",
            bytes: Value::Array(long.clone()).to_string().into_bytes(),
            fields: vec!["id"],
        },
        Case {
            name: "keeps_all",
            bytes: Value::Array(long).to_string().into_bytes(),
            fields: vec!["id", "text"],
        },
    ]
}

/// A way of doing it, and its name.
type Way<'c> = (&'static str, Box<dyn Fn() + 'c>);

/// Each way of doing it.
fn ways<'c>(case: &'c Case, plan: &'c Plan, projection: &'c Projection) -> [Way<'c>; 6] {
    let Case { bytes, fields, .. } = case;
    [
        (
            "serde_json::Value, then pick",
            Box::new(|| drop(black_box(value_then_pick(black_box(bytes), fields)))),
        ),
        ("jsonpath-rust over a Value", Box::new(|| drop(black_box(jsonpath(black_box(bytes), fields))))),
        (
            "simd-json, then pick",
            Box::new(|| {
                black_box(simd(black_box(bytes), fields));
            }),
        ),
        ("serde DeserializeSeed", Box::new(|| drop(black_box(seed(black_box(bytes), fields))))),
        ("pinhole", Box::new(|| drop(black_box(ours(black_box(bytes), plan, projection))))),
        (
            "serde_json skips it",
            Box::new(|| {
                let skipped = serde_json::from_slice::<IgnoredAny>(black_box(bytes));
                black_box(skipped.expect("a document"));
            }),
        ),
    ]
}

/// The least time of many rounds in which each way runs once: what other work on the machine disturbs least, and all ways
/// alike.
fn rounds(name: &str, size: usize, ways: &[Way<'_>]) {
    let mut least = vec![Duration::MAX; ways.len()];
    for _ in 0..ROUNDS {
        for ((_, way), least) in ways.iter().zip(&mut least) {
            let started = Instant::now();
            way();
            *least = started.elapsed().min(*least);
        }
    }
    let mebibytes = f64::from(u32::try_from(size).expect("a small document")) / f64::from(1 << 20);
    eprintln!("{name}: MiB/s by the least of {ROUNDS} rounds");
    for ((way, _), least) in ways.iter().zip(&least) {
        eprintln!("  {way:30} {:8.0}", mebibytes / least.as_secs_f64());
    }
}

fn bench(criterion: &mut Criterion) {
    for case in cases() {
        let manifest = manifest(&case.fields);
        let projection = projection(&manifest);
        let plan = Plan::new(Some(projection), []);
        let picked: Value =
            serde_json::from_str(&ours(&case.bytes, &plan, projection).to_string()).expect("JSON");
        assert_eq!(picked, value_then_pick(&case.bytes, &case.fields), "every way picks the same");
        let ways = ways(&case, &plan, projection);
        rounds(case.name, case.bytes.len(), &ways);
        let mut group = criterion.benchmark_group(case.name);
        group.throughput(Throughput::Bytes(u64::try_from(case.bytes.len()).unwrap_or(0)));
        for (name, way) in &ways {
            group.bench_function(*name, |b| b.iter(way));
        }
        group.finish();
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
