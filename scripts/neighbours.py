#!/usr/bin/env python3
"""An honest user beside hostile neighbours: latencies of 3-ply advice.

    scripts/neighbours.py HOST:PORT [SECONDS]

The honest user asks from 127.0.0.1, one question after another, 20 a second. Beside them, all the time:
* a hostile site: 40 pages that ask /move for as much as other sites may have, and now and then for more;
* a hostile address, 127.0.0.2: 64 clients that ask for 8 plies, and as many streams and connections as they get;
* a slow client, 127.0.0.3: 200 connections that send a byte a second.
"""

import asyncio
import multiprocessing
import random
import sys
import time

HOST, PORT = sys.argv[1].rsplit(":", 1)
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 30.0
counts = {}


def board():
    return "".join("0" if random.random() < 0.35 else str(random.randint(1, 9)) for _ in range(16))


async def ask(path, source, headers=""):
    """The status of an answer, or why there is none."""
    try:
        reader, writer = await asyncio.open_connection(HOST, int(PORT), local_addr=(source, 0))
    except OSError:
        return "no connection"
    try:
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}Connection: close\r\n\r\n".encode())
        await writer.drain()
        head = await reader.readline()
        while await reader.read(65536):
            pass
        return head.split()[1].decode() if head else "closed"
    except (OSError, IndexError):
        return "closed"
    finally:
        writer.close()


async def repeatedly(name, question):
    while True:
        status = await question()
        counts.setdefault(name, {}).setdefault(status, 0)
        counts[name][status] += 1
        if status != "200":
            await asyncio.sleep(0.05)


async def site():
    search = random.choice(["2ply", "50ms", "50ms", "10s"])
    return await ask(f"/move?board={board()}&search={search}", "127.0.0.1", "Sec-Fetch-Site: cross-site\r\n")


async def address():
    return await ask(f"/api/v1/advise?board={board()}&search=8ply", "127.0.0.2")


async def stream():
    return await ask(f"/api/v1/watch?game={random.randint(0, 999)}&search=1ply&delay=0", "127.0.0.2")


async def slow():
    while True:
        try:
            _, writer = await asyncio.open_connection(HOST, int(PORT), local_addr=("127.0.0.3", 0))
            for byte in b"GET /api/v1/session HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 1000:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(1)
        except OSError:
            await asyncio.sleep(1)


async def honest(latencies):
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        start = time.monotonic()
        status = await ask(f"/api/v1/advise?board={board()}&search=3ply", "127.0.0.1")
        latencies.append((time.monotonic() - start, status))
        await asyncio.sleep(max(0, 0.05 - (time.monotonic() - start)))


async def hostile():
    """Everybody else, until they have had enough; then what they got."""
    everybody = [repeatedly("hostile site", site) for _ in range(40)]
    everybody += [repeatedly("hostile address", address) for _ in range(64)]
    everybody += [repeatedly("its streams", stream) for _ in range(40)]
    everybody += [slow() for _ in range(200)]
    tasks = [asyncio.create_task(one) for one in everybody]
    await asyncio.sleep(SECONDS + 4)
    for task in tasks:
        task.cancel()
    for name, statuses in counts.items():
        print(f"{name}: {statuses}")


def report(name, latencies):
    times = sorted(1000 * seconds for seconds, _ in latencies)
    errors = sum(status != "200" for _, status in latencies)
    at = lambda share: times[min(len(times) - 1, int(share * len(times)))]
    print(f"honest user {name}: {len(times)} answers, p50 {at(0.5):.0f} ms, p99 {at(0.99):.0f} ms, largest {times[-1]:.0f} ms, errors {errors}", flush=True)


def main():
    alone, beside = [], []
    asyncio.run(honest(alone))
    report("alone", alone)
    # A process of their own: the honest user's clock must not wait for theirs.
    others = multiprocessing.Process(target=lambda: asyncio.run(hostile()))
    others.start()
    time.sleep(2)
    asyncio.run(honest(beside))
    report("beside them", beside)
    others.join()


main()
