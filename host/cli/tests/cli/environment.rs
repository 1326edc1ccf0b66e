//! The environment weakens nothing: where to dial, whom to believe and which proxy to use are flags alone.

use std::io::ErrorKind;
use std::net::TcpListener;

use crate::home::{Home, KEY, ran};
use crate::stage::{READ, Stage, WRITE};

/// A port that answers nobody and says whether anybody came.
fn trap() -> TcpListener {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    listener
}

fn assert_untouched(listener: &TcpListener) {
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "somebody dialled it");
}

#[test]
fn no_proxy_and_no_resolver_option_is_taken_from_the_environment() {
    let (home, stage, trap) = (Home::new(), Stage::new(), trap());
    let grant = home.mint(&[]);
    let proxy = format!("http://{}", trap.local_addr().unwrap());
    let args = stage.args(&home, &[&["run"], &READ[..], &["--grant", &grant, "--json"]].concat());
    let mut command = home.command(&args.words());
    for name in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "HTTP_PROXY", "http_proxy"] {
        command.env(name, &proxy);
    }
    command
        .env("RES_OPTIONS", "ndots:15 debug")
        .env("LOCALDOMAIN", "evil.test")
        .env("SSLKEYLOGFILE", home.path("tls-keys"));
    ran(&mut command, b"").expect(0);
    assert_eq!(stage.requests(), 1);
    assert_untouched(&trap);
    assert!(!home.path("tls-keys").exists(), "the connection's keys were written down");
}

#[test]
fn no_dialling_is_taken_from_the_environment() {
    let (home, stage, trap) = (Home::new(), Stage::new(), trap());
    let port = trap.local_addr().unwrap().port();
    let elsewhere = format!("api.github.com:443:127.0.0.1:{port}");
    // The flag is followed, the variable is not.
    let grant = home.mint(&[]);
    let args = stage.args(&home, &[&["run"], &READ[..], &["--grant", &grant, "--json"]].concat());
    let mut command = home.command(&args.words());
    for name in ["PINHOLE_RESOLVE", "RESOLVE", "PINHOLE_DIAL", "PINHOLE_HOST", "GITHUB_API_URL"] {
        command.env(name, &elsewhere);
    }
    ran(&mut command, b"").expect(0);
    assert_eq!(stage.requests(), 1);
    // A grant for the real host is refused where dialling is overridden: with the variable it is not.
    let real = home.mint_for(&home.bot(), &[]);
    let explain = [&["explain"], &READ[..], &["--grant", &real, "--json"]].concat();
    ran(home.command(&explain).env("PINHOLE_RESOLVE", &elsewhere), b"").expect(0);
    home.run(&[&explain[..], &["--resolve", &elsewhere]].concat()).expect(3);
    assert_untouched(&trap);
}

#[test]
fn no_authority_is_taken_from_the_environment() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = home.mint(&[]);
    let args = stage.args(&home, &[&["run"], &READ[..], &["--grant", &grant, "--json"]].concat());
    let words = args.words();
    let (ca, without) = (words.last().unwrap(), &words[..words.len() - 2]);
    let mut command = home.command(without);
    for name in
        ["PINHOLE_CA_CERT", "SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"]
    {
        command.env(name, ca);
    }
    command.env("SSL_CERT_DIR", home.path(""));
    ran(&mut command, b"").expect(3).refusal("tls_failed");
    assert_eq!(stage.requests(), 0);
}

#[test]
fn no_permission_is_taken_from_the_environment() {
    let (home, stage) = (Home::new(), Stage::new());
    let grant = home.mint(&[]);
    let args = stage.args(&home, &[&["run"], &WRITE[..], &["--grant", &grant, "--json"]].concat());
    let mut command = home.command(&args.words());
    for name in ["PINHOLE_UNSIGNED", "PINHOLE_ACCESS", "PINHOLE_CAP", "PINHOLE_YES", "PINHOLE_CONFIRM_ARG"] {
        command.env(name, "write");
    }
    ran(&mut command, b"").expect(3).refusal("read_only_grant");
    let args = [&["run"], &READ[..]].concat();
    ran(
        home.command(&args).env("PINHOLE_TOKEN", KEY).env("GITHUB_TOKEN", KEY).env("PINHOLE_GRANT", &grant),
        b"",
    )
    .expect(3);
    assert_eq!(stage.connections(), 0);
}

