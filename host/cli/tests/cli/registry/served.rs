//! A registry that is served over TLS, and a host elsewhere that trusts it by its root.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use serde_json::json;

use super::{notes, notes_at, own, publish};
use crate::home::{Home, Ran};

const HOST: &str = "registry.example.com";

/// `pinhole registry serve` in a process of its own, until the test ends.
struct Served {
    child: Child,
    address: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().unwrap_or_default();
        self.child.wait().map(drop).unwrap_or_default();
    }
}

fn serve(home: &Home, flags: &[&str]) -> Served {
    let words = [&["registry", "serve", "mine", "--listen", "127.0.0.1:0"], flags].concat();
    let mut child = home.command(&words).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.split("://").nth(1).and_then(|rest| rest.split('/').next()).unwrap().to_owned();
    Served { child, address }
}

fn serve_by_tls(home: &Home) -> Served {
    let key = rcgen::KeyPair::generate().unwrap();
    let params = rcgen::CertificateParams::new(vec![HOST.to_owned()]).unwrap();
    home.write("tls.pem", params.self_signed(&key).unwrap().pem());
    home.write("tls.key", key.serialize_pem());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(home.path("tls.key"), std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    serve(home, &["--tls-cert", "tls.pem", "--tls-key", "tls.key"])
}

/// A host that trusts it, with what it dials.
fn trusting(maintainer: &Home, served: &Served) -> (Home, Vec<String>) {
    let host = Home::empty();
    let root = std::fs::read(maintainer.path("mine/public/metadata/1.root.json")).unwrap();
    let root = host.write("root.json", root);
    let ca = host.write("ca.pem", std::fs::read(maintainer.path("tls.pem")).unwrap());
    let address = format!("https://{HOST}/");
    let said = host.run(&["registry", "trust", "acme", &address, "--root", &root]).expect(0).stdout;
    assert!(said.contains("sha256:"), "{said}");
    let resolve = format!("{HOST}:443:{}", served.address);
    (host, vec!["--resolve".to_owned(), resolve, "--ca-cert".to_owned(), ca])
}

fn sync(host: &Home, dial: &[String]) -> Ran {
    let mut words = vec!["registry", "sync", "--json"];
    words.extend(dial.iter().map(String::as_str));
    host.run(&words)
}

#[test]
fn a_host_elsewhere_gets_what_was_signed_and_keeps_it_when_the_server_lies() {
    let maintainer = Home::empty();
    own(&maintainer, &notes());
    let served = serve_by_tls(&maintainer);
    let (host, dial) = trusting(&maintainer, &served);
    assert_eq!(sync(&host, &dial).expect(0).json()[0]["services"][0]["happened"], "added");
    assert!(host.run(&["services", "notes"]).expect(0).stdout.contains("list_notes"));

    publish(
        &maintainer,
        &notes_at("1.0.1", |manifest| {
            manifest["ops"]["list_notes"]["pick"]["fields"] = json!(["id"]);
        }),
    );
    assert_eq!(sync(&host, &dial).expect(0).json()[0]["services"][0]["happened"], "updated");

    // Somebody changes what is served, and puts back what was there before.
    let metadata = maintainer.path("mine/public/metadata");
    let newest = std::fs::read(metadata.join("timestamp.json")).unwrap();
    for lie in ["changed", "cut", "gone"] {
        let file = metadata.join("timestamp.json");
        match lie {
            "changed" => {
                let text = String::from_utf8(newest.clone()).unwrap();
                std::fs::write(&file, text.replace("20", "21")).unwrap();
            }
            "cut" => std::fs::write(&file, &newest[..newest.len() / 2]).unwrap(),
            _ => std::fs::remove_file(&file).unwrap(),
        }
        let ran = sync(&host, &dial).expect(4);
        assert_eq!(ran.json()[0]["ok"], false, "{lie}");
        assert!(host.run(&["services", "notes"]).expect(0).stdout.contains("1.0.1"), "{lie}");
    }
    std::fs::write(metadata.join("timestamp.json"), newest).unwrap();
    assert_eq!(sync(&host, &dial).expect(0).json()[0]["services"][0]["happened"], "unchanged");
}

#[test]
fn nobody_is_believed_who_cannot_show_the_name_and_nothing_private_is_dialled() {
    let maintainer = Home::empty();
    own(&maintainer, &notes());
    let served = serve_by_tls(&maintainer);
    let (host, dial) = trusting(&maintainer, &served);
    // Without the operator's word the name is looked up and dialled for real; that of another host is nobody's.
    let other = [&dial[..1], &["other.example.com:443:127.0.0.1:1".to_owned()], &dial[2..]].concat();
    sync(&host, &other).expect(2);
    let untrusted = [&dial[..2]].concat();
    sync(&host, &untrusted).expect(1);
    for place in [
        "http://registry.example.com/",
        "https://127.0.0.1/",
        "https://registry.internal/",
        "https://r.example.com:8443/",
    ] {
        host.run(&["registry", "trust", "other", place, "--root", "root.json"]).expect(2);
    }
    assert_eq!(host.run(&["registry", "list", "--json"]).expect(0).json().as_array().unwrap().len(), 1);
}

#[test]
fn the_bare_client_of_harnesses_refreshes_and_downloads() {
    let maintainer = Home::empty();
    own(&maintainer, &notes());
    let served = serve(&maintainer, &[]);
    let home = Home::empty();
    let root =
        home.write("root.json", std::fs::read(maintainer.path("mine/public/metadata/1.root.json")).unwrap());
    let (metadata, targets) =
        (format!("http://{}/metadata/", served.address), format!("http://{}/targets/", served.address));
    let base = ["registry", "client", "--metadata-dir", "metadata", "--metadata-url", &metadata];
    home.run(&[&base[..], &["init", &root]].concat()).expect(0);
    home.run(&[&base[..], &["refresh"]].concat()).expect(0);
    for file in ["root.json", "timestamp.json", "snapshot.json", "targets.json"] {
        assert!(home.path("metadata").join(file).exists(), "{file}");
    }
    let target = ["--target-dir", "targets", "--target-base-url", &targets, "--target-name"];
    home.run(&[&base[..], &target, &["notes.json", "download"]].concat()).expect(0);
    assert_eq!(
        std::fs::read(home.path("targets/notes.json")).unwrap(),
        std::fs::read(maintainer.path("manifests/notes/manifest.json")).unwrap()
    );
    home.run(&[&base[..], &target, &["nothing.json", "download"]].concat()).expect(1);
    let elsewhere = [
        "registry",
        "client",
        "--metadata-dir",
        "metadata",
        "--metadata-url",
        "http://example.com/",
        "refresh",
    ];
    home.run(&elsewhere).expect(1);
}
