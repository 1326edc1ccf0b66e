//! What stays resident with a thousand ops connected, listed and called a thousand times.

use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::calls::said;
use crate::house::{self, House};
use crate::many;
use crate::pipe::{Memory, Pipe, good};
use crate::says::{called, initialize, initialized, legacy, modern};
use crate::wire::Wire;

const CALLS: usize = 1_000;
const CONNECTIONS: usize = 50;

pub(crate) fn measure(house: &House) -> anyhow::Result<()> {
    println!(
        "\nResident with 1,000 ops, KiB: when they are listed; after {CALLS} calls; the most; of it not mapped from files\n"
    );
    println!("| server | listed | called | most | anonymous |\n|---|---|---|---|---|");
    let home = house.many()?;
    for (name, flags, style) in [
        ("Pinhole on stdio", &[][..], Style::Search),
        ("Pinhole on stdio, a tool an op", &["--tools", "each"][..], Style::Each),
    ] {
        let mut pipe = Pipe::start(&mut home.on_stdio(flags)?)?;
        list(&mut pipe)?;
        let listed = pipe.memory()?;
        for number in 1..=CALLS {
            let (tool, arguments) = style.call(number % 999 + 1);
            pipe.ask(&modern("tools/call", called(&tool, &arguments)))?;
        }
        say(name, listed, pipe.memory()?);
    }
    over_http(house)?;

    let mut pipe = Pipe::start(&mut house::echo()?)?;
    list(&mut pipe)?;
    let listed = pipe.memory()?;
    for _ in 0..CALLS {
        pipe.ask(&modern("tools/call", called("echo", &said(1, 2_000))))?;
    }
    say("echo on stdio, its one tool", listed, pipe.memory()?);

    if let Some(mut command) = house.other("rows", &many::operations())? {
        let mut pipe = Pipe::start(&mut command)?;
        pipe.ask(&initialize())?;
        pipe.write(&initialized())?;
        pipe.ask(&legacy("tools/list", &json!({})))?;
        let listed = pipe.memory()?;
        for _ in 0..CALLS {
            let arguments = json!({"per_page": crate::PER_PAGE});
            pipe.ask(&legacy("tools/call", &called(&many::op(1), &arguments)))?;
        }
        say("the other on stdio", listed, pipe.memory()?);
    }
    Ok(())
}

/// How an op is called.
#[derive(Clone, Copy)]
enum Style {
    Search,
    Each,
}

impl Style {
    fn call(self, number: usize) -> (String, Value) {
        let (service, op) = (many::SERVICE, many::op(number));
        let args = json!({"per_page": crate::PER_PAGE});
        match self {
            Self::Search => {
                ("run_read_op".to_owned(), json!({"op": format!("{service}.{op}"), "args": args}))
            }
            Self::Each => (format!("{service}_{op}"), args),
        }
    }
}

/// Every page of the list.
fn list(pipe: &mut Pipe) -> anyhow::Result<()> {
    let mut params = json!({});
    loop {
        let page = pipe.ask(&modern("tools/list", params))?;
        match page.get("nextCursor") {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => return Ok(()),
        }
    }
}

fn over_http(house: &House) -> anyhow::Result<()> {
    let runtime: Runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (server, door) = house.many()?.over_http(&[])?;
    runtime.block_on(async {
        let mut wires = Vec::new();
        for _ in 0..CONNECTIONS {
            wires.push(Wire::open(door.address).await?);
        }
        for wire in &mut wires {
            good(wire.ask(&door.list(None)).await?)?;
        }
        let listed = server.memory()?;
        let requests: Vec<Vec<u8>> = (1..=CALLS)
            .map(|number| {
                let (tool, arguments) = Style::Search.call(number % 999 + 1);
                door.call(&tool, &arguments)
            })
            .collect();
        let all = wires.iter_mut().zip(requests.chunks(CALLS / CONNECTIONS)).map(async |(wire, requests)| {
            for request in requests {
                good(wire.ask(request).await?)?;
            }
            anyhow::Ok(())
        });
        futures_util::future::try_join_all(all).await?;
        say(&format!("Pinhole over HTTP, {CONNECTIONS} connections at once"), listed, server.memory()?);
        Ok(())
    })
}

fn say(name: &str, listed: Memory, called: Memory) {
    let Memory { resident, peak, anonymous } = called;
    println!("| {name} | {} | {resident} | {peak} | {anonymous} |", listed.resident);
}