#[test]
fn the_home_is_a_flag_then_a_variable_then_the_data_folder() {
    let (home, flagged) = (Home::new(), Home::new());
    let shown = |command: &mut std::process::Command| ran(command, b"").expect(0).json()["bot"].clone();
    let show = ["keys", "show", "--json"];
    let flag = flagged.path("");
    assert_eq!(shown(home.command(&show).arg("--home").arg(&flag)), flagged.bot());
    assert_eq!(shown(&mut home.command(&show)), home.bot());
    let data = Home::empty();
    std::fs::rename(home.path("keys"), data.path("keys-moved")).unwrap();
    std::fs::create_dir_all(data.path("pinhole")).unwrap();
    std::fs::rename(data.path("keys-moved"), data.path("pinhole/keys")).unwrap();
    let mut command = home.command(&show);
    assert!(shown(command.env_remove("PINHOLE_HOME").env("XDG_DATA_HOME", data.path(""))).is_string());
    let nowhere = ran(home.command(&show).env_remove("PINHOLE_HOME"), b"").expect(2);
    assert!(nowhere.stderr.contains("PINHOLE_HOME"), "{}", nowhere.stderr);
}

#[test]
fn a_home_in_the_environment_is_an_absolute_path() {
    let home = Home::new();
    let show = |variables: &[(&str, &str)], flags: &[&str]| {
        let mut command = home.command(&[&["keys", "show", "--json"], flags].concat());
        command.env_remove("PINHOLE_HOME").envs(variables.iter().copied());
        ran(&mut command, b"")
    };
    std::fs::create_dir_all(home.path("data/pinhole")).unwrap();
    std::fs::create_dir_all(home.path("user/.local/share/pinhole")).unwrap();
    for folder in ["data/pinhole", "user/.local/share/pinhole"] {
        let made = home.run(&["--home", home.path(folder).to_str().unwrap(), "keys", "new"]);
        made.expect(0);
    }
    let absolute = |name: &str| home.path(name).to_str().unwrap().to_owned();
    for relative in [".", "data", "./data", "../data"] {
        let refused = show(&[("PINHOLE_HOME", relative), ("HOME", &absolute("user"))], &[]).expect(2);
        assert!(refused.stderr.contains("PINHOLE_HOME"), "{}", refused.stderr);
        // As if it were not there.
        let ignored = show(&[("XDG_DATA_HOME", relative), ("HOME", &absolute("user"))], &[]).expect(0);
        let wanted = show(&[("HOME", &absolute("user"))], &[]).expect(0);
        assert_eq!(ignored.json(), wanted.json());
        show(&[("XDG_DATA_HOME", relative), ("HOME", relative)], &[]).expect(2);
    }
    assert!(show(&[("HOME", &absolute("user"))], &[]).json()["bot"].is_string());
    let data = show(&[("XDG_DATA_HOME", &absolute("data")), ("HOME", &absolute("user"))], &[]).json();
    assert_ne!(data, show(&[("HOME", &absolute("user"))], &[]).json());
    // A flag is typed here and now, and may be relative.
    let flag = show(&[("PINHOLE_HOME", "data")], &["--home", "data/pinhole"]).expect(0);
    assert_eq!(flag.json(), data);
}

#[cfg(unix)]
#[test]
fn another_home_with_links_to_the_keys_forgets_nothing() {
    use std::os::unix::fs::symlink;
    let (home, stage) = (Home::new(), Stage::new());
    let spent = home.mint(&["--uses", "1"]);
    let revoked = home.mint(&[]);
    let call = |home: &Home, grant: &str| {
        let words = stage.args(home, &[&["run"], &READ[..], &["--grant", grant, "--json"]].concat());
        home.run(&words.words())
    };
    let folder = Home::empty();
    symlink(home.path("keys"), folder.path("keys")).unwrap();
    let files = Home::empty();
    std::fs::create_dir(files.path("keys")).unwrap();
    for name in ["keys/member.json", "keys/bot.json"] {
        symlink(home.path(name), files.path(name)).unwrap();
    }
    // What is spent in one of them is spent in all, and what is revoked in one is revoked in all.
    call(&folder, &spent).expect(0);
    files.run(&["grant", "revoke", &revoked]).expect(0);
    for home in [&home, &folder, &files] {
        call(home, &spent).expect(3).refusal("grant_used_up");
        call(home, &revoked).expect(3).refusal("grant_revoked");
    }
    let id = home.run(&["grant", "inspect", &home.mint(&[]), "--json"]).json()["id"].clone();
    folder.run(&["grant", "revoke", id.as_str().unwrap()]).expect(0);
    assert!(!folder.path("pinhole.db").exists() && !files.path("pinhole.db").exists());
    assert_eq!(stage.requests(), 1);
    // Without a grant there is nothing to spend, and the home's own database serves.
    folder.run_with(&[&["explain"], &READ[..], &["--token-stdin"]].concat(), KEY).expect(0);
    assert!(folder.path("pinhole.db").exists());
}
