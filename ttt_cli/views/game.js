"use strict";
// The game, and what is known of it. Positions are texts such as "X...O....", cells count from 0.

// What the page's data says; see page_data in page.py.
async function gameOf(packed) {
  const bytes = Uint8Array.from(atob(packed), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const data = JSON.parse(await new Response(stream).text());
  const { rows, cols, line, misere } = data.rules;
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
  const opponent = (side) => (side === "X" ? "O" : "X");
  const victor = (text) => (!winningLine(text) ? "" : misere ? mover(text) : opponent(mover(text)));
  const after = (text, cell) => text.slice(0, cell) + mover(text) + text.slice(cell + 1);
  const free = (text) => [...text].flatMap((stone, cell) => (stone === "." ? [cell] : []));
  const trail = (moves) => moves.reduce((found, cell) => [...found, after(found[found.length - 1], cell)], [start]);

  // The positions that the data describes: their codes, the numbers that they have by these, and where those of their
  // moves begin in ``chances`` and so on.
  const { chances, scores, values } = data, unknown = new Set(data.unknown);
  const OPEN = -1, ENDED = -2, codes = [], numbers = new Map(), starts = [];
  let moves = 0;
  data.boards.forEach((steps, ply) => {
    let code = 0;
    for (const step of steps) {
      code += step;
      numbers.set(code, codes.length);
      codes.push(code);
      starts.push(moves);
      moves += cells - ply;
    }
  });
  const textOf = (number) => codes[number].toString(3).padStart(cells, "0").replace(/./g, (digit) => ".OX"[digit]);
  // The number of a position that is described, or ENDED.
  function look(text) {
    if (text.length !== cells || /[^.XO]/.test(text)) return undefined;
    if (winningLine(text) || !text.includes(".")) return ENDED;
    return numbers.get([...text].reduce((code, stone) => code * 3 + ".OX".indexOf(stone), 0));
  }
  const ended = (text) => look(text) === ENDED;
  // Likewise, or OPEN where the other side moves, all of whose moves the page knows.
  const find = (text) => look(text) ?? (free(text).every((cell) => look(after(text, cell)) !== undefined) ? OPEN : undefined);

  const worthTo = (text) => { // to its mover, of a position that is over or described
    const number = look(text);
    if (number === ENDED) return !winningLine(text) ? 0 : misere ? 1 : -1;
    return Math.max(...scores.slice(starts[number], starts[number] + cells - stones(text)));
  };
  // The moves of a position; score, result and plies to the end from the mover's side. Chances are null where the
  // agent is not the one to move.
  function movesOf(text) {
    const number = find(text);
    if (number === ENDED) return [];
    const own = number !== OPEN, first = starts[number];
    const moves = free(text).map((cell, nth) => {
      const score = own ? scores[first + nth] : -worthTo(after(text, cell)) || 0;
      const end = score === 0 ? cells : cells + 1 - Math.abs(score);
      return {
        cell, score, result: Math.sign(score), plies: end - stones(text),
        chance: own ? chances[first + nth] : null, value: own && values.length ? values[first + nth] : null,
      };
    });
    const best = Math.max(...moves.map((move) => move.result));
    for (const move of moves) move.slip = move.chance > 0 && move.result < best;
    return moves;
  }

  // The most that the other side can get against the agent, who plays ``side``: how likely it can win and not lose.
  const MOST = 300000, known = new Map();
  function prospect(text, side) {
    const key = side + text, won = victor(text);
    if (known.has(key)) return known.get(key);
    if (known.size > MOST) throw new RangeError("too much can happen");
    let found = { win: 0, save: 0 };
    if (ended(text)) found = { win: won && won !== side ? 1 : 0, save: won === side ? 0 : 1 };
    else if (mover(text) === side) {
      const moves = movesOf(text).filter((move) => move.chance), all = moves.reduce((sum, { chance }) => sum + chance, 0);
      if (!all) found = { win: 1, save: 1 };
      for (const { cell, chance } of moves) {
        const next = prospect(after(text, cell), side);
        found.win += (chance / all) * next.win;
        found.save += (chance / all) * next.save;
      }
    } else for (const cell of free(text)) {
      const next = prospect(after(text, cell), side);
      found = { win: Math.max(found.win, next.win), save: Math.max(found.save, next.save) };
    }
    for (const share in found) if (found[share] > 1 - 1e-13) found[share] = 1; // certain but for rounding
    known.set(key, found);
    return found;
  }
  // What each move of the side to move can get against the agent; null if too much can still happen.
  function beating(text) {
    try {
      return new Map(free(text).map((cell) => [cell, prospect(after(text, cell), opponent(mover(text)))]));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      known.clear(); // some moves later there is room for all that is left
      return null;
    }
  }

  // The moves to a position on which its mover strays least from the agent's own play.
  function pathTo(text) {
    const side = mover(text), ways = new Map([[start, [0, []]]]);
    const search = (goal) => {
      if (ways.has(goal)) return ways.get(goal);
      const moved = opponent(mover(goal));
      let best = null;
      for (let cell = 0; cell < cells; cell++) {
        if (goal[cell] !== moved) continue;
        const before = goal.slice(0, cell) + "." + goal.slice(cell + 1);
        const way = find(before) >= OPEN ? search(before) : null;
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
  const strange = (text) => unknown.has(find(text));
  return {
    data, rows, cols, cells, start, winningLine, mover, opponent, victor, after, trail, find, ended, strange, movesOf,
    beating, pathTo, mistakes,
  };
}
