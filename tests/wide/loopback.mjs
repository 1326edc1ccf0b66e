// Keeps a server of other people's making on this machine: whatever it asks for, it listens on a free port of loopback
// alone, and it dials nothing but loopback. Import it before the server; `listening` are the sockets so far.
import net from "node:net";

export const listening = [];

const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (...asked) {
  listening.push(this);
  const done = asked.findLast((one) => typeof one === "function");
  return listen.call(this, { port: 0, host: "127.0.0.1" }, done);
};

const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...asked) {
  const [first] = asked.flat();
  const host = typeof first === "object" ? first.host : asked.flat()[1];
  const here = host === undefined || ["127.0.0.1", "localhost", "::1"].includes(host);
  if (!here || (typeof first === "object" && first.path !== undefined && first.port === undefined)) {
    throw new Error(`this dials loopback alone, not ${host ?? first.path}`);
  }
  return connect.apply(this, asked);
};

/** Says on stdout where the servers listen, in the order in which they were started, and ends when stdin does. */
export async function say(count) {
  const ready = (server) =>
    server.listening ? undefined : new Promise((resolve, reject) => server.once("listening", resolve).once("error", reject));
  await Promise.all(listening.map(ready));
  if (listening.length !== count) throw new Error(`${listening.length} servers instead of ${count}`);
  const elsewhere = listening.filter((server) => server.address().address !== "127.0.0.1");
  if (elsewhere.length > 0) throw new Error("a server listens beyond loopback");
  console.log(JSON.stringify({ ports: listening.map((server) => server.address().port) }));
  process.stdin.resume().once("end", () => process.exit(0));
}
