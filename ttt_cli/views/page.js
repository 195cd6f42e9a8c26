// The page: a state, functions that change it, and one that draws it. The rules, and what is known of each position,
// are in game.js. All text from the data enters the page as text.
(async () => {
  const byId = (id) => document.getElementById(id);
  const game = await gameOf(byId("data").textContent);
  const { data, rows, cols, cells, start, winningLine, mover, opponent, victor, after, trail, movesOf } = game;
  const name = `\u2068${data.agent.name}\u2069`; // isolated: its direction of writing moves nothing around it
  const make = (tag, attributes = {}, ...children) => {
    const svg = ["svg", "path", "circle", "rect"].includes(tag);
    const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };

  const mark = (element, attribute, on) => {
    if (on) element.setAttribute(attribute, "true");
    else element.removeAttribute(attribute);
  };
  const press = (button, on) => button.setAttribute("aria-pressed", String(on));

  // ---- Words and numbers --------------------------------------------------------------------------------
  const word = (result) => ["loss", "draw", "win"][result + 1];
  const distance = (move) => (move.result && data.whole ? ` in ${move.plies}` : ""); // where it is known
  const worth = (move) => word(move.result) + distance(move);
  const bestResult = (moves) => Math.max(...moves.map((move) => move.result));
  // Only what is certain is shown as 0 or 100 %.
  const percent = (chance) => {
    if (chance === null) return "";
    if (chance > 0 && chance < 0.0005) return "<0.1\u00a0%";
    const rounded = Math.min(Number((100 * chance).toFixed(1)), 99.9);
    return `${chance < 1 ? rounded : 100}\u00a0%`;
  };
  const valueText = (value) => (value === null ? "" : value.toLocaleString("en", { maximumFractionDigits: 2 }));
  const either = new Intl.ListFormat("en-GB", { type: "disjunction" });
  const inWords = (moves) => either.format(moves.map((move) => String(move.cell + 1)));
  const cellsInWords = (good, moves, all) => (moves.length > 1 && good.length === moves.length ? all : inWords(good));
  const counted = (number, thing) => `${number.toLocaleString("en")} ${thing}${number === 1 ? "" : "s"}`;
  // The best result that a prospect allows, and how often; nothing if always.
  const prospectText = ({ win, save }) => {
    if (win) return ["win", percent(win)];
    if (save) return ["draw", save > 0.99999 ? "" : percent(save)];
    return ["loss", ""];
  };

  // ---- The state ----------------------------------------------------------------------------------------
  // me: the person's side, or "" while exploring; path: the cells played; resigned: whether the agent has resigned;
  // aid: what is shown of the moves while playing ("", "hint" or "beat"); won, lost, drawn: the person's score.
  const state = { me: "X", path: [], resigned: false, aid: "", won: 0, lost: 0, drawn: 0 };
  let thinking = 0;
  let interrupted = { me: "X", path: [], resigned: false }; // the game that exploring interrupted
  const here = () => trail(state.path)[state.path.length];
  const over = () => state.resigned || game.ended(here());
  const mine = () => !over() && mover(here()) === state.me;
  const other = () => opponent(state.me);
  // Who has won a game that is over; "" if it is a draw.
  const winner = () => (state.resigned ? state.me : victor(here()));
  const most = (moves, key) => moves.reduce((best, move) => (!best || move[key] > best[key] ? move : best), null);

  // ---- What changes it ----------------------------------------------------------------------------------
  const PAUSE = 350; // milliseconds that the agent seems to think
  function go(path, changes = {}) {
    if (state.me && changes.me === "") interrupted = { me: state.me, path: state.path, resigned: state.resigned };
    Object.assign(state, { path, aid: "", resigned: false }, changes);
    if (state.me && over()) {
      if (!winner()) state.drawn++;
      else if (winner() === state.me) state.won++;
      else state.lost++;
    }
    const hash = "#" + (state.me ? "" : here());
    if ((location.hash || "#") !== hash) {
      if (state.me) history.replaceState(null, "", hash);
      else history.pushState(null, "", hash);
    }
    resume();
  }
  function resume() {
    clearTimeout(thinking);
    render();
    if (state.me && !over() && !mine()) thinking = setTimeout(answer, PAUSE);
  }
  // The agent moves, by its probabilities.
  function answer() {
    const moves = movesOf(here());
    let rest = Math.random() * moves.reduce((sum, move) => sum + move.chance, 0);
    const picked = moves.find((move) => move.chance > 0 && (rest -= move.chance) <= 0);
    const move = picked || most(moves, "chance"); // in case rounding leaves none
    if (move.chance > 0) go([...state.path, move.cell]);
    else go(state.path, { resigned: true });
  }
  function play(cell) {
    if (game.ended(here()) || here()[cell] !== "." || (state.me && !mine())) return;
    if (game.find(after(here(), cell)) !== undefined) return go([...state.path, cell]);
    byId("outlook").textContent = `${name} never plays this, and the page holds only its own games.`;
    announce(byId("outlook").textContent);
  }
  function begin(side) {
    const goesOn = !interrupted.resigned && !game.ended(trail(interrupted.path)[interrupted.path.length]);
    if (!state.me && side === interrupted.me && interrupted.path.length && goesOn) {
      history.pushState(null, "", "#"); // back to the game that exploring interrupted
      return follow();
    }
    go(side ? [] : state.path, { me: side });
    if (side) buttons.find((button) => button.tabIndex === 0).focus({ preventScroll: true });
  }
  // How many moves remain if a move is taken back: the last one while exploring, the person's last one in play, the
  // person's last mistake after a game. Below 0 if there is none.
  function remaining() {
    if (!state.me) return state.path.length - 1;
    if (over()) return reviewed().findLastIndex((move) => move.lost && move.side === state.me);
    return state.path.length - (mine() ? 2 : 1);
  }
  function toggleAid(aid) {
    if (!mine()) return;
    state.aid = state.aid === aid ? "" : aid;
    render();
  }
  // Explore the position that the address names.
  function follow() {
    let text = "";
    try { text = decodeURIComponent(location.hash.slice(1)).toUpperCase(); } catch { text = "?"; }
    if (text === "") {
      if (!state.me) Object.assign(state, interrupted, { aid: "" }); // back to the game
      return resume();
    }
    board.scrollIntoView({ block: "nearest" });
    if (text === here() && !state.me) return render();
    const path = pathTo(text);
    go(path || [], { me: "" });
    if (path) return;
    byId("outlook").textContent = `The page has no position ${text.slice(0, 64)}. This is the empty board.`;
    announce(byId("outlook").textContent);
  }
  // The moves to a position: back along the path, one move on, or any way.
  function pathTo(text) {
    const passed = trail(state.path).indexOf(text);
    if (passed >= 0) return state.path.slice(0, passed);
    const next = movesOf(here()).find((move) => after(here(), move.cell) === text);
    return next ? [...state.path, next.cell] : game.pathTo(text);
  }

  // ---- The board ----------------------------------------------------------------------------------------
  const board = byId("board");
  board.style.setProperty("--cols", cols);
  board.style.setProperty("--rows", rows);
  const buttons = Array.from({ length: cells }, (_, cell) => {
    const attributes = { type: "button", role: "gridcell", tabindex: cell ? "-1" : "0", "data-cell": cell + 1 };
    const button = make("button", attributes);
    button.addEventListener("click", () => play(cell));
    button.addEventListener("focus", () => {
      for (const each of buttons) each.tabIndex = each === button ? 0 : -1;
    });
    return button;
  });
  board.replaceChildren(); // a page that a browser has saved brings what was drawn
  for (let row = 0; row < rows; row++) {
    board.append(make("div", { role: "row" }, ...buttons.slice(row * cols, (row + 1) * cols)));
  }

  function drawBoard(moves, prospects) {
    const text = here(), showsMoves = !state.me || state.aid === "hint" || prospects;
    buttons.forEach((button, cell) => {
      const move = moves.find((move) => move.cell === cell), number = make("span", { class: "number" }, String(cell + 1));
      let face = { kind: "", label: "free", parts: [number] };
      if (text[cell] !== ".") face = stoneFace(text, cell);
      else if (move && prospects) face = prospectFace(move, prospects.get(cell), number);
      else if (move && showsMoves) face = moveFace(move, number);
      button.className = face.kind;
      button.setAttribute("aria-label", `Cell ${cell + 1}, ${face.label}`);
      mark(button, "aria-disabled", !move || (state.me && !mine()));
      button.replaceChildren(...face.parts);
    });
  }
  // What a cell looks like: its class, its label for screen readers, and its contents.
  function stoneFace(text, cell) {
    const stone = text[cell], winning = (winningLine(text) || []).includes(cell);
    const cross = make("path", { d: "M12 12L88 88M88 12L12 88" }), ring = make("circle", { cx: 50, cy: 50, r: 40 });
    const attributes = { class: "stone", viewBox: "0 0 100 100", "aria-hidden": "true" };
    const parts = [make("svg", attributes, stone === "X" ? cross : ring)];
    if (winning) return { kind: "line", label: `${stone}, in the winning line`, parts };
    return { kind: cell === state.path[state.path.length - 1] ? "last" : "", label: stone, parts };
  }
  // What a move is worth, and what the agent makes of it.
  function moveFace(move, number) {
    const result = word(move.result), plays = percent(move.chance), value = valueText(move.value);
    let label = `free. Worth a ${worth(move)}.`;
    if (plays) label += ` Played ${plays} of the time${value && `, valued at ${value}`}.`;
    if (move.slip) label += " Mistake: this gives up a better result.";
    const parts = [number, ...notes(result, distance(move).trimStart(), plays, value)];
    if (move.slip) parts.push(make("span", { class: "flag" }, "!"));
    return { kind: move.chance > 0 ? `${result} played` : result, label, parts };
  }
  // What a move can get against the agent, and against perfect play.
  function prospectFace(move, prospect, number) {
    const [result, often] = prospectText(prospect);
    const label = `free. You can get a ${result}${often && ` in ${often} of the games`}; perfect play: a ${worth(move)}.`;
    return { kind: result, label, parts: [number, ...notes(result, often, "", `(${worth(move)})`)] };
  }
  const notes = (result, below, left, right) => [
    make("span", { class: "worth" }, result),
    make("span", { class: "far" }, below),
    make("span", { class: "does" }, make("b", {}, left), make("i", {}, right)),
  ];

  // ---- Everything around it -----------------------------------------------------------------------------
  // A heading, and what there is to say about the position.
  function described(moves, prospects) {
    if (state.me && over()) return [`${outcome()} as ${state.me}`, verdict(reviewed())];
    if (winner()) return [`${winner()} has won`, ""];
    if (!moves.length) return ["A draw", ""];
    if (!state.me) return [`${mover(here())} to move`, analysis(moves)];
    const heading = mine() ? `Your move, as ${state.me}` : `${name} thinks`;
    if (state.aid === "hint") return [heading, hint(moves)];
    return [heading, state.aid === "beat" ? advice(moves, prospects) : ""];
  }
  function outcome() {
    if (state.resigned) return `${name} resigns: you win`;
    if (!winner()) return "A draw";
    return winner() === state.me ? "You win" : "You lose";
  }
  function hint(moves) {
    const best = most(moves, "score"), good = moves.filter((move) => move.score === best.score);
    const text = `Best: ${cellsInWords(good, moves, "any, all are worth the same")}. `;
    const example = data.whole && most(moves.filter((move) => move.result && move.plies > 1), "score");
    if (!example) return text;
    const result = example.result > 0 ? "win" : "lose";
    return `${text}\u201c${worth(example)}\u201d: with perfect play you ${result} in ${example.plies} moves, both sides counted.`;
  }
  function advice(moves, prospects) {
    if (!prospects) return `There are too many continuations against ${name} to go through them all. Try again in a few moves.`;
    const top = (key) => Math.max(...moves.map((move) => prospects.get(move.cell)[key]));
    const key = top("win") > 0 ? "win" : "save", best = top(key);
    if (!best) return `${name} wins from here, whatever you play.`;
    const good = cellsInWords(moves.filter((move) => prospects.get(move.cell)[key] > best - 1e-9), moves, "any cell");
    const often = best > 0.99999 ? "" : ` in ${percent(best)} of the games`;
    const text = key === "win" ? `To beat ${name}, play ${good}: you then win ${percent(best)} of the games.`
      : `${name} cannot be beaten from here; ${good} draws${often}.`;
    return `${text} In brackets: against perfect play.`;
  }
  function analysis(moves) {
    const best = most(moves, "score"), result = best.result > 0 ? "wins" : "loses";
    const text = `Perfect play: ${best.result === 0 ? "a draw" : `${mover(here())} ${result}${distance(best)}`}.`;
    if (moves.every((move) => move.chance === 0)) return `${text} ${name} resigns here.`;
    if (game.isUnknown(here())) {
      const asked = moves[0].chance !== null;
      return `${text} ${name} ${asked ? "knows nothing of this position" : "never gets here and was not asked"}.`;
    }
    const slips = moves.filter((move) => move.slip).reduce((sum, move) => sum + move.chance, 0);
    if (!slips) return text;
    return `${text} ${name} ${slips > 1 - 1e-9 ? "always goes wrong here" : `goes wrong here ${percent(slips)} of the time`}.`;
  }
  function drawPath() {
    const passed = trail(state.path);
    byId("path").replaceChildren(...passed.map((text, ply) => {
      const link = make("a", { href: "#" + text }, ply ? `${mover(passed[ply - 1])} ${state.path[ply - 1] + 1}` : "Start");
      const item = make("li", {}, link);
      if (ply === state.path.length) link.setAttribute("aria-current", "step");
      if (ply && movesOf(passed[ply - 1]).some((move) => move.cell === state.path[ply - 1] && move.slip)) {
        item.className = "slip";
        link.setAttribute("aria-label", `${link.textContent}, a mistake it may make`);
      }
      return item;
    }));
  }
  // The moves of the game: what each was worth (result), what the position was worth (before), which moves keep that
  // (kept), whether not all do (choice), and whether it gave something away (lost).
  function reviewed() {
    const passed = trail(state.path);
    return state.path.map((cell, ply) => {
      const moves = movesOf(passed[ply]), before = bestResult(moves);
      const kept = moves.filter((move) => move.result === before), { result } = moves.find((move) => move.cell === cell);
      const choice = kept.length < moves.length, lost = result < before;
      return { cell, ply, side: mover(passed[ply]), before, result, kept, choice, lost };
    });
  }
  function fault({ before, result, kept }) {
    return `turned a ${word(before)} into a ${word(result)}; ${inWords(kept)} kept the ${word(before)}`;
  }
  // What decided a game.
  function verdict(moves) {
    const left = state.resigned ? bestResult(movesOf(here())) : -1;
    if (left > -1) return `${name} resigned what was still a ${word(left)}.`;
    const won = !state.resigned && winner(), lost = moves.filter((move) => move.lost);
    const deciding = lost.findLast((move) => !won || (move.side !== won && move.result < 0));
    if (!deciding) return "No move gave anything away.";
    return `Move ${deciding.ply + 1}, ${deciding.side} on ${deciding.cell + 1}, ${fault(deciding)}.`;
  }
  function drawReview(moves) {
    // Of the moves with something to lose, those that kept it.
    const accuracy = (side) => {
      const choices = moves.filter((move) => move.side === side && move.choice);
      const kept = choices.filter((move) => !move.lost).length;
      return choices.length ? `${kept} of ${choices.length} (${Math.round((100 * kept) / choices.length)}\u00a0%)` : "had no such move";
    };
    byId("accuracy").textContent = `Accuracy where it mattered: you ${accuracy(state.me)}; ${name} ${accuracy(other())}.`;
    byId("reviewed").replaceChildren(...moves.map((move) => {
      let text = word(move.result) + (move.choice && move.kept.length === 1 ? ", the only move" : "");
      if (move.lost) text = fault(move);
      const label = make("b", {}, `${move.side} ${move.cell + 1}`);
      const link = make("a", { href: "#" + trail(state.path)[move.ply] }, label, make("span", {}, text));
      if (move.lost) link.className = "slip";
      return make("li", {}, link);
    }));
  }
  function miniature(text, wrong) {
    const size = 10, side = size - 1.4;
    const viewBox = `0 0 ${cols * size} ${rows * size}`, picture = make("svg", { class: "mini", viewBox, "aria-hidden": "true" });
    for (let cell = 0; cell < cells; cell++) {
      const x = (cell % cols) * size, y = Math.floor(cell / cols) * size, frame = cell === wrong ? "wrong" : "frame";
      picture.append(make("rect", { class: frame, x: x + 0.7, y: y + 0.7, width: side, height: side, rx: 1.5 }));
      const stone = cell === wrong ? mover(text) : text[cell], look = cell === wrong ? { class: "wrong-stone" } : {};
      if (stone === "X") picture.append(make("path", { d: `M${x + 3} ${y + 3}l4 4m0 -4l-4 4`, ...look }));
      if (stone === "O") picture.append(make("circle", { cx: x + 5, cy: y + 5, r: 2.2, ...look }));
    }
    return picture;
  }
  const LISTED = 100;
  byId("mistakes").replaceChildren(...game.mistakes.slice(0, LISTED).map(({ text, cell, move, reach }) => {
    const best = word(bestResult(movesOf(text))), result = word(move ? move.result : -1);
    const what = make("span", {}, make("b", {}, `${mover(text)} ${move ? `plays ${cell + 1}` : "resigns"}`), ": ",
      make("span", { class: best }, best), make("span", { "aria-hidden": "true" }, " \u2192 "),
      make("span", { class: "unseen" }, " becomes "), make("span", { class: result }, result),
      make("small", {}, `${move ? percent(move.chance) : "always"} here; in ${percent(reach)} of its games against random play`));
    return make("li", {}, make("a", { href: "#" + text }, miniature(text, cell), what));
  }));
  const worst = game.mistakes.length > LISTED ? `; only the worst ${LISTED} are shown` : "";
  byId("mistakes-count").textContent = game.mistakes.length
    ? `It can give up a better result in ${counted(data.mistaken, "position")} of its own games. ` +
      `Those that differ only by rotation or reflection are listed once${worst}.`
    : "None: in its own games it never gives up a better result.";

  const announce = (text) => { byId("live").textContent = text; };
  // Draw the state.
  function render() {
    const playing = Boolean(state.me);
    let moves = movesOf(here());
    // What the agent would do stays hidden in play.
    if (playing) moves = moves.map((move) => ({ ...move, chance: null, value: null, slip: false }));
    const prospects = state.aid === "beat" ? game.beating(here()) : null;
    const [turn, outlook] = described(moves, prospects);
    byId("turn").textContent = turn;
    byId("outlook").textContent = outlook;
    document.body.classList.toggle("at-play", playing);
    for (const button of byId("mode").children) press(button, button.dataset.mode === state.me);
    drawBoard(moves, prospects);
    byId("review").hidden = !playing || !over();
    byId("undo").disabled = remaining() < 0;
    if (playing) {
      if (over()) drawReview(reviewed());
      byId("hint").disabled = byId("beat").disabled = !mine();
      press(byId("hint"), state.aid === "hint");
      press(byId("beat"), state.aid === "beat");
      byId("score").textContent = `You ${state.won}, ${name} ${state.lost}, drawn ${state.drawn}`;
    } else {
      drawPath();
      for (const link of byId("mistakes").querySelectorAll("a")) mark(link, "aria-current", link.hash === "#" + here());
      byId("agent").disabled = !moves.some((move) => move.chance > 0);
      byId("perfect").disabled = !moves.length;
    }
    document.title = playing || here() === start ? data.agent.name : `${here()} \u00b7 ${data.agent.name}`;
    const ply = state.path.length - 1;
    const moved = ply >= 0 && !state.aid ? `${"XO"[ply % 2]} took cell ${state.path[ply] + 1}. ` : "";
    announce(`${moved}${turn}. ${outlook}`);
  }

  // ---- Keys and buttons ---------------------------------------------------------------------------------
  const step = (cell, down, right) => {
    const row = Math.floor(cell / cols) + down, col = (cell % cols) + right;
    return row < 0 || row >= rows || col < 0 || col >= cols ? cell : row * cols + col;
  };
  const arrows = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const actions = {
    again: () => begin(other()),
    undo: () => go(state.path.slice(0, remaining())),
    hint: () => toggleAid("hint"),
    beat: () => toggleAid("beat"),
    agent: () => play(most(movesOf(here()), "chance").cell),
    perfect: () => play(most(movesOf(here()), "score").cell),
  };
  // The visible button that names a key.
  function buttonOf(key) {
    const name = key === "Backspace" ? "U" : key.toUpperCase();
    const shown = [...document.querySelectorAll(".buttons button")].filter((button) => button.offsetParent);
    return shown.find((button) => button.querySelector("kbd").textContent === name);
  }
  let typed = ""; // the digits of a cell, while they gather on a board of more than nine
  document.addEventListener("keydown", (event) => {
    if (event.key === "Shift") return; // which types digits on some keyboards
    if (!/^[0-9]$/.test(event.key)) typed = "";
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const focused = buttons.indexOf(document.activeElement), { key } = event;
    if (arrows[key]) {
      if (focused < 0 && document.activeElement.closest("a")) return; // there they scroll
      const from = buttons.findIndex((button) => button.tabIndex === 0);
      buttons[focused < 0 ? from : step(focused, ...arrows[key])].focus();
    } else if (/^[0-9]$/.test(key)) {
      typed = [cells > 9 ? typed + key : key, key].find((text) => Number(text) >= 1 && Number(text) <= cells) || "";
      if (typed && cells > 9) buttons[typed - 1].focus(); // Enter plays it
      else if (typed) play(typed - 1);
    } else if (buttonOf(key)) buttonOf(key).click();
    else return;
    event.preventDefault();
  });
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    buttons.find((button) => button.tabIndex === 0).focus();
  });
  for (const [id, action] of Object.entries(actions)) byId(id).addEventListener("click", action);
  for (const button of byId("mode").children) button.addEventListener("click", () => begin(button.dataset.mode));
  document.body.classList.toggle("valueless", !data.values.length);
  document.querySelector("main").hidden = false;
  window.addEventListener("hashchange", follow);
  follow();
})().catch((error) => {
  document.getElementById("failed").hidden = false;
  throw error;
});
