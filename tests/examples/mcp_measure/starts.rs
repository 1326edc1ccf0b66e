//! From the start of a process to the last byte of its first answer, and of the list of its tools.

use std::process::Command;
use std::time::Duration;

use serde_json::json;

use crate::figures::{millis, quantile};
use crate::house::{self, House};
use crate::many;
use crate::pipe::Pipe;
use crate::says::{initialize, initialized, legacy, modern};

const TIMES: usize = 30;
/// As often the other server, which takes seconds.
const TIMES_OTHER: usize = 6;

#[derive(Clone, Copy)]
enum Era {
    Modern,
    Legacy,
}

struct Subject {
    name: &'static str,
    era: Era,
    command: Command,
    first: Vec<Duration>,
    list: Vec<Duration>,
}

impl Subject {
    fn new(name: &'static str, era: Era, command: Command) -> Self {
        Self { name, era, command, first: Vec::new(), list: Vec::new() }
    }

    fn once(&mut self) -> anyhow::Result<()> {
        let mut pipe = Pipe::start(&mut self.command)?;
        match self.era {
            Era::Modern => {
                pipe.write(&modern("server/discover", json!({})))?;
                pipe.write(&modern("tools/list", json!({})))?;
            }
            Era::Legacy => pipe.write(&initialize())?,
        }
        pipe.answer()?;
        self.first.push(pipe.since_start());
        if let Era::Legacy = self.era {
            pipe.write(&initialized())?;
            pipe.write(&legacy("tools/list", &json!({})))?;
        }
        pipe.answer()?;
        self.list.push(pipe.since_start());
        Ok(())
    }
}

pub(crate) fn measure(house: &House) -> anyhow::Result<()> {
    let (few, many_home) = (house.few()?, house.many()?);
    let mut subjects = vec![
        Subject::new("echo", Era::Modern, house::echo()?),
        Subject::new("echo", Era::Legacy, house::echo()?),
        Subject::new("Pinhole, 17 ops", Era::Modern, few.on_stdio(&[])?),
        Subject::new("Pinhole, 17 ops", Era::Legacy, few.on_stdio(&[])?),
        Subject::new("Pinhole, 1,000 ops", Era::Modern, many_home.on_stdio(&[])?),
    ];
    if let Some(command) = house.other("listing", &many::listing())? {
        subjects.push(Subject::new("the other, 1 op", Era::Legacy, command));
    }
    if let Some(command) = house.other("rows", &many::operations())? {
        subjects.push(Subject::new("the other, 1,000 ops", Era::Legacy, command));
    }
    for round in 0..TIMES {
        for subject in &mut subjects {
            if round < TIMES_OTHER || !subject.name.starts_with("the other") {
                subject.once()?;
            }
        }
    }
    println!(
        "\nFrom start to the first answer, and to the list of tools; stdio, {TIMES} starts each, {TIMES_OTHER} of the other, ms\n"
    );
    println!("| server | first message | first answer p50 (p99) | list p50 (p99) |\n|---|---|---|---|");
    for subject in &subjects {
        let message = match subject.era {
            Era::Modern => "`server/discover`, `tools/list`",
            Era::Legacy => "`initialize`",
        };
        let say = |all: &[Duration]| {
            format!("{:.1} ({:.1})", millis(quantile(all, 0.5)), millis(quantile(all, 0.99)))
        };
        println!("| {} | {message} | {} | {} |", subject.name, say(&subject.first), say(&subject.list));
    }
    Ok(())
}
