//! What is wrong with the database ends each command that uses connections with status 6 and says what to do; nothing is
//! sent, and a connection without its grant, or a grant without its connection, is never there.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pinhole_standin::{Misbehaviour, When};

use crate::home::{Home, KEY, Ran, ran};
use crate::stage::{READ, Stage, WRITE};

const DATABASE: &str = "pinhole.db";

fn connected() -> (Home, Stage) {
    let (home, stage) = (Home::new(), Stage::new());
    home.connect(&stage, &[]).expect(0);
    (home, stage)
}

/// Every command that uses connections, and what is on its stdin.
fn commands<'a>(home: &Home, stage: &Stage) -> Vec<(Vec<String>, &'a str)> {
    let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let dialled = |words: &[&str]| own(&stage.args(home, words).words());
    let on = ["--connection", "default"];
    vec![
        (dialled(&["connect", "github", "--token-stdin", "--label", "other"]), KEY),
        (dialled(&["connect", "github", "--token-stdin", "--json"]), KEY),
        (dialled(&[&["run"], &READ[..], &on].concat()), ""),
        (dialled(&[&["run"], &WRITE[..], &on].concat()), ""),
        (dialled(&[&["explain"], &READ[..], &on].concat()), ""),
        (own(&["connections"]), ""),
        (own(&["connections", "renew"]), ""),
        (own(&["connections", "cap", "github", "--label", "default", "read"]), ""),
        (own(&["connections", "remove", "github", "--label", "default"]), ""),
        (own(&["approvals", "list"]), ""),
    ]
}

fn words(command: &[String]) -> Vec<&str> {
    command.iter().map(String::as_str).collect()
}

/// Each connection has its grant, each grant its connection; gives how many there are.
#[track_caller]
fn whole(home: &Home) -> usize {
    let one = |sql: &str| home.database().query_one(sql, [], |row| row.get::<_, String>(0)).unwrap();
    assert_eq!(one("PRAGMA integrity_check"), "ok");
    let of_grants = one("SELECT coalesce(group_concat(connection, ' ' ORDER BY connection), '') FROM grants");
    let ids = one("SELECT coalesce(group_concat(id, ' ' ORDER BY id), '') FROM connections");
    assert_eq!(of_grants, ids);
    ids.split_whitespace().count()
}

fn overwrite(path: &Path, at: usize, with: &[u8]) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes.splice(at..at + with.len(), with.iter().copied());
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_database_that_is_none_or_no_longer_whole_is_left_as_it_is() {
    let (home, stage) = connected();
    let path = home.path(DATABASE);
    let (bytes, stored, connections) = (std::fs::read(&path).unwrap(), home.stored(), stage.connections());
    let newer: fn(&Path) = |path| overwrite(path, 60, &9_u32.to_be_bytes());
    let damaged: fn(&Path) = |path| overwrite(path, 4096, &[0xa5; 64]);
    let another: fn(&Path) = |path| std::fs::write(path, "notes of mine\n".repeat(400)).unwrap();
    let cut: fn(&Path) =
        |path| std::fs::File::options().write(true).open(path).unwrap().set_len(4096).unwrap();
    for (spoil, what, to_do) in [
        (newer, "later version", "run the later version"),
        (damaged, "damaged", "look at the disk"),
        (another, "not a database of Pinhole's", "move it away"),
        (cut, "damaged", "connections are made anew"),
    ] {
        spoil(&path);
        let spoilt = std::fs::read(&path).unwrap();
        for (command, stdin) in commands(&home, &stage) {
            let ran = home.run_with(&words(&command), stdin).expect(6).hides(KEY);
            assert!(ran.stderr.contains(what) && ran.stderr.contains(to_do), "{command:?}: {}", ran.stderr);
            assert_eq!(ran.stdout, "", "{command:?}");
            assert_eq!(std::fs::read(&path).unwrap(), spoilt, "{command:?}");
        }
        std::fs::write(&path, &bytes).unwrap();
    }
    assert_eq!((home.stored(), stage.connections()), (stored, connections));
}

