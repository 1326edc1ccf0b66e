//! Real answers, through the manifest that is part of the binary: each op sends its own request, gets every
//! recording of its endpoint and of the endpoint's failures, and ends as [`reading`](super::reading) says.
//!
//! A recording answers the very path that the op asks for and no other; what `require` reads is recorded too, but where
//! nothing recorded says what is needed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use http::Method;
use pinhole_runtime::Outcome;
use pinhole_runtime::catalog::BuiltIn;
use pinhole_runtime::outcome::Code;
use pinhole_standin::{Recordings, Reply, Route, World};
use pinhole_tests::{Setup, shared};
use serde_json::{Value, json};

use super::reading::{Pick, Raw};
use super::{fault, files_under};
use crate::common::{no_faults, refusal, result};

/// One op: what it is given, what it must send, and where the answers to that were recorded.
struct Endpoint {
    op: &'static str,
    args: Value,
    method: Method,
    path: &'static str,
    folder: &'static str,
    /// Recordings of failures beside those that every op gets.
    failures: &'static [&'static str],
    /// What `require` reads: path and recording.
    before: &'static [(&'static str, &'static str)],
}

/// Failures that any endpoint may answer with.
const ANY: [&str; 3] =
    ["method-not-allowed.http", "success-with-malformed-json.http", "validation-error.http"];
const DOMAIN: &str = "/v2/1010/registrar/domains/bingo.pizza";
const RECORD: &str = "/v2/1010/zones/example.com/records/5";

fn reads() -> Vec<Endpoint> {
    let get = |op, args, path, folder, failures| {
        let (method, before) = (Method::GET, &[][..]);
        Endpoint { op, args, method, path, folder, failures, before }
    };
    let account = json!({"account": 1010});
    let domain = json!({"account": 1010, "domain": "bingo.pizza"});
    let zone = json!({"account": 1010, "zone": "example.com"});
    let with = |args: &Value, name: &str, id: u64| {
        let mut args = args.clone();
        args[name] = id.into();
        args
    };
    let no_domain = &["notfound-domain.http"][..];
    let no_zone = &["notfound-zone.http"][..];
    let certificates = "/v2/1010/domains/bingo.pizza/certificates";
    vec![
        get("whoami", json!({}), "/v2/whoami", "whoami", &[]),
        get("list_accounts", json!({}), "/v2/accounts", "listAccounts", &[]),
        get("list_domains", account.clone(), "/v2/1010/domains", "listDomains", &["pages-1of3.http"]),
        get("get_domain", domain.clone(), "/v2/1010/domains/bingo.pizza", "getDomain", no_domain),
        get(
            "list_contacts",
            account.clone(),
            "/v2/1010/contacts",
            "listContacts",
            &["notfound-contact.http"],
        ),
        get(
            "check_domain",
            domain.clone(),
            "/v2/1010/registrar/domains/bingo.pizza/check",
            "checkDomain",
            &[],
        ),
        get(
            "get_domain_prices",
            domain.clone(),
            "/v2/1010/registrar/domains/bingo.pizza/prices",
            "getDomainPrices",
            &[],
        ),
        get(
            "get_domain_registration",
            with(&domain, "registration", 361),
            "/v2/1010/registrar/domains/bingo.pizza/registrations/361",
            "getDomainRegistration",
            no_domain,
        ),
        get("list_zones", account, "/v2/1010/zones", "listZones", &[]),
        get("get_zone", zone.clone(), "/v2/1010/zones/example.com", "getZone", no_zone),
        get("list_records", zone.clone(), "/v2/1010/zones/example.com/records", "listZoneRecords", no_zone),
        get("get_record", with(&zone, "record", 5), RECORD, "getZoneRecord", &["notfound-record.http"]),
        get("list_certificates", domain.clone(), certificates, "listCertificates", no_domain),
        get(
            "get_certificate",
            with(&domain, "certificate", 101_967),
            "/v2/1010/domains/bingo.pizza/certificates/101967",
            "getCertificate",
            &["notfound-certificate.http"],
        ),
    ]
}

