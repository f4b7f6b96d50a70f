// Talking to the server: JSON questions, and streams of server-sent events.

/** What the server refused, with what it says would be right. */
export class ApiError extends Error {
  constructor(status, { error, hint } = {}) {
    super(error ?? `the server answered with status ${status}`);
    this.status = status;
    this.hint = hint;
  }
}

let known; // the answer of /api/session, asked for once

/** The session: version, token, limits, default model. */
export function session() {
  known ??= get("/api/session");
  known.catch(() => (known = undefined));
  return known;
}

async function answer(promise) {
  const response = await promise.catch((error) => {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, { error: "the server does not answer", hint: "is `afterstate serve` still running?" });
  });
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new ApiError(response.status, body);
  return body;
}

/** A path with those parameters that are set. */
export function address(path, params = {}) {
  const set = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return set.length ? `${path}?${new URLSearchParams(set)}` : path;
}

export function get(path, params, signal) {
  return answer(fetch(address(path, params), { signal }));
}

export async function post(path, body, signal) {
  const headers = { "Content-Type": "application/json" };
  const { token } = await session();
  if (token) headers["X-Afterstate-Token"] = token;
  return answer(fetch(path, { method: "POST", headers, body: JSON.stringify(body), signal }));
}

/**
 * Listens to server-sent events. `handlers` maps event names to functions of their data and of what closes the
 * stream; `failed` hears why there is none, or no more. Returns what closes the stream. (An `EventSource` would keep
 * from us why it was refused.)
 */
export function listen(path, params, handlers, failed = () => {}) {
  const controller = new AbortController();
  const close = () => controller.abort();
  read(address(path, params), handlers, controller).catch((error) => controller.signal.aborted || failed(error));
  return close;
}

async function read(url, handlers, controller) {
  const response = await fetch(url, { signal: controller.signal });
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

/** Advice for a board, as `afterstate advise --json` gives it. */
export const advise = (question, signal) => post("/api/advise", question, signal);
