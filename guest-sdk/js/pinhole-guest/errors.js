// Why an op has no result. Each kind is an `OpError`, whose message is what the caller is told, clipped and marked as the
// module's: say what is wrong and what to do, and put nothing of a record into it.

/** Why there is no result, in words for the person or the bot. */
export class OpError extends Error {
  name = "OpError";
}

/** A request has no answer: it timed out, was redirected, or the like. */
export class RequestError extends OpError {
  name = "RequestError";

  constructor(code, message) {
    super(`${message} (${code})`);
    /** The host's name for it, such as `timed_out`. */
    this.code = code;
  }
}

/** The service answered, and not with what was asked for: another status than 2xx, or `errors` of GraphQL. */
export class ServiceError extends OpError {
  name = "ServiceError";

  constructor(message, response) {
    super(message);
    /** The answer. */
    this.response = response;
  }
}
