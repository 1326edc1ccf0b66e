//! One sidecar on SQLite, one on PostgreSQL, and two on one PostgreSQL whose clients take turns: what reads cost, and what waits
//! for the disk. Both databases wait for the disk here as they do in use.

use std::path::Path;
use std::sync::Arc;

use futures_util::FutureExt as _;
use pinhole_client::Call;
use pinhole_runtime::store::{PostgresAddress, PostgresStore, SqliteStore};
use pinhole_tests::Stage;
use pinhole_tests::postgres::Postgres;
use serde_json::json;

use crate::doors::{ARGS, AT_ONCE};
use crate::figures::{Way, most, table};
use crate::houses::House;

/// Most uses of the write grant: more than any run makes.
const USES: u32 = 1_000_000;

pub(crate) async fn measure(stage: &Stage, calls: usize) -> anyhow::Result<()> {
    let Some(server) = Postgres::start("sidecar_measure") else { return Ok(()) };
    server.sql("postgres", "ALTER SYSTEM SET fsync = on");
    server.sql("postgres", "SELECT pg_reload_conf()");
    let home = tempfile::tempdir()?;
    let sqlite = [on_sqlite(stage, home.path())?];
    let (alone, shared) = (server.database(), server.database());
    let lone = [on_postgres(stage, &alone).await?];
    let pair = [on_postgres(stage, &shared).await?, on_postgres(stage, &shared).await?];
    let houses: [(&'static str, &[House]); 3] =
        [("one, SQLite", &sqlite), ("one, PostgreSQL", &lone), ("two, one PostgreSQL", &pair)];

    let text = |grant: Vec<u8>| String::from_utf8(grant);
    let read = Call::new("github", "get_repo", text(stage.grant("github").seal())?).with_args(ARGS);
    let reading = |_, _: usize| read.clone();
    table("A read, a grant of any number of uses", ways(&houses, &reading), calls).await?;

    let grants = (0..AT_ONCE.len() * most(calls)).map(|_| text(stage.grant("github").uses(1).seal()));
    let grants = grants.collect::<Result<Vec<_>, _>>()?;
    let once = |lot: usize, number: usize| {
        let grant = grants.get(lot * most(calls) + number).map_or("", String::as_str);
        Call::new("github", "get_repo", grant).with_args(ARGS)
    };
    table("A read, a grant of one use each", ways(&houses, &once), calls).await?;

    let write = text(stage.grant("github").write(USES).seal())?;
    let writing = |lot: usize, number: usize| {
        let args = json!({"owner": "pinhole-demo", "repo": "lantern", "title": format!("Lamp {number}")});
        let call = Call::new("github", "create_issue", &write).with_args(args.to_string());
        call.with_key(format!("{lot}-{number}"))
    };
    table("A write under its caller's key, one write grant", ways(&houses, &writing), calls).await
}

/// Each arrangement with each number at once, which is what a lot is; the sidecars of one take turns.
fn ways<'a>(
    houses: &'a [(&'static str, &'a [House])],
    call: &'a dyn Fn(usize, usize) -> Call,
) -> Vec<Way<'a>> {
    let mut ways = Vec::new();
    for (lot, at_once) in AT_ONCE.into_iter().enumerate() {
        for (name, houses) in houses {
            let run = move |number: usize| {
                let call = call(lot, number);
                let house = houses.get(number % houses.len());
                async move { house.ok_or_else(|| anyhow::anyhow!("no sidecar"))?.run(&call).await }
                    .boxed_local()
            };
            ways.push(Way::new(name, at_once, Box::new(run)));
        }
    }
    ways
}

fn on_sqlite(stage: &Stage, home: &Path) -> anyhow::Result<House> {
    House::new(stage, Arc::new(SqliteStore::open_home(home)?))
}

async fn on_postgres(stage: &Stage, url: &str) -> anyhow::Result<House> {
    let address = PostgresAddress::parse(url)?;
    let store = tokio::task::spawn_blocking(move || PostgresStore::open(&address)).await??;
    House::new(stage, Arc::new(store))
}
