//! What generators and fuzzers begin with, where it is not a vector already: sound args for every op and documents in
//! which every pick finds something.

const GET: &str = r#"{"x":"a/b","y":"..","h":"v","i":1,"n":0.5,"b":false,"q":"?&","o":"o","list":["a","b"],"joined":["a"]}"#;
const POST: &str = r#"{"x":"a","t":["a","b"],"u":"https://example.com/hook","n":1.5e3,"b":null,
    "in":{"a":"é","n":-0.0,"l":[true],"o":[{"p":1},{}]}}"#;

const DOCUMENTS: [&str; 4] = [
    r#"{"a":{"a":1,"b":[2,{"a":"x"}]},"b":[{"c":[{"d":1.10}],"a":[null]},{"a":"y"}],"d":[{"e":null}],"f":{"g":true,"h":[]}}"#,
    r#"{"a":[[{"a b":1,"é":"\u00e9"}],[{"":-0.0e1}],{"b":{"b":[{"c":[1]}]}}],"ok":false,"error":{"message":"no"}}"#,
    r#"[{"a":["x",{"b":1}],"b":[[1,2],[3]]},{"a":2}]"#,
    r#" {"\u0061":12345678901234567890,"dropped":{"deep":[[[{"a":"\ud83d\ude00"}]]]},"a":1} "#,
];

/// Inputs of [`super::args_to_request`], named.
pub fn args_seeds() -> Vec<(String, Vec<u8>)> {
    let mut seeds = Vec::new();
    for op in 0..4_u8 {
        let args = if op == 0 { GET } else { POST };
        seeds.push((format!("text_{op}"), [&[op], args.as_bytes()].concat()));
        seeds.push((
            format!("values_{op}"),
            [&[op | 0x80], b"x\xffy\xffh\xffq\xffo\xffj".as_slice()].concat(),
        ));
    }
    seeds
}

/// Inputs of [`super::prune`], named: every document, every pick, in pieces of several lengths.
pub fn prune_seeds() -> Vec<(String, Vec<u8>)> {
    let mut seeds = Vec::new();
    for (place, document) in DOCUMENTS.iter().enumerate() {
        for pick in 0..8_u8 {
            let how = [pick, pick % 3, 0];
            seeds.push((format!("made_{place}_{pick}"), [how.as_slice(), document.as_bytes()].concat()));
        }
    }
    seeds
}
