"use strict";
// The game, and what is known of it. Positions are texts such as "X...O....", cells count from 0.

// What the page's data says; see page_data in page.py.
async function gameOf(packed) {
  const bytes = Uint8Array.from(atob(packed), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const data = JSON.parse(await new Response(stream).text());
  const { rows, cols, line } = data.rules;
  const cells = rows * cols, start = ".".repeat(cells);

  const lines = [];
  for (let row = 0; row < rows; row++)
    for (let col = 0; col < cols; col++)
      for (const [down, right] of [[0, 1], [1, 0], [1, 1], [1, -1]]) {
        const lastRow = row + down * (line - 1), lastCol = col + right * (line - 1);
        if (lastRow >= rows || lastCol < 0 || lastCol >= cols) continue;
        lines.push(Array.from({ length: line }, (_, k) => (row + down * k) * cols + col + right * k));
      }
  const winningLine = (text) => lines.find((all) => text[all[0]] !== "." && all.every((at) => text[at] === text[all[0]]));
  const stones = (text) => cells - text.split(".").length + 1;
  const mover = (text) => "XO"[stones(text) % 2];
  const after = (text, cell) => text.slice(0, cell) + mover(text) + text.slice(cell + 1);
  const free = (text) => [...text].flatMap((stone, cell) => (stone === "." ? [cell] : []));
  const trail = (moves) => moves.reduce((found, cell) => [...found, after(found[found.length - 1], cell)], [start]);

  // The positions that the data describes, as numbers in base 3, ascending for each number of stones; ``layers`` says
  // where these begin and end, and ``starts`` where the numbers of a position's free cells begin.
  const { chances, scores, values } = data, unknown = new Set(data.unknown);
  const OPEN = -1, ENDED = -2, codes = [], starts = [];
  let at = 0;
  const layers = data.boards.map((steps, ply) => {
    const first = codes.length;
    let code = 0;
    for (const step of steps) { code += step; codes.push(code); starts.push(at); at += cells - ply; }
    return [first, codes.length];
  });
  // The number of a position that is described, or ENDED.
  function look(text) {
    if (text.length !== cells || /[^.XO]/.test(text)) return undefined;
    if (winningLine(text) || stones(text) === cells) return ENDED;
    let [low, high] = layers[stones(text)], code = 0;
    for (const stone of text) code = code * 3 + ".OX".indexOf(stone);
    while (low < high) {
      const middle = (low + high) >> 1;
      if (codes[middle] < code) low = middle + 1; else high = middle;
    }
    return codes[low] === code && low < layers[stones(text)][1] ? low : undefined;
  }
  // Likewise, or OPEN where the other side moves, all of whose moves the page knows.
  const find = (text) => look(text) ?? (text.length === cells && free(text).every((cell) => look(after(text, cell)) !== undefined) ? OPEN : undefined);
  function textOf(number) {
    let text = "";
    for (let cell = 0, code = codes[number]; cell < cells; cell++) { text = ".OX"[code % 3] + text; code = Math.floor(code / 3); }
    return text;
  }

  const worthTo = (text) => { // to its mover, of a position that is over or described
    const number = look(text);
    if (number === ENDED) return winningLine(text) ? -1 : 0;
    return Math.max(...scores.slice(starts[number], starts[number] + cells - stones(text)));
  };
  // The moves of a position; score, result and plies to the end from the mover's side. Chances are null where the
  // agent is not the one to move.
  function movesOf(text) {
    const number = find(text);
    if (number === ENDED) return [];
    const own = number !== OPEN, first = starts[number];
    const moves = free(text).map((cell, nth) => {
      const there = find(after(text, cell)) !== undefined;
      const score = own ? scores[first + nth] : -worthTo(after(text, cell)) || 0;
      const end = score === 0 ? cells : cells + 1 - Math.abs(score);
      return {
        cell, there, score, result: Math.sign(score), plies: end - stones(text),
        chance: own ? chances[first + nth] : null, value: own && values.length ? values[first + nth] : null,
      };
    });
    const best = Math.max(...moves.map((move) => move.result));
    for (const move of moves) move.slip = move.chance > 0 && move.result < best;
    return moves;
  }

  // The most that the other side can get against the agent, who plays ``side``: how likely it can win and not lose.
  const MOST = 300000, known = { X: new Map(), O: new Map() };
  function prospect(text, side) {
    if (known[side].has(text)) return known[side].get(text);
    if (known.X.size + known.O.size > MOST) throw new RangeError("too much can happen");
    const number = look(text), won = winningLine(text);
    let found = { win: 0, save: 0 };
    if (number === ENDED) found = { win: won && text[won[0]] !== side ? 1 : 0, save: won && text[won[0]] === side ? 0 : 1 };
    else if (mover(text) === side) {
      const moves = free(text).map((cell, nth) => [cell, chances[starts[number] + nth]]).filter(([, chance]) => chance);
      const all = moves.reduce((sum, [, chance]) => sum + chance, 0);
      if (!all) found = { win: 1, save: 1 };
      for (const [cell, chance] of moves) {
        const next = prospect(after(text, cell), side);
        found.win += (chance / all) * next.win;
        found.save += (chance / all) * next.save;
      }
    } else for (const cell of free(text)) {
      const next = prospect(after(text, cell), side);
      found = { win: Math.max(found.win, next.win), save: Math.max(found.save, next.save) };
    }
    for (const key in found) if (found[key] > 1 - 1e-13) found[key] = 1; // certain but for rounding
    known[side].set(text, found);
    return found;
  }
  // What each move of the side to move can get against the agent; null if too much can still happen.
  function beating(text) {
    try {
      return new Map(free(text).map((cell) => [cell, prospect(after(text, cell), "XO"[(stones(text) + 1) % 2])]));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      for (const side in known) known[side].clear(); // some moves later there is room for all that is left
      return null;
    }
  }

  // The moves to a position on which its mover strays least from the agent's own play.
  function pathTo(text) {
    const side = mover(text), ways = new Map([[start, [0, []]]]);
    const search = (goal) => {
      if (ways.has(goal)) return ways.get(goal);
      const moved = mover(goal) === "X" ? "O" : "X";
      let best = null;
      for (let cell = 0; cell < cells; cell++) {
        if (goal[cell] !== moved) continue;
        const before = goal.slice(0, cell) + "." + goal.slice(cell + 1), number = find(before);
        const way = number === undefined || number === ENDED ? null : search(before);
        if (!way) continue;
        const chance = movesOf(before).find((move) => move.cell === cell).chance;
        const cost = way[0] + (chance > 0 ? -Math.log(chance) : moved === side ? 1000 : 30);
        if (!best || cost < best[0]) best = [cost, [...way[1], cell]];
      }
      ways.set(goal, best);
      return best;
    };
    return find(text) === undefined ? undefined : search(text)?.[1];
  }

  const mistakes = data.mistakes.map(([number, cell, reach]) => {
    const text = textOf(number);
    return { text, cell, reach, move: movesOf(text).find((one) => one.cell === cell) };
  });
  const ended = (text) => find(text) === ENDED;
  const strange = (text) => unknown.has(find(text));
  return {
    data, rows, cols, cells, start, winningLine, mover, after, trail, find, ended, strange, movesOf, beating, pathTo,
    mistakes,
  };
}