fn writes() -> Vec<Endpoint> {
    let record = json!({"account": 1010, "zone": "example.com", "record": 5});
    let read_record = &[(RECORD, "getZoneRecord/success.http")][..];
    let mut changed = record.clone();
    changed["content"] = "mxb.example.com".into();
    vec![
        Endpoint {
            op: "register_premium_domain",
            args: registration("20.00"),
            method: Method::POST,
            path: "/v2/1010/registrar/domains/bingo.pizza/registrations",
            folder: "registerDomain",
            failures: &[],
            before: &[
                ("/v2/1010/registrar/domains/bingo.pizza/prices", "getDomainPrices/success.http"),
                ("/v2/1010/registrar/domains/bingo.pizza/check", "checkDomain/success.http"),
            ],
        },
        Endpoint {
            op: "create_record",
            args: json!({"account": 1010, "zone": "example.com", "name": "www", "type": "A", "content": "127.0.0.1"}),
            method: Method::POST,
            path: "/v2/1010/zones/example.com/records",
            folder: "createZoneRecord",
            failures: &["notfound-zone.http"],
            before: &[("/v2/1010/zones/example.com", "getZone/success.http")],
        },
        Endpoint {
            op: "update_record",
            args: changed,
            method: Method::PATCH,
            path: RECORD,
            folder: "updateZoneRecord",
            failures: &["notfound-record.http"],
            before: read_record,
        },
        Endpoint {
            op: "delete_record",
            args: record,
            method: Method::DELETE,
            path: RECORD,
            folder: "deleteZoneRecord",
            failures: &["notfound-record.http"],
            before: read_record,
        },
    ]
}

fn registration(price: &str) -> Value {
    json!({"account": 1010, "domain": "bingo.pizza", "registrant_id": 2, "premium_price": price, "auto_renew": false})
}

/// The manifest as it is in the binary.
fn manifest() -> Value {
    serde_json::from_slice(BuiltIn::of("dnsimple").unwrap().manifest).unwrap()
}

impl Endpoint {
    /// Every recording that this op is answered with.
    fn recordings(&self, api: &Path) -> Vec<PathBuf> {
        let mut files = Vec::new();
        files_under(&api.join(self.folder), &mut files);
        assert!(!files.is_empty(), "nothing was recorded of {}", self.op);
        files.extend(ANY.iter().chain(self.failures).map(|name| api.join(name)));
        files
    }

    async fn run(&self, api: &Path, file: &Path, manifest: &Value) -> Outcome {
        let mut recordings = Recordings::new();
        for (path, recording) in self.before {
            recordings = recordings.with_http_file(Method::GET, path, api.join(recording)).unwrap();
        }
        recordings = recordings.with_http_file(self.method.clone(), self.path, file).unwrap();
        let mut setup = Setup::manifest(manifest, Vec::new());
        setup.standin.world = World::Replay(recordings);
        let stage = setup.start().await;
        let op = format!("dnsimple.{}", self.op);
        let read = manifest["ops"][self.op]["access"] == "read";
        let outcome =
            if read { stage.read(&op, &self.args).await } else { stage.write(&op, &self.args).await };
        let mut wanted: Vec<String> = self.before.iter().map(|(path, _)| format!("GET {path}")).collect();
        wanted.push(format!("{} {}", self.method, self.path));
        assert_eq!(stage.seen(), wanted, "{}", self.op);
        outcome
    }
}

#[tokio::test]
async fn every_op_of_dnsimples_gets_what_was_recorded_of_its_endpoint() {
    let test = "every_op_of_dnsimples_gets_what_was_recorded_of_its_endpoint";
    let Some(api) = shared(test, "data/dnsimple/v2/api") else { return };
    let manifest = manifest();
    let (mut faults, mut shown) = (Vec::new(), BTreeSet::new());
    for endpoint in reads().into_iter().chain(writes()) {
        let pick = Pick::of(&manifest["ops"][endpoint.op]["pick"]);
        for file in endpoint.recordings(&api) {
            let outcome = endpoint.run(&api, &file, &manifest).await;
            let wanted = Raw::read(&std::fs::read(&file).unwrap()).wanted(&pick);
            if wanted.kind() == "a result" {
                shown.insert(endpoint.op);
            }
            faults.extend(
                fault(&outcome, &wanted)
                    .map(|fault| format!("{} of {}: {fault}", endpoint.op, file.display())),
            );
        }
    }
    no_faults(&faults);
    // What a module computes has cases of its own.
    let ops = manifest["ops"].as_object().unwrap().iter().filter(|(_, op)| op["module"].is_null());
    let ops: BTreeSet<&str> = ops.map(|(name, _)| name.as_str()).collect();
    let left: Vec<&&str> = ops.difference(&shown).collect();
    assert_eq!(left, [&"register_domain"], "an op never came to a result");
}

