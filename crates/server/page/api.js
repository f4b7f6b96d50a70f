// Communication with the server: JSON requests, and streams of server-sent events.

import { recall } from "./store.js";

const API = "/api/v1";

/** An error response of the server, with its hint. */
export class ApiError extends Error {
  constructor(status, { error, hint } = {}) {
    super(error ?? `the server answered with status ${status}`);
    this.status = status;
    this.hint = hint;
  }
}

let known; // the response of /api/session, requested once

/** The session: version, limits, default model, and whether the server trusts this page with trainings. */
export function session() {
  known ??= get("/session");
  known.catch(() => (known = undefined));
  return known;
}

const TRIES = 10; // for responses that ask to try again, as while a large model is loading

async function answer(ask) {
  for (let tries = 1; ; tries++) {
    const response = await ask().catch((error) => {
      if (error.name === "AbortError") throw error;
      throw new ApiError(0, { error: "the server does not answer", hint: "is `afterstate serve` still running?" });
    });
    const body = await response.json().catch(() => ({}));
    if (response.ok) return body;
    const pause = response.status === 503 && tries < TRIES ? Number(response.headers.get("Retry-After")) : 0;
    if (!pause) throw new ApiError(response.status, body);
    await new Promise((resolve) => setTimeout(resolve, 1000 * pause));
  }
}

/** A path of the API with these parameters, without unset ones. */
export function address(path, params = {}) {
  const set = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return API + (set.length ? `${path}?${new URLSearchParams(set)}` : path);
}

// The token comes in the fragment of the printed address, which browsers do not send.
function headers(more = {}) {
  const token = recall("token");
  return token ? { ...more, "X-Afterstate-Token": token } : more;
}

const json = (body) => ({ method: "POST", headers: headers({ "Content-Type": "application/json" }), body: JSON.stringify(body) });

export function get(path, params, signal) {
  return answer(() => fetch(address(path, params), { headers: headers(), signal }));
}

export function post(path, body, signal) {
  return answer(() => fetch(API + path, { ...json(body), signal }));
}

export function remove(path) {
  return answer(() => fetch(API + path, { method: "DELETE", headers: headers() }));
}

/**
 * Listens to server-sent events. `handlers` maps event names to functions of their data and of a function that closes the
 * stream; `failed` receives the reason if there is none, or it ends. Returns a function that closes the stream. (An
 * `EventSource` would hide why it was refused.)
 */
export function listen(path, params, handlers, failed) {
  return stream(address(path, params), { headers: headers() }, handlers, failed);
}

/** The same for requests with a body. */
export function listenTo(path, body, handlers, failed) {
  const request = json(body);
  request.headers.Accept = "text/event-stream";
  return stream(API + path, request, handlers, failed);
}

function stream(url, request, handlers, failed = () => {}) {
  const controller = new AbortController();
  read(url, request, handlers, controller).catch((error) => controller.signal.aborted || failed(error));
  return () => controller.abort();
}

async function read(url, request, handlers, controller) {
  const unreachable = () => {
    throw new ApiError(0, { error: "the server does not answer", hint: "is `afterstate serve` still running?" });
  };
  const response = await fetch(url, { ...request, signal: controller.signal }).catch(unreachable);
  if (!response.ok) throw new ApiError(response.status, await response.json().catch(() => ({})));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = ""; ; ) {
    const { done, value } = await reader.read();
    if (done) throw new ApiError(0, { error: "the server closed the stream" });
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      if (!controller.signal.aborted) dispatch(block, handlers, () => controller.abort());
    }
  }
}

function dispatch(block, handlers, close) {
  const field = (name) => block.split("\n").filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).trimStart()).join("\n");
  const [name, data] = [field("event"), field("data")];
  if (name === "error") throw new ApiError(0, JSON.parse(data));
  handlers[name]?.(JSON.parse(data), close);
}

/** Advice for a board, in the format of `afterstate advise --json`. */
export const advise = (question, signal) => post("/advise", question, signal);
