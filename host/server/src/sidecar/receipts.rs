//! `GET /v1/receipts`: what a caller's own calls came to.
//!
//! INVARIANT: whoever asks sees the receipts of calls that were made on his behalf and of no other's; what is not as it was written
//! is not shown. All of them, and whether they are sound, is the operator's to see (`pinhole receipts`).

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use pinhole_manifest::{OpId, ServiceId};
use pinhole_runtime::receipts::{Receipt, Stored};
use pinhole_runtime::store::{ReceiptFilter, StoreError};
use serde_json::{Value, json};
use url::form_urlencoded;

use super::answer::{self, No};
use super::door::{Caller, Door};
use crate::http::Refused;

/// Most that are shown at once.
const SHOWN_MAX: usize = 100;
/// How many are looked through for what is asked for, over all keys of the bot: the newest.
const LOOKED_MAX: usize = 2_000;

/// Gives the list, the newest first.
pub(super) async fn receipts(State(door): State<Arc<Door>>, request: Request) -> Response {
    let (parts, _body) = request.into_parts();
    let listed = match door.admit(&parts).await {
        Ok(caller) => door.receipts(caller, parts.uri.query().unwrap_or_default()).await,
        Err(no) => Err(no),
    };
    listed.map_or_else(|no| no.answer(), |list| answer::document(&list))
}

impl Door {
    async fn receipts(&self, caller: Caller, query: &str) -> Result<Value, No> {
        let filter = filter(query)?;
        let (desk, keys) = (Arc::clone(&self.desk), self.executor.bot.publics());
        let turn = Arc::clone(&self.looking).acquire_owned().await;
        let look = move || {
            // A look goes on when its caller has gone, and has its turn until it ends.
            let _turn = turn;
            let mut rows = Vec::new();
            for key in keys {
                let room = LOOKED_MAX.saturating_sub(rows.len());
                rows.extend(desk.last_receipts(key.id(), &ReceiptFilter::default(), room)?);
            }
            let own = rows.iter().filter_map(Stored::receipt);
            let own = own.filter(|receipt| {
                let facts = receipt.facts();
                // In the store a filter without a hit would go through all there are.
                facts.principal == caller.id && filter.lets_through(facts)
            });
            Ok::<_, StoreError>(own.take(SHOWN_MAX).map(|receipt| one(&receipt)).collect())
        };
        let shown: Vec<Value> = match tokio::task::spawn_blocking(look).await {
            Ok(Ok(shown)) => shown,
            Ok(Err(error)) => {
                tracing::error!(%error, "the receipts cannot be read");
                return Err(No::Door(Refused::Store));
            }
            Err(_stopped) => return Err(No::Door(Refused::Store)),
        };
        Ok(json!({"ok": true, "receipts": shown}))
    }
}

fn one(receipt: &Receipt) -> Value {
    json!({
        "id": receipt.id(), "seq": receipt.seq(), "hash": receipt.hash(), "prev": receipt.prev(),
        "run": receipt.facts(),
    })
}

fn filter(query: &str) -> Result<ReceiptFilter, No> {
    let mut filter = ReceiptFilter::default();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let wrong = || No::Malformed("say `service`, `op` or `code`, each once and with a name".to_owned());
        let taken = match name.as_ref() {
            "service" => filter.service.replace(ServiceId::parse(&value).map_err(|_bad| wrong())?).is_some(),
            "op" => filter.op.replace(OpId::parse(&value).map_err(|_bad| wrong())?).is_some(),
            "code" => filter.code.replace(value.into_owned()).is_some(),
            _ => true,
        };
        if taken {
            return Err(wrong());
        }
    }
    Ok(filter)
}
