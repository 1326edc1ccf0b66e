//! A registry whose root and targets two of three sign, each apart.

use crate::home::Home;

const NAMES: [&str; 3] = ["a", "b", "c"];

/// Keys of three maintainers and one that is online, and the folder that waits for their signatures.
fn begun() -> Home {
    let home = Home::empty();
    for name in NAMES {
        key(&home, name);
    }
    key(&home, "online");
    let mut init = vec!["registry", "init", "registry", "--online-key", "online.pub"];
    for public in ["a.pub", "b.pub", "c.pub"] {
        init.extend(["--root-key", public, "--targets-key", public]);
    }
    init.extend(["--root-threshold", "2", "--targets-threshold", "2"]);
    home.run(&init).expect(0);
    home
}

fn key(home: &Home, name: &str) {
    let made = home.run(&["registry", "key", &format!("{name}.pem")]).expect(0);
    home.write(&format!("{name}.pub"), made.stdout);
}

/// Takes a staged file away, signs it, and brings it back.
fn sign_apart(home: &Home, role: &str, name: &str) {
    let staged = std::fs::read(home.path(&format!("registry/staged/{role}.json"))).unwrap();
    let file = home.write(&format!("stick-{name}/{role}.json"), staged);
    home.run(&["registry", "sign", &file, "--key", &format!("{name}.pem")]).expect(0);
    home.run(&["registry", "collect", "registry", &file]).expect(0);
}

fn publish(home: &Home) -> crate::home::Ran {
    home.run(&["registry", "publish", "registry", "--key", "online.pem"])
}

#[test]
fn two_of_three_sign_apart_and_only_then_is_it_published() {
    let home = begun();
    sign_apart(&home, "root", "a");
    sign_apart(&home, "targets", "a");
    let ran = publish(&home).expect(3);
    assert!(ran.stderr.contains("1 more of"), "{}", ran.stderr);
    // The same signature again is no second one.
    sign_apart_again(&home, "root", "a");
    publish(&home).expect(3);
    sign_apart(&home, "root", "b");
    sign_apart(&home, "targets", "c");
    publish(&home).expect(0);
    home.run(&["registry", "verify", "registry"]).expect(0);
}

/// Signs the file anew that has the signature already.
fn sign_apart_again(home: &Home, role: &str, name: &str) {
    let file = format!("registry/staged/{role}.json");
    let ran = home.run(&["registry", "sign", &file, "--key", &format!("{name}.pem")]).expect(4);
    assert!(ran.stderr.contains("counts once"), "{}", ran.stderr);
}

#[test]
fn a_key_that_has_no_say_signs_nothing() {
    let home = begun();
    key(&home, "stranger");
    for key in ["stranger.pem", "online.pem"] {
        home.run(&["registry", "sign", "registry/staged/root.json", "--key", key]).expect(4);
    }
}

#[test]
fn what_is_signed_is_shown_before_and_what_was_changed_on_the_way_is_not_collected() {
    let home = begun();
    let shown = home.run(&["registry", "sign", "registry/staged/root.json"]).expect(0);
    assert!(shown.stdout.contains("root 1, good until"), "{}", shown.stdout);
    let staged = std::fs::read_to_string(home.path("registry/staged/root.json")).unwrap();
    let changed =
        staged.replace("\"version\": 1", "\"version\": 2").replace("\"version\":1", "\"version\":2");
    assert_ne!(changed, staged);
    let file = home.write("stick/root.json", changed);
    home.run(&["registry", "sign", &file, "--key", "a.pem"]).expect(0);
    home.run(&["registry", "collect", "registry", &file]).expect(4);
}

#[test]
fn a_rotation_is_signed_by_the_old_keys_and_the_new() {
    let home = begun();
    for role in ["root", "targets"] {
        sign_apart(&home, role, "a");
        sign_apart(&home, role, "b");
    }
    publish(&home).expect(0);
    key(&home, "d");
    let ids = home.run(&["registry", "verify", "registry", "--json"]).expect(0).json();
    assert!(ids["faults"].as_array().unwrap().is_empty());
    let gone = key_id(&home, "c");
    let rotate = ["registry", "rotate", "registry", "--role", "root", "--add", "d.pub", "--remove", &gone];
    home.run(&rotate).expect(0);
    sign_apart(&home, "root", "a");
    publish(&home).expect(3);
    sign_apart(&home, "root", "b");
    publish(&home).expect(0);
    home.run(&["registry", "verify", "registry"]).expect(0);
    assert!(home.path("registry/public/metadata/2.root.json").exists());
}

/// The id of a key, as the registry names it.
fn key_id(home: &Home, name: &str) -> String {
    let public = std::fs::read_to_string(home.path(&format!("{name}.pub"))).unwrap();
    let file = home.path("registry/public/metadata/1.root.json");
    let root: serde_json::Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let key: serde_json::Value = serde_json::from_str(&public).unwrap();
    let mut keys = root["signed"]["keys"].as_object().unwrap().iter();
    keys.find(|(_, known)| known["keyval"] == key["keyval"]).unwrap().0.clone()
}

#[test]
fn a_protected_key_is_opened_by_its_passphrase_alone() {
    let home = Home::empty();
    let right = home.write("right", "correct horse battery");
    let wrong = home.write("wrong", "incorrect horse battery");
    let init = ["registry", "init", "registry", "--keys", "keys", "--protect", "--passphrase-file", &right];
    home.run(&init).expect(0);
    let text = std::fs::read_to_string(home.path("keys/root.pem")).unwrap();
    assert!(text.contains("ENCRYPTED PRIVATE KEY"), "{text}");
    home.run(&["registry", "key", "keys/root.pem", "--passphrase-file", &wrong]).expect(4);
    home.run(&["registry", "key", "keys/root.pem", "--passphrase-file", &right]).expect(0);
    // What signs unattended has nobody to type.
    home.run(&["registry", "publish", "registry", "--key", "keys/online.pem"]).expect(0);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(home.path("keys/root.pem")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
