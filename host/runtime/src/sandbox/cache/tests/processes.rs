//! Real processes: this test binary started again, to compile, to take what another has compiled, and to be killed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::*;

/// What a child prints before its own lines; the test harness prints lines of its own.
const MARK: &str = "child:";

/// Another process.
struct Another {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Another {
    /// Starts one that does this job with a cache.
    fn start(job: &str, disk: &Disk) -> Self {
        let this = concat!(module_path!(), "::another_process");
        let name = this.split_once("::").unwrap().1;
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([name, "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        writeln!(stdin, "{job}\n{}", disk.folder().display()).unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdin, stdout }
    }

    /// Its next line, without the mark; none when it is at its end.
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        while self.stdout.read_line(&mut line).unwrap() > 0 {
            if let Some((_, said)) = line.trim_end().split_once(MARK) {
                return Some(said.to_owned());
            }
            line.clear();
        }
        None
    }
}

impl Drop for Another {
    fn drop(&mut self) {
        self.child.kill().unwrap_or_default();
        self.child.wait().map_or_else(|_error| (), |_ended| ());
    }
}

/// Not a test: what another process does, told on stdin.
#[test]
#[ignore = "other tests run it, as a process of its own"]
fn another_process() {
    let mut lines = std::io::stdin().lines().map(Result::unwrap);
    let (job, folder) = (lines.next().unwrap(), PathBuf::from(lines.next().unwrap()));
    let say = |what: &str| {
        std::io::stdout().write_all(format!("{MARK}{what}\n").as_bytes()).unwrap();
        std::io::stdout().flush().unwrap();
    };
    match job.as_str() {
        "run" => {
            say("ready");
            assert!(lines.next().is_some(), "nobody waits for this process any more");
            let sandbox = Sandbox::default().with_cache(folder, SystemEntropy);
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            say(&format!("compiled {}", runtime.block_on(run(&sandbox))));
        }
        "keep on and on" => {
            let (cache, engine) = (Cache::new(folder, 1 << 30, Box::new(SystemEntropy)), Engine::default());
            loop {
                keep(&cache, &engine, EMPTY, EMPTY);
                say("kept");
            }
        }
        other => panic!("what is {other}?"),
    }
}

/// So many processes run the module at the same time; what each of them says.
fn together(number: usize, disk: &Disk) -> Vec<String> {
    let mut all: Vec<Another> = (0..number).map(|_| Another::start("run", disk)).collect();
    for another in &mut all {
        assert_eq!(another.line().as_deref(), Some("ready"));
    }
    for another in &mut all {
        another.stdin.write_all(b"go\n").unwrap();
    }
    all.iter_mut().map(|another| another.line().unwrap()).collect()
}

#[test]
fn several_processes_make_one_cache_and_the_next_ones_compile_nothing() {
    let disk = Disk::new();
    for said in together(6, &disk) {
        assert!(["compiled 0", "compiled 1"].contains(&&*said), "{said}");
    }
    // Each of them has made folders and a key, and has perhaps compiled: one key is left, and one file that is sealed with it.
    assert_eq!(disk.names().len(), 1);
    assert_eq!(fs::read_dir(above(&disk.folder())).unwrap().count(), 2);
    assert_eq!(together(3, &disk), ["compiled 0"; 3]);
}

/// Killed in the middle of what it does, at a different place each time: the file of before is there, or a whole new one.
#[test]
fn a_process_that_is_killed_while_it_writes_leaves_whole_files() {
    let (disk, engine) = (Disk::new(), Engine::default());
    for round in 0..12 {
        let mut another = Another::start("keep on and on", &disk);
        for _ in 0..=round {
            assert_eq!(another.line().as_deref(), Some("kept"));
        }
        // Who reads meanwhile finds one or the other.
        let reader = disk.cache();
        assert!((0..50).all(|_| finds(&reader, &engine, EMPTY)), "round {round}");
        drop(another);
        assert!(finds(&disk.cache(), &engine, EMPTY), "round {round}");
    }
}
