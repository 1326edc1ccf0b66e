//! The log of a sidecar: a line a request and whatever goes wrong, as text or as JSON, on stderr.
//!
//! INVARIANT: a line of the log is one line, whatever is in it, and no character of it hides.

use std::fmt;

use pinhole_server::sidecar::LOG_TARGET;
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime as _, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::SidecarFlags;
use crate::config::Config;
use crate::out;

/// Logs to stderr. Where no level was said, requests show and else what goes wrong.
pub(crate) fn start(flags: &SidecarFlags, config: &Config) {
    let levels = Targets::new()
        .with_default(config.level().unwrap_or(LevelFilter::WARN))
        .with_target(LOG_TARGET, config.level().unwrap_or(LevelFilter::INFO));
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    if flags.log_json {
        tracing_subscriber::registry().with(lines.event_format(Json)).with(levels).init();
    } else {
        tracing_subscriber::registry().with(lines).with(levels).init();
    }
}

/// One JSON object a line.
struct Json;

impl<S, N> FormatEvent<S, N> for Json
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut time = String::new();
        SystemTime.format_time(&mut Writer::new(&mut time))?;
        let mut fields = Fields(Map::new());
        let metadata = event.metadata();
        fields.set("time", time);
        fields.set("level", metadata.level().as_str());
        fields.set("target", metadata.target());
        event.record(&mut fields);
        writeln!(writer, "{}", out::plain_json(&Value::Object(fields.0).to_string()))
    }
}

struct Fields(Map<String, Value>);

impl Fields {
    fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field.name(), value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field.name(), value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field.name(), value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field.name(), value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.set(field.name(), format!("{value:?}"));
    }
}
