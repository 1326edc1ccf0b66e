//! What an answer outside 2xx comes to: a code, the service's own words where the manifest names them, and when to come
//! back.

use http::StatusCode;
use pinhole_manifest::pick::SingularPath;

use super::answer::{Answer, Raw, found};
use super::{Trace, retry};
use crate::net::Incoming;
use crate::outcome::{Code, Refusal};
use crate::project::Tree;
use crate::project::prune::Plan;

impl Answer<'_, Raw> {
    pub(super) async fn refused_by_status(&mut self, trace: &mut Trace) -> Refusal {
        let path = self.manifest.error_message().map(SingularPath::steps);
        // An error page that does not come whole, or is not JSON, has no text that is passed on.
        let document = match path {
            Some(path) => self.read(&Plan::new(None, [path]), trace).await.ok().flatten(),
            None => None,
        };
        let message = path.zip(document.as_ref()).and_then(|(path, document)| found(document, path));
        let code = self.code_of_status(message);
        let Incoming { status, headers, .. } = &self.stage.incoming;
        let retry_after = retry::told(headers, self.now);
        let again = retry_after.map(|seconds| format!("; come back in {seconds} s")).unwrap_or_default();
        let sentence = format!("{} (HTTP {}){again}", code.sentence(), status.as_u16());
        Refusal { retry_after, ..self.failure(code, message).saying(sentence) }
    }

    fn code_of_status(&self, message: Option<&Tree>) -> Code {
        let Incoming { status, headers, .. } = &self.stage.incoming;
        // 403 with a spent budget is how some services say 429. GitHub does, and of its secondary limits it may say so in
        // the text alone, which is all that its documentation promises.
        let spent = headers.get("x-ratelimit-remaining").is_some_and(|left| left == "0");
        let said = matches!(message, Some(Tree::String(text)) if text.contains("secondary rate limit"));
        let limited = spent || said || headers.contains_key(http::header::RETRY_AFTER);
        match *status {
            StatusCode::TOO_MANY_REQUESTS => Code::UpstreamRateLimited,
            StatusCode::FORBIDDEN if limited => Code::UpstreamRateLimited,
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => Code::UpstreamInvalid,
            StatusCode::UNAUTHORIZED => Code::UpstreamUnauthorized,
            StatusCode::FORBIDDEN => Code::UpstreamForbidden,
            StatusCode::NOT_FOUND | StatusCode::GONE => Code::UpstreamNotFound,
            StatusCode::CONFLICT | StatusCode::PRECONDITION_FAILED => Code::UpstreamConflict,
            _ => Code::UpstreamError,
        }
    }
}
