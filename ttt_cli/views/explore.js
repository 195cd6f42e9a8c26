"use strict";
// Positions are texts such as "X...O....", cells count from 0. All text from the data enters the page as text.
(async () => {
  // The data of a large board is compressed, and written in base 64.
  async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  }
  const held = document.getElementById("data");
  const data = JSON.parse(held.dataset.packed ? await unpacked(held.textContent) : held.textContent);
  const { rows, cols, line } = data.rules;
  const cells = rows * cols;
  const byId = (id) => document.getElementById(id);
  const make = (tag, attributes = {}, ...children) => {
    const svg = ["svg", "path", "circle", "rect"].includes(tag);
    const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };

  // ---- The game -----------------------------------------------------------------------------------------
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

  // ---- What is known of each position: numbers stand in the order of positions and free cells --------------
  const textOf = (code) => {
    let text = "";
    for (let cell = 0; cell < cells; cell++) { text = ".OX"[code % 3] + text; code = Math.floor(code / 3); }
    return text;
  };
  const unknown = new Set(data.unknown);
  // Where a position stands (ended, and its index among those of the data), the position at an index, and what is
  // known of its moves, in the order of its free cells.
  const positions = data.partial ? ownGames() : wholeGame();

  function wholeGame() {
    const places = new Map(), texts = [];
    let at = 0;
    data.codes.forEach((code, index) => {
      const text = textOf(code);
      const ended = Boolean(winningLine(text)) || !text.includes(".");
      texts.push(text);
      places.set(text, { index, at, ended });
      if (!ended) at += cells - stones(text);
    });
    return {
      get: (text) => places.get(text),
      at: (index) => texts[index],
      known: (text, { at }) => Array.from({ length: cells - stones(text) }, (_, nth) => ({
        score: data.scores[at + nth], chance: data.chances[at + nth] / 10000, value: data.values ? data.values[at + nth] : null,
      })),
    };
  }

  // Of a large board the data knows the positions in which the agent is to move. All that can happen to it is gone
  // through anew here, ply by ply: it plays what it plays, the other side anything.
  function ownGames() {
    const { plays, scores, mixed } = data, count = plays.length;
    const powers = Array.from({ length: cells }, (_, cell) => 3 ** (cells - 1 - cell));
    const starts = new Int32Array(count), mixtures = new Int32Array(count), ownCodes = new Float64Array(count);
    const chosen = (number) => plays[number] === "~" ? mixed[mixtures[number]]
      : plays[number] === "!" ? [] : [[plays.charCodeAt(number) - 48, 10000]];
    const layers = [], stonesAt = new Uint8Array(cells);
    let own = 0, at = 0, mixtureCount = 0;
    // A position and, in the last two bits, whether the agent may be X (1) or O (2) in it.
    for (let packed = Float64Array.of(3); packed.length; ) {
      const ply = layers.length, stone = ply % 2 ? 1 : 2, role = ply % 2 ? 2 : 1;
      const codes = new Float64Array(packed.length), numbers = new Int32Array(packed.length);
      let next = new Float64Array(1024), size = 0;
      const reach = (code, roles) => {
        if (size === next.length) { const more = new Float64Array(2 * size); more.set(next); next = more; }
        next[size++] = code * 4 + roles;
      };
      packed.forEach((both, index) => {
        const roles = both % 4, code = (both - roles) / 4;
        for (let cell = cells - 1, left = code; cell >= 0; cell--) { stonesAt[cell] = left % 3; left = Math.floor(left / 3); }
        codes[index] = code;
        if (ply === cells || lines.some((all) => all.every((cell) => stonesAt[cell] === 3 - stone))) { numbers[index] = -2; return; }
        numbers[index] = -1;
        if (roles & role) {
          numbers[index] = own;
          starts[own] = at;
          ownCodes[own] = code;
          mixtures[own] = mixtureCount;
          at += cells - ply;
          if (plays[own] === "~") mixtureCount++;
          for (const [cell] of chosen(own)) reach(code + stone * powers[cell], role);
          own++;
        }
        if (roles & ~role) for (let cell = 0; cell < cells; cell++) if (!stonesAt[cell]) reach(code + stone * powers[cell], 3 - role);
      });
      layers.push({ codes, numbers });
      const sorted = next.subarray(0, size).sort();
      let kept = 0;
      for (const both of sorted) {
        const same = kept && Math.floor(sorted[kept - 1] / 4) === Math.floor(both / 4);
        if (same) sorted[kept - 1] = Math.floor(both / 4) * 4 + ((sorted[kept - 1] % 4) | (both % 4));
        else sorted[kept++] = both;
      }
      packed = sorted.slice(0, kept);
    }
    const get = (text) => {
      if (text.length !== cells || /[^.XO]/.test(text)) return undefined;
      const layer = layers[stones(text)];
      if (!layer) return undefined;
      let code = 0, low = 0, high = layer.codes.length;
      for (const stone of text) code = code * 3 + ".OX".indexOf(stone);
      while (low < high) {
        const middle = (low + high) >> 1;
        if (layer.codes[middle] < code) low = middle + 1; else high = middle;
      }
      if (layer.codes[low] !== code) return undefined;
      return { index: layer.numbers[low], ended: layer.numbers[low] === -2 };
    };
    const ownScores = (text, number) => Array.from({ length: cells - stones(text) }, (_, nth) => scores.charCodeAt(starts[number] + nth) - 48);
    const worthTo = (text) => { // to its mover, of a position that is over or the agent's own
      const { index, ended } = get(text);
      return ended ? (winningLine(text) ? -1 : 0) : Math.max(...ownScores(text, index));
    };
    return {
      get,
      at: (number) => textOf(ownCodes[number]),
      known: (text, { index }) => {
        const free = [...text].flatMap((stone, cell) => (stone === "." ? [cell] : []));
        if (index < 0) return free.map((cell) => ({ score: -worthTo(after(text, cell)) || 0, chance: null, value: null }));
        const found = ownScores(text, index), shares = new Map(chosen(index));
        return free.map((cell, nth) => ({ score: found[nth], chance: (shares.get(cell) || 0) / 10000, value: null }));
      },
    };
  }

  // The moves of a position; score, plies to the end and the like from the mover's side. Chances are null where
  // the agent is not the one to move.
  function movesOf(text) {
    const place = positions.get(text);
    if (place.ended) return [];
    const known = positions.known(text, place), moves = [];
    for (let cell = 0; cell < cells; cell++) {
      if (text[cell] !== ".") continue;
      const found = known[moves.length];
      const end = found.score === 0 ? cells : cells + 1 - Math.abs(found.score);
      moves.push({
        cell, ...found, there: !data.partial || Boolean(positions.get(after(text, cell))),
        result: Math.sign(found.score), plies: end - stones(text),
      });
    }
    const best = Math.max(...moves.map((move) => move.result));
    for (const move of moves) move.slip = move.chance > 0 && move.result < best;
    return moves;
  }
  // How far the end is, where that is known.
  const distance = (move) => (move.result && !data.partial ? ` in ${move.plies}` : "");
  const worth = (move) => word(move.result) + distance(move);
  const word = (result) => ["loss", "draw", "win"][result + 1];
  const percent = (chance) => {
    if (chance === null) return "";
    const hundredths = Math.round(chance * 10000);
    if (hundredths > 0 && hundredths < 10) return "<0.1\u00a0%";
    if (hundredths > 9990 && hundredths < 10000) return ">99.9\u00a0%";
    const digits = hundredths % 100 === 0 || (hundredths >= 1000 && hundredths <= 9900) ? 0 : 1;
    return `${(hundredths / 100).toFixed(digits)}\u00a0%`;
  };
  const signed = data.values && data.values.some((value) => value < 0);
  const whole = data.values && data.values.every((value) => value === null || Number.isInteger(value)) &&
    data.values.some((value) => Math.abs(value) > 1);
  const valueText = (value) => {
    if (value === null) return "";
    if (whole) return value.toLocaleString("en");
    return (signed && value > 0 ? "+" : "") + value.toFixed(2).replace("-", "\u2212");
  };

  // ---- Where we are: a position and the moves that led to it ----------------------------------------------
  const start = ".".repeat(cells);
  let here = start, path = [];
  const trail = (moves) => moves.reduce((found, cell) => [...found, after(found[found.length - 1], cell)], [start]);

  // The way to a position on which its mover strays least from the agent's own play.
  function pathTo(text) {
    const side = mover(text), known = new Map([[start, [0, []]]]);
    const search = (goal) => {
      if (known.has(goal)) return known.get(goal);
      const moved = mover(goal) === "X" ? "O" : "X";
      let best = null;
      for (let cell = 0; cell < cells; cell++) {
        if (goal[cell] !== moved) continue;
        const before = goal.slice(0, cell) + "." + goal.slice(cell + 1);
        const place = positions.get(before);
        if (!place || place.ended) continue;
        const way = search(before);
        if (!way) continue;
        const chance = movesOf(before).find((move) => move.cell === cell).chance;
        const cost = way[0] + (chance > 0 ? -Math.log(chance) : moved === side ? 1000 : 30);
        if (!best || cost < best[0]) best = [cost, [...way[1], cell]];
      }
      known.set(goal, best);
      return best;
    };
    return search(text)[1];
  }

  function visit(text, moves) {
    here = text;
    path = moves;
    const hash = "#" + text;
    if (location.hash !== hash) location.hash = hash;
    show();
  }
  const play = (cell) => {
    if (positions.get(here).ended || here[cell] !== "." || (me && !mine())) return;
    if (!positions.get(after(here, cell))) {
      byId("outlook").textContent = `${data.agent.name} never plays this, and the page holds its own games alone.`;
      return announce(byId("outlook").textContent);
    }
    visit(after(here, cell), [...path, cell]);
    answer();
  };
  const back = () => path.length && visit(trail(path)[path.length - 1], path.slice(0, -1));
  const home = () => visit(start, []);

  // ---- Playing against it ---------------------------------------------------------------------------------
  const PAUSE = 350; // milliseconds that it seems to think
  const score = { won: 0, lost: 0, drawn: 0 };
  let me = "", hinted = false, resigned = false, counted = false, thinking = 0;
  const over = () => resigned || positions.get(here).ended;
  const mine = () => !over() && mover(here) === me;
  const other = () => (me === "X" ? "O" : "X");
  // Who has won, or nothing for a draw; only of a game that is over.
  const winner = () => (resigned ? me : winningLine(here) ? here[winningLine(here)[0]] : "");

  // Play as X or O, or explore (no side).
  function begin(side) {
    clearTimeout(thinking);
    me = side;
    hinted = resigned = counted = false;
    if (!me) return show();
    visit(start, []);
    buttons.find((button) => button.tabIndex === 0).focus({ preventScroll: true });
    answer();
  }
  // Its move, drawn as often as it plays it.
  function answer() {
    hinted = false;
    if (!me || over() || mine()) return;
    thinking = setTimeout(() => {
      const moves = movesOf(here);
      let left = Math.random() * moves.reduce((sum, move) => sum + move.chance, 0);
      const chosen = moves.find((move) => move.chance > 0 && (left -= move.chance) <= 0) || likeliest();
      if (chosen.chance > 0) return visit(after(here, chosen.cell), [...path, chosen.cell]);
      resigned = true;
      show();
    }, PAUSE);
  }
  function takeBack() {
    const plies = mine() ? 2 : 1;
    if (over() || path.length < plies) return;
    clearTimeout(thinking);
    hinted = false;
    const kept = path.slice(0, -plies);
    visit(trail(kept)[kept.length], kept);
  }
  function hint() {
    if (!mine()) return;
    hinted = true;
    show();
    const best = Math.max(...movesOf(here).map((move) => move.score));
    announce(`Best: ${inWords(movesOf(here).filter((move) => move.score === best))}.`);
  }
  const inWords = (moves) => new Intl.ListFormat("en", { type: "disjunction" }).format(moves.map((move) => String(move.cell + 1)));

  // What each move was worth; the accuracy of a side: the moves where there was something to lose that kept it.
  function reviewed() {
    return trail(path).slice(0, path.length).map((text, ply) => {
      const moves = movesOf(text), before = Math.max(...moves.map((move) => move.result));
      const { result } = moves.find((move) => move.cell === path[ply]);
      const kept = moves.filter((move) => move.result === before);
      return { ply, text, side: mover(text), before, after: result, kept, choice: kept.length < moves.length };
    });
  }
  function showReview() {
    const won = winner(), moves = reviewed();
    const lost = moves.filter((move) => move.after < move.before);
    const deciding = won ? lost.filter((move) => move.side !== won && move.after < 0).pop() : lost[lost.length - 1];
    const fault = (move) => `turned a ${word(move.before)} into a ${word(move.after)}; ${inWords(move.kept)} kept the ${word(move.before)}`;
    const named = (side) => (side === me ? "you" : data.agent.name);
    const accuracy = (side) => {
      const choices = moves.filter((move) => move.side === side && move.choice);
      const kept = choices.filter((move) => move.after === move.before).length;
      return choices.length ? `${kept} of ${choices.length} (${percent(kept / choices.length)})` : "no choice that mattered";
    };
    byId("verdict").textContent = deciding
      ? `Move ${deciding.ply + 1}, ${deciding.side} on ${path[deciding.ply] + 1}, ${fault(deciding)}.`
      : "No move gave anything away.";
    byId("accuracy").textContent = `Accuracy: ${named(me)} ${accuracy(me)}; ${named(other())} ${accuracy(other())}.`;
    byId("reviewed").replaceChildren(...moves.map((move) => {
      const wrong = move.after < move.before;
      const text = wrong ? fault(move) : move.choice && move.kept.length === 1 ? "the only move" : word(move.after);
      const link = make("a", { href: "#" + move.text }, make("b", {}, `${move.side} ${path[move.ply] + 1}`), make("span", {}, text));
      if (wrong) link.className = "slip";
      return make("li", {}, link);
    }));
  }
  // Count the game once it is over, and show its review.
  function showGame() {
    document.body.classList.toggle("at-play", Boolean(me));
    for (const button of byId("mode").children) button.setAttribute("aria-pressed", String(button.dataset.mode === me));
    byId("review").hidden = !me || !over();
    if (!me) return;
    if (over() && !counted) {
      counted = true;
      score[winner() === me ? "won" : winner() ? "lost" : "drawn"]++;
    }
    if (over()) showReview();
    byId("undo").disabled = over() || path.length < (mine() ? 2 : 1);
    byId("help").disabled = !mine() || hinted;
    byId("score").textContent = `You ${score.won}, ${data.agent.name} ${score.lost}, drawn ${score.drawn}`;
  }

  function follow() {
    let text = "";
    try { text = decodeURIComponent(location.hash.slice(1)).toUpperCase(); } catch { text = "?"; }
    if (text === "") text = path.length ? start : here;
    if (text === here) return show();
    [me, resigned] = ["", false];
    clearTimeout(thinking);
    if (!positions.get(text)) {
      history.replaceState(null, "", "#" + start);
      [here, path] = [start, []];
      show();
      return announce("There is no such position. This is the empty board.");
    }
    const passed = trail(path).indexOf(text);
    if (passed >= 0) return visit(text, path.slice(0, passed));
    const next = movesOf(here).find((move) => after(here, move.cell) === text);
    visit(text, next ? [...path, next.cell] : pathTo(text));
  }

  // ---- The board --------------------------------------------------------------------------------------
  const board = byId("board");
  board.style.setProperty("--cols", cols);
  const buttons = [];
  for (let row = 0; row < rows; row++) {
    const group = make("div", { role: "row" });
    for (let col = 0; col < cols; col++) {
      const cell = row * cols + col;
      const button = make("button", { type: "button", role: "gridcell", tabindex: cell ? "-1" : "0", "data-cell": cell + 1 });
      button.addEventListener("click", () => play(cell));
      button.addEventListener("focus", () => buttons.forEach((other) => { other.tabIndex = other === button ? 0 : -1; }));
      buttons.push(button);
      group.append(button);
    }
    board.append(group);
  }
  const stoneShape = (stone) => stone === "X"
    ? make("path", { d: "M12 12L88 88M88 12L12 88" })
    : make("circle", { cx: 50, cy: 50, r: 40 });

  function showBoard(moves) {
    const winning = winningLine(here) || [], last = path[path.length - 1];
    buttons.forEach((button, cell) => {
      const move = moves.find((found) => found.cell === cell);
      button.className = "";
      if (move && me && !hinted) {
        if (mine()) button.removeAttribute("aria-disabled");
        else button.setAttribute("aria-disabled", "true");
        button.setAttribute("aria-label", `Cell ${cell + 1}, free`);
        button.replaceChildren(make("span", { class: "number" }, String(cell + 1)));
      } else if (move) {
        button.className = word(move.result) + (move.chance > 0 ? " played" : "");
        button.removeAttribute("aria-disabled");
        const share = make("span");
        share.style.setProperty("--part", move.chance * 100);
        button.replaceChildren(
          make("span", { class: "number" }, String(cell + 1)),
          make("span", { class: "worth" }, word(move.result)),
          make("span", { class: "far" }, distance(move).trimStart()),
          make("span", { class: "does" }, make("b", {}, percent(move.chance)), make("i", {}, valueText(move.value))),
          make("span", { class: "share" }, share),
        );
        if (move.slip) button.append(make("span", { class: "flag" }, "!"));
        button.setAttribute("aria-label", spoken(move));
      } else {
        const stone = here[cell];
        button.setAttribute("aria-disabled", "true");
        button.replaceChildren();
        if (stone === ".") {
          button.setAttribute("aria-label", `Cell ${cell + 1}, free`);
          button.append(make("span", { class: "number" }, String(cell + 1)));
        } else {
          if (winning.includes(cell)) button.className = "line";
          else if (cell === last) button.className = "last";
          button.setAttribute("aria-label", `Cell ${cell + 1}, ${stone}${winning.includes(cell) ? ", in the winning line" : ""}`);
          button.append(make("svg", { class: "stone", viewBox: "0 0 100 100", "aria-hidden": "true" }, stoneShape(stone)));
        }
      }
    });
  }
  function spoken(move) {
    const value = valueText(move.value);
    const plays = percent(move.chance);
    return `Cell ${move.cell + 1}, free. Worth a ${worth(move)}.` +
      `${plays && ` It plays this ${plays}${value && `, values it ${value}`}.`}${move.slip ? " Mistake: this gives up a better result." : ""}`;
  }

  // ---- Everything around it ------------------------------------------------------------------------------
  function describe(moves) {
    const won = winningLine(here);
    if (me && over()) {
      const how = resigned ? `${data.agent.name} resigns: you win` : winner() ? (winner() === me ? "You win" : "You lose") : "A draw";
      return [`${how} as ${me}`, ""];
    }
    if (me && !hinted) return [mine() ? `Your move, as ${me}` : `${data.agent.name} thinks`, ""];
    if (won) return [`${here[won[0]]} has won`, ""];
    if (!moves.length) return ["A draw", ""];
    const best = Math.max(...moves.map((move) => move.score));
    const found = moves.find((move) => move.score === best);
    const slips = moves.filter((move) => move.slip).reduce((sum, move) => sum + move.chance, 0);
    let text = `Perfect play: ${found.result === 0 ? "a draw" : `${mover(here)} ${found.result > 0 ? "wins" : "loses"}${distance(found)}`}.`;
    if (moves.every((move) => move.chance === 0)) text += ` ${data.agent.name} resigns here.`;
    else if (slips > 0) text += ` ${data.agent.name} goes wrong here ${slips > 0.9995 ? "always" : `${percent(slips)} of the time`}.`;
    return [`${mover(here)} to move`, text];
  }

  function showPath() {
    const passed = trail(path);
    byId("path").replaceChildren(...passed.map((text, ply) => {
      const link = make("a", { href: "#" + text }, ply ? `${mover(passed[ply - 1])} ${path[ply - 1] + 1}` : "Start");
      const item = make("li", {}, link);
      if (ply === path.length) link.setAttribute("aria-current", "step");
      if (ply && (!me || over()) && movesOf(passed[ply - 1]).some((move) => move.cell === path[ply - 1] && move.slip)) {
        item.className = "slip";
        link.setAttribute("aria-label", `${link.textContent}, a mistake it may make`);
      }
      return item;
    }));
  }

  function showMoves(moves) {
    const order = [...moves].sort((a, b) => b.chance - a.chance || b.score - a.score || a.cell - b.cell);
    byId("moves").tBodies[0].replaceChildren(...order.map((move) => {
      const named = `${mover(here)} ${move.cell + 1}`;
      const cell = make("td", {}, move.there ? make("a", { href: "#" + after(here, move.cell) }, named) : named);
      const plays = make("td", {}, percent(move.chance) || "\u2013");
      if (move.slip) plays.append(make("span", { class: "flag", title: "a mistake", "aria-label": "a mistake" }, "!"));
      return make("tr", {}, cell, make("td", { class: word(move.result) }, worth(move)), plays,
        make("td", { class: "own" }, valueText(move.value) || "\u2013"));
    }));
    const strange = unknown.has(positions.get(here).index) && moves.length;
    const why = data.withinReach ? "was not asked about this position: its own play never leads here"
      : "has learned nothing about this position";
    byId("hint").textContent = strange ? `${data.agent.name} ${why}.`
      : moves.length ? "" : "The game is over.";
  }

  const announce = (text) => { byId("live").textContent = text; };

  function show() {
    const moves = movesOf(here);
    const [turn, outlook] = describe(moves);
    byId("turn").textContent = turn;
    byId("outlook").textContent = outlook;
    showBoard(moves);
    showGame();
    showPath();
    showMoves(moves);
    byId("home").disabled = byId("back").disabled = !path.length;
    byId("agent").disabled = !moves.some((move) => move.chance > 0);
    byId("perfect").disabled = !moves.length;
    for (const link of byId("mistakes").querySelectorAll("a")) {
      if (link.hash === "#" + here) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    document.title = here === start ? data.agent.name : `${here} \u00b7 ${data.agent.name}`;
    const last = path.length ? `${mover(trail(path)[path.length - 1])} took cell ${path[path.length - 1] + 1}. ` : "";
    announce(`${last}${turn}. ${outlook}`);
  }

  // ---- Mistakes -----------------------------------------------------------------------------------------
  const PAGE = 20;
  let side = "", shown = PAGE;
  function miniature(text, wrong) {
    const size = 10, picture = make("svg", { class: "mini", viewBox: `0 0 ${cols * size} ${rows * size}`, "aria-hidden": "true" });
    for (let cell = 0; cell < cells; cell++) {
      const x = (cell % cols) * size, y = Math.floor(cell / cols) * size;
      picture.append(make("rect", { class: cell === wrong ? "wrong" : "frame", x: x + 0.7, y: y + 0.7, width: size - 1.4, height: size - 1.4, rx: 1.5 }));
      const stone = cell === wrong ? mover(text) : text[cell], look = cell === wrong ? { class: "wrong-stone" } : {};
      if (stone === "X") picture.append(make("path", { d: `M${x + 3} ${y + 3}l4 4m0 -4l-4 4`, ...look }));
      if (stone === "O") picture.append(make("circle", { cx: x + 5, cy: y + 5, r: 2.2, ...look }));
    }
    return picture;
  }
  // Mistakes that a turn or mirror of the board makes equal, and that are made as often, are one kind.
  const images = [[1, 1, 0], [-1, 1, 0], [1, -1, 0], [-1, -1, 0], ...(rows === cols ? [[1, 1, 1], [-1, 1, 1], [1, -1, 1], [-1, -1, 1]] : [])]
    .map(([down, right, swap]) => Array.from({ length: cells }, (_, cell) => {
      const row = Math.floor(cell / cols), col = cell % cols;
      const [r, c] = [down > 0 ? row : rows - 1 - row, right > 0 ? col : cols - 1 - col];
      return swap ? c * cols + r : r * cols + c;
    }));
  const kinds = [];
  {
    const seen = new Map();
    for (const [index, cell, ...rest] of data.mistakes) {
      const text = positions.at(index), move = movesOf(text).find((one) => one.cell === cell);
      const shape = images.map((image) => image.map((from) => (from === cell ? "!" : text[from])).join("")).sort()[0];
      const key = [shape, move ? move.chance : "", ...rest].join(" ");
      const first = seen.get(key);
      if (first) first[5]++;
      else { const kind = [index, cell, ...rest, 1]; seen.set(key, kind); kinds.push(kind); }
    }
  }
  function showMistakes() {
    const found = kinds.filter(([index]) => !side || mover(positions.at(index)) === side);
    byId("mistakes").replaceChildren(...found.slice(0, shown).map(([index, cell, reach, opponent, reachable, alike]) => {
      const text = positions.at(index), moves = movesOf(text), move = moves.find((one) => one.cell === cell);
      const best = Math.max(...moves.map((one) => one.result));
      const result = word(move ? move.result : -1);
      const what = make("span", {}, make("b", {}, `${mover(text)} ${move ? `plays ${cell + 1}` : "resigns"}`), ": ",
        make("span", { class: word(best) }, word(best)), make("span", { "aria-hidden": "true" }, " \u2192 "),
        make("span", { class: "unseen" }, " becomes "), make("span", { class: result }, result));
      const often = move ? percent(move.chance) + " here" : "always here";
      const seen = reach ? `; in ${percent(reach / 10000)} of its games against ${data.opponents[opponent]}` : "";
      const images = alike > 1 ? `; ${alike} alike, turned or mirrored` : "";
      what.append(make("small", {}, often + (reachable ? seen : "; its own play never leads here") + images));
      return make("li", {}, make("a", { href: "#" + text }, miniature(text, cell), what));
    }));
    byId("more").hidden = found.length <= shown;
    byId("more").textContent = `Show ${Math.min(PAGE, found.length - shown)} more of ${(found.length - shown).toLocaleString("en")}`;
    const total = found.reduce((sum, kind) => sum + kind[5], 0);
    byId("mistakes-count").textContent = found.length
      ? `${total.toLocaleString("en")} moves${side && ` as ${side}`} that give up a better result${total > found.length ? `, of ${found.length.toLocaleString("en")} kinds` : ""}.`
      : "None: it never gives up a better result.";
    for (const button of byId("sides").children) button.setAttribute("aria-pressed", String(button.dataset.side === side));
  }

  // ---- Keys and buttons ----------------------------------------------------------------------------------
  const likeliest = () => movesOf(here).reduce((best, move) => (!best || move.chance > best.chance ? move : best), null);
  const perfect = () => movesOf(here).reduce((best, move) => (!best || move.score > best.score ? move : best), null);
  const step = (cell, down, right) => {
    const row = Math.floor(cell / cols) + down, col = (cell % cols) + right;
    return row < 0 || row >= rows || col < 0 || col >= cols ? cell : row * cols + col;
  };
  const arrows = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const focused = buttons.indexOf(document.activeElement);
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (arrows[key]) {
      if (focused < 0 && document.activeElement !== document.body) return;
      const from = buttons.findIndex((button) => button.tabIndex === 0);
      buttons[focused < 0 ? from : step(focused, ...arrows[key])].focus();
    } else if (/^[1-9]$/.test(key)) {
      if (Number(key) > cells) return;
      play(Number(key) - 1);
    } else if (key === "Backspace" || key === "u") (me ? takeBack : back)();
    else if (key === "Home") me ? begin(me) : home();
    else if (key === "n" && me) begin(other());
    else if (key === "h" && me) hint();
    else if (me) return;
    else if (key === "a" && !byId("agent").disabled) play(likeliest().cell);
    else if (key === "b" && !byId("perfect").disabled) play(perfect().cell);
    else return;
    event.preventDefault();
  });
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    buttons.find((button) => button.tabIndex === 0).focus();
  });
  byId("home").addEventListener("click", home);
  byId("back").addEventListener("click", back);
  byId("agent").addEventListener("click", () => play(likeliest().cell));
  byId("perfect").addEventListener("click", () => play(perfect().cell));
  byId("more").addEventListener("click", () => { shown += PAGE; showMistakes(); });
  for (const button of byId("mode").children) button.addEventListener("click", () => begin(button.dataset.mode));
  byId("again").addEventListener("click", () => begin(other()));
  byId("undo").addEventListener("click", takeBack);
  byId("help").addEventListener("click", hint);
  for (const button of byId("sides").children)
    button.addEventListener("click", () => { side = button.dataset.side; shown = PAGE; showMistakes(); });
  byId("sides").hidden = !data.mistakes.length;
  document.body.classList.toggle("flawless", !data.mistakes.length);
  document.body.classList.toggle("valueless", !data.values);
  window.addEventListener("hashchange", follow);
  showMistakes();
  follow();
})();
