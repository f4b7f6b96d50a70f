const session = await (await fetch("/api/session")).json();
document.querySelector("#status").textContent = `Version ${session.version}`;
