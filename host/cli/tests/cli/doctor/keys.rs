//! The home, its modes and its keys.

use std::fs;

use pinhole_grant::{KeyKind, SecretKey};
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;

use super::{Said, connect, connected, private};
use crate::home::Home;
use crate::stage::Stage;

#[cfg(unix)]
use super::chmod;

#[cfg(unix)]
#[test]
fn what_others_can_get_at_is_named() {
    let (home, _stage) = connected();
    for (name, mode) in [
        ("", 0o755),
        ("keys", 0o770),
        ("keys/member.json", 0o640),
        ("keys/member.pub", 0o602),
        ("pinhole.db", 0o644),
    ] {
        chmod(&home, name, mode);
    }
    let said = Said::offline(&home).only(
        1,
        &[
            ("warning", "home", "look into", "`chmod 700 "),
            ("wrong", "keys", "put files into", "`chmod 700 "),
            ("wrong", "keys/member.json", "mode 0640", "`chmod 600 "),
            ("wrong", "keys/member.pub", "mode 0602", "`chmod 600 "),
            ("wrong", "pinhole.db", "mode 0644", "`chmod 600 "),
        ],
    );
    said.is_well(&["keys/bot.json", "clock", "connection github default", "questions"]);
    // The bot's key is not used then, as nowhere else.
    chmod(&home, "keys/bot.json", 0o604);
    let said = Said::offline(&home);
    let last = said.findings.iter().rfind(|finding| finding["state"] != "ok").unwrap();
    assert_eq!((last["about"].as_str(), last["state"].as_str()), (Some("connections"), Some("warning")));
    for (name, mode) in [("", 0o700), ("keys", 0o700), ("pinhole.db", 0o600)] {
        chmod(&home, name, mode);
    }
    for name in ["keys/member.json", "keys/member.pub", "keys/bot.json"] {
        chmod(&home, name, 0o400);
    }
    Said::offline(&home).only(0, &[]);
}

/// Nothing is read that might never answer, by the doctor or by who uses the keys.
#[cfg(unix)]
#[test]
fn what_is_no_file_is_named_and_not_waited_for() {
    for name in ["member.json", "member.pub", "bot.json"] {
        let (home, _stage) = connected();
        let path = home.path(&format!("keys/{name}"));
        fs::remove_file(&path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg("-m600").arg(&path).status().unwrap().success());
        let said = Said::offline(&home);
        assert_eq!(said.found(&format!("keys/{name}")), "is not a file");
        let ran = home.run(&["connections", "renew"]).expect(6);
        assert!(ran.stderr.contains("is not a file"), "{}", ran.stderr);
    }
}

#[test]
fn keys_that_are_none_are_named_each() {
    let (home, _stage) = connected();
    let files = ["member.json", "member.pub", "bot.json"].map(|name| home.path(&format!("keys/{name}")));
    let whole = files.clone().map(|path| fs::read(path).unwrap());
    let put = |bytes: [&[u8]; 3]| {
        files.iter().zip(bytes).for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
    };
    put([b"garbage", b"pin1garbage\n", b"{}"]);
    let said = Said::offline(&home).only(
        1,
        &[
            ("wrong", "keys/member.json", "not a key file", "restore the file from a copy"),
            ("wrong", "keys/member.pub", "not a member's public key", "restore it from a copy"),
            ("wrong", "keys/bot.json", "not a key file", "restore the file from a copy"),
            ("warning", "connections", "not looked at", "then look again"),
        ],
    );
    said.is_well(&["home", "database", "clock"]);
    let bot = SecretKey::from_file(&whole[2], None).unwrap().public().clone();
    // Each in the place of the other, and a public key that is the bot's.
    put([&whole[2], format!("{bot}\n").as_bytes(), &whole[0]]);
    Said::offline(&home).only(
        1,
        &[
            ("wrong", "keys/member.json", "not a member's", "restore the file"),
            ("wrong", "keys/member.pub", "not a member's public key", "restore it"),
            ("wrong", "keys/bot.json", "not a bot's", "restore the file"),
            ("warning", "connections", "not looked at", "then look again"),
        ],
    );
    // Without its own file the public half of the member's key does.
    put([&whole[0], b"?", &whole[2]]);
    let said = Said::offline(&home).only(1, &[("wrong", "keys/member.pub", "not a member's", "made anew")]);
    said.is_well(&["keys/member.json", "connection github default"]);
    put([&whole[0], &whole[1], &whole[2]]);
    let aside = home.path("aside");
    fs::rename(&files[1], &aside).unwrap();
    Said::offline(&home).only(0, &[]).is_well(&["connection github default"]);
    fs::rename(&aside, &files[1]).unwrap();
    fs::rename(&files[0], &aside).unwrap();
    // As it may be while she is not there.
    let said = Said::offline(&home).only(0, &[]);
    assert!(said.found("keys/member.json").contains("not here, and `member.pub` is"));
    said.is_well(&["connection github default"]);
    fs::rename(&aside, &files[0]).unwrap();
    fs::remove_file(&files[2]).unwrap();
    let renew = "then `pinhole connections renew`";
    Said::offline(&home).only(1, &[("wrong", "connections", "1 connected, and there is no bot", renew)]);
}

