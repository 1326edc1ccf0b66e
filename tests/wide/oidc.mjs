// Runs npm `oidc-provider`, a real authorization server: node oidc.mjs FOLDER HOST CERT KEY, where FOLDER has it in its
// `node_modules`, HOST is the name that it goes by, and CERT and KEY are PEM files of a certificate for that name. Pairs
// rotate, a refresh token that is shown twice ends its family, access tokens live for five seconds; whoever signs in is
// taken at their word. Says where it listens as `{"ports": [PORT]}`.
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { pathToFileURL } from "node:url";
import { say } from "./loopback.mjs";

// Its words at the start would stand where the ports are waited for.
console.info = console.warn = console.error;
const [folder, host, cert, key] = process.argv.slice(2);
const { Provider } = await import(pathToFileURL(`${folder}/node_modules/oidc-provider/lib/index.js`));
const device = "urn:ietf:params:oauth:grant-type:device_code";
const provider = new Provider(`https://${host}`, {
  clients: [
    {
      client_id: "public-client",
      application_type: "native",
      token_endpoint_auth_method: "none",
      redirect_uris: ["http://127.0.0.1/callback"],
      grant_types: ["authorization_code", "refresh_token", device],
      response_types: ["code"],
    },
    {
      client_id: "basic-client",
      client_secret: "a-secret/with+signs:that%must&be=encoded",
      application_type: "native",
      token_endpoint_auth_method: "client_secret_basic",
      redirect_uris: ["http://127.0.0.1/callback"],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
    },
  ],
  cookies: { keys: ["a key of the tests"] },
  features: { deviceFlow: { enabled: true }, revocation: { enabled: true } },
  findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  issueRefreshToken: () => true,
  rotateRefreshToken: true,
  ttl: { AccessToken: 5, DeviceCode: 60, Grant: 600, Interaction: 600, RefreshToken: 600, Session: 600 },
});
const options = { cert: readFileSync(cert), key: readFileSync(key) };
createServer(options, provider.callback()).listen(0, "127.0.0.1");
await say(1);
