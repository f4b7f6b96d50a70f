// Caches the files of the page, so that it starts without the server: games can be played, and views that need a model
// report that the server does not answer. If the server is reachable, its files are always used.

const SHELL = "shell";

self.addEventListener("install", (event) => event.waitUntil(fill().then(() => self.skipWaiting())));
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

/** The page and everything that it loads: modules and sheets refer to each other. */
async function fill() {
  const cache = await caches.open(SHELL);
  const seen = new Set();
  const take = async (path) => {
    if (seen.has(path)) return;
    seen.add(path);
    const response = await fetch(path, { cache: "no-cache" });
    if (!response.ok) return;
    await cache.put(path, response.clone());
    const names = [...(await response.text()).matchAll(/(?:from |src=|href=)"\.?\/([\w-]+\.(?:js|css|svg|webmanifest))"/g)];
    await Promise.all(names.map(([, name]) => take(`/${name}`)));
  };
  await take("/");
}

self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== "GET" || url.origin !== location.origin || url.pathname.startsWith("/api/") || url.pathname === "/move") return;
  event.respondWith(fresh(event.request, url.pathname));
});

async function fresh(request, path) {
  const cache = await caches.open(SHELL);
  try {
    const response = await fetch(request);
    if (response.ok) await cache.put(path, response.clone());
    return response;
  } catch (error) {
    const kept = await cache.match(path);
    if (kept) return kept;
    throw error;
  }
}
