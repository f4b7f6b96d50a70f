"use strict";
// Replays the recorded games: slides are computed here from the moves, spawns are in the record.
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// The cells of the lines along a move, beginning where tiles come to rest: up, right, down, left.
function lines(side, move) {
    const range = [...Array(side).keys()];
    return range.map((line) => range.map((place) => {
        const far = side - 1 - place;
        return [place * side + line, line * side + far, far * side + line, line * side + place][move];
    }));
}

// The effect of a move on a board: the new board, the reward, and the destination of each tile.
function slide(board, side, move) {
    const next = Array(side * side).fill(0), ways = [];
    let reward = 0;
    for (const line of lines(side, move)) {
        let rest = 0, open = -1;
        for (const cell of line) {
            if (!board[cell]) continue;
            if (open >= 0 && next[line[open]] === board[cell]) {
                next[line[open]] += 1;
                reward += 2 ** next[line[open]];
                ways.push([cell, line[open]]);
                open = -1;
            } else {
                next[line[rest]] = board[cell];
                ways.push([cell, line[rest]]);
                open = rest++;
            }
        }
    }
    return { next, reward, ways };
}

function replay({ side, start, steps }) {
    const frames = [{ board: start, score: 0 }];
    let board = start, score = 0, tile = 1;
    for (const letter of steps) {
        if (letter === "!") { tile = 2; continue; }
        const code = LETTERS.indexOf(letter), move = code % 4, cell = code >> 2;
        const { next, reward } = slide(board, side, move);
        next[cell] = tile;
        tile = 1;
        score += reward;
        board = next;
        frames.push({ board, score, move, cell });
    }
    return frames;
}

function show(article, game) {
    const { side } = game, frames = replay(game), last = frames.length - 1;
    const grid = article.querySelector(".grid"), state = article.querySelector(".state");
    grid.innerHTML = "<i></i>".repeat(side * side);
    const layer = grid.appendChild(document.createElement("div"));
    layer.className = "layer";
    const gap = 3 / 94 * 100, size = (100 - gap * (side - 1)) / side;
    layer.style.setProperty("--cell", `${size}%`);
    const place = (element, cell) => {
        const step = (100 + gap / size * 100);
        element.style.transform = `translate(${(cell % side) * step}%, ${Math.floor(cell / side) * step}%)`;
    };
    const make = (cell, exponent, fresh) => {
        const element = document.createElement("b");
        element.className = `tile t${2 ** exponent}${fresh ? " new" : ""}`;
        element.textContent = 2 ** exponent;
        place(element, cell);
        layer.append(element);
        return element;
    };
    let at = last, tiles = [], timer = 0;
    const rest = () => {
        layer.replaceChildren();
        tiles = frames[at].board.map((exponent, cell) => exponent ? make(cell, exponent) : null);
        state.textContent = `${frames[at].score.toLocaleString("en")} points, move ${at.toLocaleString("en")} of ${last.toLocaleString("en")}`;
        bar.value = at;
    };
    const controls = article.appendChild(document.createElement("div"));
    controls.className = "controls";
    controls.innerHTML = `<button aria-label="play">▶</button><input type="range" min="0" max="${last}" aria-label="move">
        <select aria-label="speed"><option value="400">2/s</option><option value="130" selected>8/s</option><option value="16">60/s</option><option value="0">600/s</option></select>`;
    const [button, bar, speed] = controls.children;
    const stop = () => { clearTimeout(timer); timer = 0; button.textContent = "▶"; };
    const step = () => {
        if (at >= last) return stop();
        if (speed.value === "0") {
            at = Math.min(last, at + 10);
            rest();
            timer = setTimeout(step, 16);
            return;
        }
        const before = frames[at], now = frames[++at];
        const { ways } = slide(before.board, side, now.move), moved = Array(side * side).fill(null);
        for (const [from, to] of ways) { place(tiles[from], to); if (!moved[to]) moved[to] = tiles[from]; }
        const delay = Number(speed.value);
        // Merged tiles and the new one appear after the slide; at high speed, at once.
        setTimeout(() => {
            if (frames[at] !== now) return;
            rest();
            if (tiles[now.cell]) tiles[now.cell].classList.add("new");
        }, delay > 100 ? 110 : 0);
        timer = setTimeout(step, delay);
    };
    button.onclick = () => {
        if (timer) return stop();
        if (at >= last) { at = 0; rest(); }
        button.textContent = "❚❚";
        timer = setTimeout(step, 0);
    };
    bar.oninput = () => { stop(); at = Number(bar.value); rest(); };
    rest();
}

const games = JSON.parse(document.getElementById("games").textContent);
for (const article of document.querySelectorAll(".board")) show(article, games[article.dataset.game]);
