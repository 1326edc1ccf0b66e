// For writing Pinhole op modules: what an op throws, and JSON that keeps its digits. An op gets everything else from the
// `host` that it is given. Imports nothing that only the sandbox has, so that Node loads it (see `module.js`).

export { OpError, RequestError, ServiceError } from "./errors.js";
export { Host } from "./host.js";
export { fromJson, toJson } from "./json.js";
export { Response } from "./response.js";