#[test]
fn a_database_that_another_process_has_locked_is_waited_for_and_then_given_up() {
    let (home, stage) = connected();
    let (stored, connections) = (home.stored(), stage.connections());
    let other = home.database();
    other.pragma_update(None, "locking_mode", "EXCLUSIVE").unwrap();
    other.execute_batch("BEGIN EXCLUSIVE; UPDATE clock SET latest = latest").unwrap();
    // All at once: each waits for as long.
    let waiting: Vec<_> = commands(&home, &stage)
        .into_iter()
        .map(|(command, stdin)| {
            let mut process = home.command(&words(&command));
            std::thread::spawn(move || (ran(&mut process, stdin.as_bytes()), command))
        })
        .collect();
    for waits in waiting {
        let (ran, command) = waits.join().unwrap();
        let ran = ran.expect(6);
        assert!(ran.stderr.contains("locked by another process"), "{command:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("try again"), "{command:?}: {}", ran.stderr);
    }
    drop(other);
    assert_eq!((home.stored(), stage.connections()), (stored, connections));
    home.connect(&stage, &["--label", "other"]).expect(0);
}

/// The same command where files may only have so many blocks of 512 bytes: as on a disk that is full.
#[cfg(unix)]
fn cramped(home: &Home, command: &[String], stdin: &str, blocks: usize) -> Ran {
    let inner = home.command(&words(command));
    let mut shell = Command::new("/bin/sh");
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    shell.args(["-c", &script, "sh"]).arg(inner.get_program()).args(inner.get_args());
    shell.env_clear().env("PINHOLE_HOME", home.path("")).current_dir(home.path(""));
    shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    ran(&mut shell, stdin.as_bytes())
}

#[cfg(unix)]
#[test]
fn without_room_a_connection_is_whole_or_not_there() {
    let (home, stage) = connected();
    let bytes = std::fs::read(home.path(DATABASE)).unwrap();
    let mut ended = [0, 0];
    for blocks in [0, 4, 12, 20, 28, 36, 44, 52, 60, 100, 1_000] {
        for (command, stdin) in commands(&home, &stage) {
            let ran = cramped(&home, &command, stdin, blocks);
            if ran.status == 6 {
                ended[0] += 1;
                assert!(ran.stderr.lines().count() >= 2 || ran.stdout.contains("hint"), "{}", ran.stderr);
            } else {
                ended[1] += 1;
                let removed = command.contains(&"remove".to_owned());
                let wrote = command.contains(&WRITE[0].to_owned());
                assert!(
                    ran.status == 0 || removed || (ran.status == 3 && wrote),
                    "{command:?} {}",
                    ran.stderr
                );
            }
            whole(&home);
        }
        for beside in ["pinhole.db-wal", "pinhole.db-shm"] {
            std::fs::remove_file(home.path(beside)).unwrap_or_default();
        }
        std::fs::write(home.path(DATABASE), &bytes).unwrap();
    }
    assert!(ended.iter().all(|count| *count > 10), "{ended:?}");
    assert_eq!(whole(&home), 1);
    // Where not even keys can be made there are none, nor half of one.
    let empty = Home::empty();
    let (connect, stdin) = commands(&empty, &stage).remove(0);
    cramped(&empty, &connect, stdin, 0).expect(6);
    assert!(!empty.path("keys/member.json").exists() && !empty.path(DATABASE).exists());
    empty.run_with(&words(&connect), stdin).expect(0);
}

/// As a user who may only read: whoever runs the tests may be the one user whom no mode stops.
#[cfg(target_os = "linux")]
#[test]
fn where_nothing_can_be_written_nothing_is_sent() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt, chown};
    use std::os::unix::process::CommandExt as _;
    let (home, stage) = connected();
    let (stored, connections) = (home.stored(), stage.connections());
    let nobody = (std::fs::metadata("/proc/self").unwrap().uid() == 0).then_some(65_534);
    let commands = commands(&home, &stage);
    for entry in ["", "keys", "keys/member.json", "keys/member.pub", "keys/bot.json", DATABASE, "ca.pem"] {
        chown(home.path(entry), nobody, nobody).unwrap();
    }
    let set = |entry: &str, mode| {
        std::fs::set_permissions(home.path(entry), PermissionsExt::from_mode(mode)).unwrap();
    };
    for (folder, file) in [(0o500, 0o400), (0o700, 0o400), (0o500, 0o600)] {
        // What the round before may have left beside it would make room to write.
        for beside in ["pinhole.db-wal", "pinhole.db-shm"] {
            std::fs::remove_file(home.path(beside)).unwrap_or_default();
        }
        set(DATABASE, file);
        set("", folder);
        for (command, stdin) in &commands {
            let mut process = home.command(&words(command));
            if let Some(nobody) = nobody {
                process.uid(nobody).gid(nobody);
            }
            let ran = ran(&mut process, stdin.as_bytes()).expect(6);
            assert!(ran.stderr.contains("look at the rights"), "{command:?}: {}", ran.stderr);
        }
        set("", 0o700);
        set(DATABASE, 0o600);
    }
    assert_eq!((home.stored(), stage.connections()), (stored, connections));
}

#[test]
fn a_connect_that_was_killed_before_the_key_was_proved_has_left_nothing() {
    let (home, stage) = (Home::new(), Stage::new());
    stage.standin.misbehave(When::Next(1), Misbehaviour::SlowHeaders { delay: Duration::from_mins(10) });
    let connect = stage.args(&home, &["connect", "github", "--token-stdin"]);
    let mut child = home.command(&connect.words()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), KEY.as_bytes()).unwrap();
    let patience = Instant::now() + Duration::from_mins(1);
    while stage.requests() == 0 {
        assert!(Instant::now() < patience, "no request came");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    assert!(!child.wait().unwrap().success());
    assert_eq!(whole(&home), 0);
    home.hides(KEY);
    home.connect(&stage, &[]).expect(0);
    assert_eq!(whole(&home), 1);
}

#[test]
fn of_many_who_connect_at_once_one_or_the_other_is_kept_whole() {
    for home in [Home::new(), Home::empty()] {
        let stage = Stage::new();
        let connect = stage.args(&home, &["connect", "github", "--token-stdin"]);
        let processes: Vec<_> = (0..8)
            .map(|_| {
                let mut process = home.command(&connect.words());
                std::thread::spawn(move || ran(&mut process, KEY.as_bytes()))
            })
            .collect();
        let statuses: Vec<i32> =
            processes.into_iter().map(|process| process.join().unwrap().status).collect();
        assert!(statuses.contains(&0), "{statuses:?}");
        // The others renewed it, or came between: theirs to try again.
        assert!(statuses.iter().all(|status| [0, 3, 6].contains(status)), "{statuses:?}");
        assert_eq!(whole(&home), 1);
        home.run(&stage.args(&home, &[&["run"], &READ[..]].concat()).words()).expect(0);
    }
}
