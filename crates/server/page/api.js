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
export const session = () => (known ??= get("/api/session"));

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
 * Listens to server-sent events. `handlers` maps event names to functions of their data; `failed` hears of a
 * connection that could not be made or broke. Returns a function that closes the stream.
 */
export function listen(path, params, handlers, failed = () => {}) {
  const source = new EventSource(address(path, params));
  for (const [name, handle] of Object.entries(handlers)) {
    source.addEventListener(name, (event) => handle(JSON.parse(event.data), () => source.close()));
  }
  // A stream cannot be refused by a status that a page would see, so the server says it in an event.
  source.addEventListener("refused", (event) => {
    source.close();
    failed(new ApiError(0, JSON.parse(event.data)));
  });
  source.onerror = () => {
    source.close();
    failed(new ApiError(0, { error: "the stream from the server ended early" }));
  };
  return () => source.close();
}

/** Advice for a board, as `afterstate advise --json` gives it. */
export const advise = (question, signal) => post("/api/advise", question, signal);