/// The recorded price is a premium one: only the op that names a price may register it.
#[tokio::test]
async fn a_premium_price_is_not_paid_unnamed() {
    let Some(api) = shared("a_premium_price_is_not_paid_unnamed", "data/dnsimple/v2/api") else { return };
    let prices = "/v2/1010/registrar/domains/bingo.pizza/prices";
    let recordings =
        Recordings::new().with_http_file(Method::GET, prices, api.join("getDomainPrices/success.http"));
    let mut setup = Setup::manifest(&manifest(), Vec::new());
    setup.standin.world = World::Replay(recordings.unwrap());
    let stage = setup.start().await;
    let args = json!({"account": 1010, "domain": "bingo.pizza", "registrant_id": 2, "auto_renew": false});
    let outcome = stage.write("dnsimple.register_domain", &args).await;
    assert_eq!(refusal(&outcome).code, Code::RequirementFailed);
    assert_eq!(stage.seen(), [format!("GET {prices}")]);
}

/// With no premium recorded, a regular domain goes through on answers of the recorded shape.
#[tokio::test]
async fn a_regular_domain_is_registered_when_it_is_regular_and_free() {
    let test = "a_regular_domain_is_registered_when_it_is_regular_and_free";
    let Some(api) = shared(test, "data/dnsimple/v2/api") else { return };
    let regular = json!({"data": {"domain": "bingo.pizza", "premium": false, "registration_price": 20.0}});
    let registrations = format!("{DOMAIN}/registrations");
    let recordings = Recordings::new()
        .with(Route::get(&format!("{DOMAIN}/prices"), Reply::json(200, &regular)))
        .with_http_file(Method::GET, &format!("{DOMAIN}/check"), api.join("checkDomain/success.http"))
        .and_then(|all| {
            all.with_http_file(Method::POST, &registrations, api.join("registerDomain/success.http"))
        });
    let mut setup = Setup::manifest(&manifest(), Vec::new());
    setup.standin.world = World::Replay(recordings.unwrap());
    let stage = setup.start().await;
    let args = json!({"account": 1010, "domain": "bingo.pizza", "registrant_id": 2, "auto_renew": false});
    let outcome = stage.write("dnsimple.register_domain", &args).await;
    assert_eq!(result(&outcome)["state"], "new");
    let sent: Value = serde_json::from_slice(&stage.standin.requests().last().unwrap().body).unwrap();
    assert_eq!(sent, json!({"registrant_id": 2, "auto_renew": false}), "no price is claimed");
}

/// What a certificate's key answer holds stays behind every op of certificates.
#[tokio::test]
async fn no_op_of_certificates_lets_a_key_through() {
    let mark = "-----BEGIN RSA PRIVATE KEY-----";
    let leaky = json!({"id": 1, "common_name": "www.bingo.pizza", "private_key": mark, "csr": mark, "server": mark, "chain": [mark]});
    let routes = vec![
        Route::get("/v2/1010/domains/bingo.pizza/certificates/1", Reply::json(200, &json!({"data": leaky}))),
        Route::get("/v2/1010/domains/bingo.pizza/certificates", Reply::json(200, &json!({"data": [leaky]}))),
    ];
    let stage = Setup::manifest(&manifest(), routes).start().await;
    let domain = json!({"account": 1010, "domain": "bingo.pizza"});
    let one = json!({"account": 1010, "domain": "bingo.pizza", "certificate": 1});
    for (op, args) in [("list_certificates", &domain), ("get_certificate", &one)] {
        let outcome = stage.read(&format!("dnsimple.{op}"), args).await;
        assert!(result(&outcome).to_string().contains("www.bingo.pizza"), "{op}");
        assert!(!outcome.to_json().contains("PRIVATE KEY"), "{op}");
    }
    let text = manifest().to_string();
    assert!(
        !text.contains("/private_key") && !text.contains("/download"),
        "an op asks for a key or a certificate"
    );
}
