"use strict";
// The rules of the game, and what the page's data says about each position. Positions are texts such as "X...O....",
// cells count from 0.

// Unpack the data, which page_data in page.py describes.
async function gameOf(packed) {
  const bytes = Uint8Array.from(atob(packed), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const data = JSON.parse(await new Response(stream).text());
  const { rows, cols, line, misere } = data.rules;
  const cells = rows * cols, start = ".".repeat(cells);

  // ---- Rules --------------------------------------------------------------------------------------------
  const lines = [];
  for (let row = 0; row < rows; row++)
    for (let col = 0; col < cols; col++)
      for (const [down, right] of [[0, 1], [1, 0], [1, 1], [1, -1]]) {
        const lastRow = row + down * (line - 1), lastCol = col + right * (line - 1);
        if (lastRow >= rows || lastCol < 0 || lastCol >= cols) continue;
        lines.push(Array.from({ length: line }, (_, k) => (row + down * k) * cols + col + right * k));
      }
  const isFull = (text, [first, ...others]) => text[first] !== "." && others.every((cell) => text[cell] === text[first]);
  const winningLine = (text) => lines.find((candidate) => isFull(text, candidate));
  const stones = (text) => cells - text.split(".").length + 1;
  const mover = (text) => "XO"[stones(text) % 2];
  const opponent = (side) => (side === "X" ? "O" : "X");
  // The side that has won, or "".
  const victor = (text) => {
    if (!winningLine(text)) return "";
    return misere ? mover(text) : opponent(mover(text));
  };
  const after = (text, cell) => text.slice(0, cell) + mover(text) + text.slice(cell + 1);
  const free = (text) => [...text].flatMap((stone, cell) => (stone === "." ? [cell] : []));
  // The positions of a game, the first included.
  const trail = (moves) => moves.reduce((texts, cell) => [...texts, after(texts[texts.length - 1], cell)], [start]);

  // ---- Data ---------------------------------------------------------------------------------------------
  // The described positions, each with the place of its first move in chances, scores and values.
  const { chances, scores, values } = data, unknown = new Set(data.unknown), places = new Map();
  let moves = 0;
  for (const text of data.positions) {
    places.set(text, moves);
    moves += cells - stones(text);
  }
  const OPEN = -1, ENDED = -2;
  // The place of a described position, or ENDED; undefined for any other.
  function placeOf(text) {
    if (text.length !== cells || /[^.XO]/.test(text)) return undefined;
    return winningLine(text) || !text.includes(".") ? ENDED : places.get(text);
  }
  const ended = (text) => placeOf(text) === ENDED;
  // Likewise, or OPEN for a position that is not described, but all of whose successors are: the other side moves.
  function find(text) {
    const isKnown = (cell) => placeOf(after(text, cell)) !== undefined;
    return placeOf(text) ?? (free(text).every(isKnown) ? OPEN : undefined);
  }

  // The score of a position that is over or described, for its mover.
  function scoreOf(text) {
    const first = placeOf(text);
    if (first !== ENDED) return Math.max(...scores.slice(first, first + cells - stones(text)));
    if (!winningLine(text)) return 0;
    return misere ? 1 : -1;
  }
  // The moves of a position; score, result and plies to the end from the mover's side. Chances are null where the
  // agent is not the one to move.
  function movesOf(text) {
    const first = find(text), own = first !== OPEN;
    if (first === ENDED) return [];
    const moves = free(text).map((cell, nth) => {
      const score = own ? scores[first + nth] : -scoreOf(after(text, cell)) || 0; // 0 rather than -0
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

  // ---- Best responses -----------------------------------------------------------------------------------
  // The most that the other side can get against the agent, which plays ``side``: the probabilities of a win, and of
  // not losing (save).
  const MAX_KNOWN = 300000, known = new Map(), hopeless = new Set();
  function prospect(text, side) {
    const key = side + text, won = victor(text);
    if (known.has(key)) return known.get(key);
    if (known.size > MAX_KNOWN) throw new RangeError("too many positions can occur");
    const best = { win: 0, save: 0 };
    if (ended(text)) {
      best.win = won && won !== side ? 1 : 0;
      best.save = won === side ? 0 : 1;
    } else if (mover(text) === side) {
      const moves = movesOf(text).filter((move) => move.chance), all = moves.reduce((sum, { chance }) => sum + chance, 0);
      if (!all) best.win = best.save = 1; // it resigns
      for (const { cell, chance } of moves) {
        const next = prospect(after(text, cell), side);
        best.win += (chance / all) * next.win;
        best.save += (chance / all) * next.save;
      }
    } else {
      for (const cell of free(text)) {
        const next = prospect(after(text, cell), side);
        best.win = Math.max(best.win, next.win);
        best.save = Math.max(best.save, next.save);
      }
    }
    for (const share in best) if (best[share] > 1 - 1e-13) best[share] = 1; // certain but for rounding
    known.set(key, best);
    return best;
  }
  // What each move of the side to move can get against the agent; null if too many positions can occur.
  function beating(text) {
    if (hopeless.has(text)) return null;
    const whole = known.size === 0;
    try {
      return new Map(free(text).map((cell) => [cell, prospect(after(text, cell), opponent(mover(text)))]));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      known.clear(); // some moves later, all that is left may fit
      if (!whole) return beating(text); // other positions took the room
      hopeless.add(text);
      return null;
    }
  }

  // The likeliest way to a position if the agent plays both sides. A move that the agent never makes costs much, and
  // most of all one by the side to move there.
  function pathTo(text) {
    const side = mover(text), paths = new Map([[start, { cost: 0, moves: [] }]]);
    const search = (goal) => {
      if (paths.has(goal)) return paths.get(goal);
      const moved = opponent(mover(goal)), impossible = moved === side ? 1000 : 30;
      let best = null;
      for (let cell = 0; cell < cells; cell++) {
        if (goal[cell] !== moved) continue;
        const before = goal.slice(0, cell) + "." + goal.slice(cell + 1);
        const path = find(before) >= OPEN ? search(before) : null;
        if (!path) continue;
        const { chance } = movesOf(before).find((move) => move.cell === cell);
        const cost = path.cost + (chance > 0 ? -Math.log(chance) : impossible);
        if (!best || cost < best.cost) best = { cost, moves: [...path.moves, cell] };
      }
      paths.set(goal, best);
      return best;
    };
    return find(text) === undefined ? undefined : search(text)?.moves;
  }

  const mistakes = data.mistakes.map(([text, cell, reach]) => {
    return { text, cell, reach, move: movesOf(text).find((move) => move.cell === cell) };
  });
  const isUnknown = (text) => unknown.has(text);
  return {
    data, rows, cols, cells, start, winningLine, mover, opponent, victor, after, trail, find, ended, isUnknown, movesOf,
    beating, pathTo, mistakes,
  };
}