#[test]
fn a_member_whose_two_halves_differ_is_named() {
    let (home, _stage) = connected();
    let own = fs::read(home.path("keys/member.pub")).unwrap();
    fs::copy(Home::new().path("keys/member.pub"), home.path("keys/member.pub")).unwrap();
    let said = Said::offline(&home)
        .only(1, &[("wrong", "keys/member.pub", "another member than `member.json`", "made anew")]);
    said.is_well(&["keys/member.json", "keys/bot.json", "database"]);
    fs::write(home.path("keys/member.pub"), own).unwrap();
    // A secret beside the public key of another.
    let file = fs::read_to_string(home.path("keys/member.json")).unwrap();
    let mut file: serde_json::Value = serde_json::from_str(&file).unwrap();
    file["public"] = Home::new().public("member").into();
    fs::write(home.path("keys/member.json"), file.to_string()).unwrap();
    Said::offline(&home).only(1, &[("wrong", "keys/member.json", "damaged", "restore the file")]);
}

#[test]
fn what_may_ask_for_writes_wants_a_passphrase_on_the_key() {
    let (home, stage) = (private(Home::guarded()), Stage::new());
    connect(&home, &stage, &["--cap", "write"]);
    let said = Said::offline(&home).only(0, &[]);
    assert!(said.found("keys/member.json").contains("with a passphrase"));
    let open = super::key(&home, KeyKind::Member).to_file(None, &mut super::entropy()).unwrap();
    fs::write(home.path("keys/member.json"), &*open).unwrap();
    let said = Said::offline(&home)
        .only(1, &[("wrong", "passphrase", "ask for writes on 1", "`pinhole keys protect`")]);
    said.is_well(&["keys/member.json", "connection github default"]);
}

#[cfg(unix)]
#[test]
fn a_key_that_is_a_link_shares_the_database_of_its_home() {
    let (own, _stage) = connected();
    let home = private(Home::empty());
    std::os::unix::fs::symlink(own.path("keys"), home.path("keys")).unwrap();
    let said = Said::offline(&home).only(0, &[]);
    said.is_well(&["connection github default", "home of the bot's key"]);
    let database = own.path("").canonicalize().unwrap().join("pinhole.db");
    assert!(said.found("database").contains(database.to_str().unwrap()), "{}", said.found("database"));
    chmod(&own, "pinhole.db", 0o660);
    Said::offline(&home).only(1, &[("wrong", "pinhole.db", "mode 0660", "`chmod 600 ")]);
    chmod(&own, "pinhole.db", 0o600);
    // One that leads nowhere is not a home without keys.
    fs::remove_file(home.path("keys")).unwrap();
    fs::create_dir(home.path("keys")).unwrap();
    chmod(&home, "keys", 0o700);
    std::os::unix::fs::symlink(own.path("gone.json"), home.path("keys/bot.json")).unwrap();
    Said::offline(&home).only(1, &[("wrong", "keys/bot.json", "leads nowhere", "bring back")]);
}

#[test]
fn a_file_in_the_place_of_the_home_is_named() {
    let home = Home::empty();
    let file = home.write("file", "x");
    let said = Said::of(&home, &["doctor", "--home", &file]);
    assert_eq!(said.status, 1);
    assert_eq!(said.findings[0]["state"], "wrong", "{:#?}", said.findings);
}

#[test]
fn a_brokers_key_is_looked_at_where_there_is_one() {
    let (home, _stage) = connected();
    let broker = home.path("keys/broker.json");
    fs::copy(home.path("keys/bot.json"), &broker).unwrap();
    Said::offline(&home).only(1, &[("wrong", "keys/broker.json", "not a broker's", "restore the file")]);
    fs::write(&broker, "garbage").unwrap();
    Said::offline(&home).only(1, &[("wrong", "keys/broker.json", "not a key file", "restore the file")]);
    let key = SecretKey::generate(KeyKind::Broker, &mut UnwrapErr(SysRng));
    fs::write(&broker, key.to_file(None, &mut UnwrapErr(SysRng)).unwrap()).unwrap();
    Said::offline(&home).only(0, &[]).is_well(&["keys/broker.json"]);
}
