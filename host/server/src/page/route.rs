//! The places of the page, and who may see which. Two pages, two answers, one stylesheet; nothing else is here.
//!
//! ```text
//! GET  /open/CODE            the one-time address: becomes the cookie, then `/`
//! GET  /                     what waits
//! GET  /question/ID          one question, whole
//! POST /question/ID/approve  yes, with the passphrase
//! POST /question/ID/deny     no
//! GET  /style.css
//! ```
//! INVARIANT: without the cookie every question is the same page, whether it exists or not.

use std::sync::Arc;

use http::request::Parts;
use http::{Method, Request, StatusCode};
use hyper::body::{Body, Bytes};
use pinhole_runtime::store::QuestionId;

use super::Room;
use super::answer::{self, Answer};
use super::door::Entered;
use super::form::{Form, FormError};
use super::guard::{self, Barred, From};
use super::html;
use super::reply::{self, Reply};
use super::shown::Shown;

enum Place<'a> {
    List,
    Open(&'a str),
    Question(QuestionId),
    Answer(QuestionId, Answer),
    Style,
}

impl<'a> Place<'a> {
    fn of(path: &'a str) -> Option<Self> {
        Some(match path {
            "/" => Self::List,
            "/style.css" => Self::Style,
            _ => match path.strip_prefix("/open/") {
                Some(code) => Self::Open(code),
                None => Self::question(path.strip_prefix("/question/")?)?,
            },
        })
    }

    fn question(rest: &str) -> Option<Self> {
        let (id, answer) = match rest.split_once('/') {
            None => (rest, None),
            Some((id, "approve")) => (id, Some(Answer::Yes)),
            Some((id, "deny")) => (id, Some(Answer::No)),
            Some(_) => return None,
        };
        let id = id.parse().ok()?;
        Some(answer.map_or(Self::Question(id), |answer| Self::Answer(id, answer)))
    }
}

/// Answers one request.
pub(super) async fn answer<B>(room: &Arc<Room>, request: Request<B>) -> Reply
where
    B: Body<Data = Bytes> + Unpin,
{
    let (parts, body) = request.into_parts();
    let from = match guard::check(&parts, room.port) {
        Ok(from) => from,
        Err(Barred::Method) => return reply::takes("GET, POST"),
        Err(barred) => return reply::text(StatusCode::FORBIDDEN, &barred.to_string()),
    };
    let Some(place) = Place::of(parts.uri.path()) else {
        return reply::text(StatusCode::NOT_FOUND, "there is no such page here");
    };
    if let Place::Style = place {
        return match (&parts.method, from) {
            (&Method::GET, From::Here) => reply::css(html::STYLE),
            (&Method::GET, From::Elsewhere) => {
                reply::text(StatusCode::FORBIDDEN, &Barred::Elsewhere.to_string())
            }
            _ => reply::takes("GET"),
        };
    }
    if let Err(barred) = guard::whole_page(&parts.headers) {
        return reply::text(StatusCode::FORBIDDEN, &barred.to_string());
    }
    match (place, parts.method == Method::POST) {
        (Place::Answer(id, answer), true) => answered(room, id, answer, &parts, body).await,
        (Place::Answer(..), false) => reply::takes("POST"),
        (_, true) => reply::takes("GET"),
        (Place::Open(code), false) => open(room, code),
        (place, false) => show(room, place, &parts, from).await,
    }
}

fn open(room: &Room, code: &str) -> Reply {
    match room.door.enter(code) {
        Some(cookie) => {
            room.used();
            reply::enter("/", cookie)
        }
        None => reply::html(StatusCode::FORBIDDEN, html::spent()),
    }
}

async fn show(room: &Arc<Room>, place: Place<'_>, parts: &Parts, from: From) -> Reply {
    // A page elsewhere that leads here makes nothing show by it, even where a browser sends the cookie along.
    let entered = if from == From::Here { room.door.entered(&parts.headers) } else { None };
    let Some(entered) = entered else {
        let on = match place {
            Place::Question(id) => format!("/question/{id}"),
            _ => "/".to_owned(),
        };
        return reply::html(StatusCode::FORBIDDEN, html::landing(&on));
    };
    room.used();
    let id = match place {
        Place::Question(id) => Some(id),
        _ => None,
    };
    let token = entered.token().copy();
    let shown = room.apart(move |room| {
        let side = &room.side;
        let ready = side.keyholder.ready();
        Ok(match id {
            None => Some(html::list(&Shown::waiting(side)?, ready.as_ref().err())),
            Some(id) => {
                let shown = Shown::find(id, side)?;
                shown.map(|shown| html::question(&shown, &token, None, ready.as_ref().err()))
            }
        })
    });
    match shown.await {
        Ok(Some(page)) => reply::html(StatusCode::OK, page),
        Ok(None) => reply::html(StatusCode::NOT_FOUND, html::absent()),
        Err(error) => reply::html(StatusCode::INTERNAL_SERVER_ERROR, html::fault(&error)),
    }
}

async fn answered<B>(room: &Arc<Room>, id: QuestionId, answer: Answer, parts: &Parts, body: B) -> Reply
where
    B: Body<Data = Bytes> + Unpin,
{
    let Some(entered) = room.door.entered(&parts.headers) else {
        return reply::html(StatusCode::FORBIDDEN, html::landing(&format!("/question/{id}")));
    };
    let form = match Form::read(&parts.headers, body, room.patience.request).await {
        Ok(form) => form,
        Err(error) => return reply::text(status(error), &error.to_string()),
    };
    if !is_own(entered, &form) {
        return reply::text(StatusCode::FORBIDDEN, &Barred::Elsewhere.to_string());
    }
    room.used();
    answer::give(Arc::clone(room), id, answer, form).await
}

fn is_own(entered: Entered<'_>, form: &Form) -> bool {
    entered.token().is(&form.token)
}

fn status(error: FormError) -> StatusCode {
    match error {
        FormError::Type => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        FormError::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        FormError::TooSlow => StatusCode::REQUEST_TIMEOUT,
        FormError::Broken => StatusCode::BAD_REQUEST,
    }
}
