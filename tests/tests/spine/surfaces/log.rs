//! Everything that is logged on a thread, at every level, kept to be looked at.

use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// A subscriber that keeps each line. Clones are the same.
#[derive(Debug, Clone, Default)]
pub(super) struct Log(Arc<Mutex<Vec<Line>>>);

/// One event or span.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) target: String,
    pub(super) text: String,
}

impl Log {
    /// What was logged since the last look.
    pub(super) fn taken(&self) -> Vec<Line> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    fn keep(&self, metadata: &Metadata<'_>, fields: Fields) {
        let line = Line { target: metadata.target().to_owned(), text: fields.0 };
        self.0.lock().unwrap().push(line);
    }
}

/// The fields of a line, as text; a text as it is, without `Debug`'s escapes.
#[derive(Default)]
struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        write!(self.0, " {field}={value:?}").unwrap();
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        write!(self.0, " {field}={value}").unwrap();
    }
}

impl Subscriber for Log {
    fn enabled(&self, _metadata: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields::default();
        span.record(&mut fields);
        self.keep(span.metadata(), fields);
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, values: &Record<'_>) {
        let mut fields = Fields::default();
        values.record(&mut fields);
        self.0.lock().unwrap().push(Line { target: "a span".to_owned(), text: fields.0 });
    }

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        self.keep(event.metadata(), fields);
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}
