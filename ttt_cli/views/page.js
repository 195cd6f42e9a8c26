// The page: one state, and one function that draws it. All text from the data enters the page as text.
(async () => {
  const byId = (id) => document.getElementById(id);
  const game = await gameOf(byId("data").textContent);
  const { data, rows, cols, cells, start, winningLine, mover, opponent, victor, after, trail, movesOf } = game;
  const name = data.agent.name;
  const make = (tag, attributes = {}, ...children) => {
    const svg = ["svg", "path", "circle", "rect"].includes(tag);
    const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };

  const mark = (element, attribute, on) => on ? element.setAttribute(attribute, "true") : element.removeAttribute(attribute);
  const press = (button, on) => button.setAttribute("aria-pressed", String(on));

  // ---- Words and numbers --------------------------------------------------------------------------------
  const word = (result) => ["loss", "draw", "win"][result + 1];
  const distance = (move) => (move.result && data.whole ? ` in ${move.plies}` : ""); // where it is known
  const worth = (move) => word(move.result) + distance(move);
  // Only what is certain is shown as 0 or 100 %.
  const percent = (chance) => chance === null ? "" :
    `${chance > 0 && chance < 1 ? Math.min(Math.max(Number((100 * chance).toFixed(1)), 0.1), 99.9) : 100 * chance}\u00a0%`;
  const valueText = (value) => value === null ? "" : value.toLocaleString("en", { maximumFractionDigits: 2 });
  const inWords = (moves) => new Intl.ListFormat("en-GB", { type: "disjunction" }).format(moves.map((move) => String(move.cell + 1)));
  const cellsOf = (good, moves, all) => moves.length > 1 && good.length === moves.length ? all : inWords(good);
  const counted = (number, thing) => `${number.toLocaleString("en")} ${thing}${number === 1 ? "" : "s"}`;
  // The best that can be had of a prospect, in words, and how good it is.
  const prospectText = ({ win, save }) => win ? ["win", percent(win)] : save ? ["draw", save > 0.99999 ? "" : percent(save)] : ["loss", ""];

  // ---- The state ----------------------------------------------------------------------------------------
  // me: the person's side, or "" while exploring; path: the cells played; aid: what is shown of the moves while
  // playing ("", "hint" or "beat").
  const state = { me: "X", path: [], resigned: false, aid: "", won: 0, lost: 0, drawn: 0 };
  let thinking = 0;
  const here = () => trail(state.path)[state.path.length];
  const over = () => state.resigned || game.ended(here());
  const mine = () => !over() && mover(here()) === state.me;
  const other = () => opponent(state.me);
  // Who has won a game that is over, or nothing for a draw.
  const winner = () => (state.resigned ? state.me : victor(here()));
  const most = (moves, key) => moves.reduce((best, move) => (!best || move[key] > best[key] ? move : best), null);

  // ---- What changes it ----------------------------------------------------------------------------------
  const PAUSE = 350; // milliseconds that it seems to think
  function go(path, changes = {}) {
    clearTimeout(thinking);
    Object.assign(state, { path, aid: "", resigned: false }, changes);
    if (state.me && over()) state[winner() === state.me ? "won" : winner() ? "lost" : "drawn"]++;
    const hash = "#" + (state.me ? "" : here());
    if ((location.hash || "#") !== hash) history[state.me ? "replaceState" : "pushState"](null, "", hash);
    render();
    if (state.me && !over() && !mine()) thinking = setTimeout(answer, PAUSE);
  }
  // Its move, drawn as often as it plays it.
  function answer() {
    const moves = movesOf(here());
    let left = Math.random() * moves.reduce((sum, move) => sum + move.chance, 0);
    const move = moves.find((one) => one.chance > 0 && (left -= one.chance) <= 0) || most(moves, "chance");
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
    go(side ? [] : state.path, { me: side });
    if (side) buttons.find((button) => button.tabIndex === 0).focus({ preventScroll: true });
  }
  // How many moves stay if the last one is taken back, in play the last own one, or after a game the last own mistake;
  // below 0 if there is none.
  const staying = () => !state.me ? state.path.length - 1 : over() ? reviewed().findLastIndex((move) => move.lost && move.side === state.me)
    : state.path.length - (mine() ? 2 : 1);
  function help(aid) {
    if (!mine()) return;
    state.aid = state.aid === aid ? "" : aid;
    render();
  }
  // Explore the position that the address names.
  function follow() {
    let text = "";
    try { text = decodeURIComponent(location.hash.slice(1)).toUpperCase(); } catch { text = "?"; }
    if (text === "") return state.me ? render() : go([]);
    board.scrollIntoView({ block: "nearest" });
    if (text === here() && !state.me) return render();
    const passed = trail(state.path).indexOf(text), next = movesOf(here()).find((move) => after(here(), move.cell) === text);
    const path = passed >= 0 ? state.path.slice(0, passed) : next ? [...state.path, next.cell] : game.pathTo(text);
    go(path || [], { me: "" });
    if (!path) announce("There is no such position. This is the empty board.");
  }

  // ---- The board ----------------------------------------------------------------------------------------
  const board = byId("board");
  board.style.setProperty("--cols", cols);
  board.style.setProperty("--rows", rows);
  const buttons = Array.from({ length: cells }, (_, cell) => {
    const button = make("button", { type: "button", role: "gridcell", tabindex: cell ? "-1" : "0", "data-cell": cell + 1 });
    button.addEventListener("click", () => play(cell));
    button.addEventListener("focus", () => buttons.forEach((one) => { one.tabIndex = one === button ? 0 : -1; }));
    return button;
  });
  for (let row = 0; row < rows; row++) board.append(make("div", { role: "row" }, ...buttons.slice(row * cols, (row + 1) * cols)));

  function drawBoard(moves, prospects) {
    const text = here(), winning = winningLine(text) || [], last = state.path[state.path.length - 1];
    buttons.forEach((button, cell) => {
      const move = moves.find((found) => found.cell === cell), stone = text[cell], told = move && (!state.me || state.aid === "hint" || prospects);
      const number = make("span", { class: "number" }, String(cell + 1));
      let kind = "", label = "free", parts = stone === "." ? [number] : [];
      if (told) {
        const [result, far] = prospects ? prospectText(prospects.get(cell)) : [word(move.result), distance(move).trimStart()];
        kind = result + (move.chance > 0 ? " played" : "");
        label = prospects ? `free. You can get a ${result}${far && ` in ${far} of the games`}; perfect play: a ${worth(move)}.` : spoken(move);
        const value = prospects ? `(${worth(move)})` : valueText(move.value);
        parts.push(make("span", { class: "worth" }, result), make("span", { class: "far" }, far),
          make("span", { class: "does" }, make("b", {}, percent(move.chance)), make("i", {}, value)),
          ...(move.slip ? [make("span", { class: "flag" }, "!")] : []));
      } else if (stone !== ".") {
        kind = winning.includes(cell) ? "line" : cell === last ? "last" : "";
        label = `${stone}${kind === "line" ? ", in the winning line" : ""}`;
        const shape = stone === "X" ? make("path", { d: "M12 12L88 88M88 12L12 88" }) : make("circle", { cx: 50, cy: 50, r: 40 });
        parts = [make("svg", { class: "stone", viewBox: "0 0 100 100", "aria-hidden": "true" }, shape)];
      }
      button.className = kind;
      button.setAttribute("aria-label", `Cell ${cell + 1}, ${label}`);
      mark(button, "aria-disabled", !move || (state.me && !mine()));
      button.replaceChildren(...parts);
    });
  }
  function spoken(move) {
    const value = valueText(move.value), plays = percent(move.chance);
    return `free. Worth a ${worth(move)}.` +
      `${plays && ` Played ${plays} of the time${value && `, valued at ${value}`}.`}${move.slip ? " Mistake: this gives up a better result." : ""}`;
  }

  // ---- Everything around it -----------------------------------------------------------------------------
  // What there is to say: a heading, and what is known.
  function described(moves, prospects) {
    if (state.me && over()) {
      const how = state.resigned ? `${name} resigns: you win` : winner() ? (winner() === state.me ? "You win" : "You lose") : "A draw";
      return [`${how} as ${state.me}`, verdict(reviewed())];
    }
    if (winner()) return [`${winner()} has won`, ""];
    if (!moves.length) return ["A draw", ""];
    const heading = !state.me ? `${mover(here())} to move` : mine() ? `Your move, as ${state.me}` : `${name} thinks`;
    const best = most(moves, "score"), good = moves.filter((move) => move.score === best.score);
    if (state.aid === "hint") return [heading, `Best: ${cellsOf(good, moves, "any, all are worth the same")}. ${reading(moves)}`];
    if (state.aid === "beat") return [heading, advice(moves, prospects)];
    if (state.me) return [heading, ""];
    const slips = moves.filter((move) => move.slip).reduce((sum, move) => sum + move.chance, 0);
    let text = `Perfect play: ${best.result === 0 ? "a draw" : `${mover(here())} ${best.result > 0 ? "wins" : "loses"}${distance(best)}`}.`;
    if (moves.every((move) => move.chance === 0)) text += ` ${name} resigns here.`;
    else if (game.strange(here())) text += ` ${name} ${moves[0].chance === null ? "never gets here and was not asked" : "knows nothing of this position"}.`;
    else if (slips > 0) text += slips > 0.9995 ? ` ${name} always goes wrong here.` : ` ${name} goes wrong here ${percent(slips)} of the time.`;
    return [heading, text];
  }
  function reading(moves) {
    const far = data.whole && most(moves.filter((move) => move.result && move.plies > 1), "score");
    return far ? `\u201c${worth(far)}\u201d: with perfect play you ${far.result > 0 ? "win" : "lose"} in ${far.plies} moves, both sides counted.` : "";
  }
  function advice(moves, prospects) {
    if (!prospects) return `Too much can still happen against ${name} to go through it all. Try again some moves later.`;
    const top = (key) => Math.max(...moves.map((move) => prospects.get(move.cell)[key]));
    const key = top("win") > 0 ? "win" : "save", best = top(key);
    if (!best) return `${name} wins from here, whatever you play.`;
    const good = moves.filter((move) => prospects.get(move.cell)[key] > best - 1e-9);
    const cellsInWords = cellsOf(good, moves, "any cell");
    const text = key === "win" ? `To beat ${name} play ${cellsInWords}: you then win ${percent(best)} of the games.`
      : `${name} cannot be beaten from here; ${cellsInWords} saves the draw${best > 0.99999 ? "" : ` in ${percent(best)} of the games`}.`;
    return `${text} In brackets: against perfect play.`;
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
  // What each move was worth.
  function reviewed() {
    const passed = trail(state.path);
    return state.path.map((cell, ply) => {
      const moves = movesOf(passed[ply]), before = Math.max(...moves.map((move) => move.result));
      const kept = moves.filter((move) => move.result === before), { result } = moves.find((move) => move.cell === cell);
      return { cell, ply, side: mover(passed[ply]), before, result, kept, choice: kept.length < moves.length, lost: result < before };
    });
  }
  const fault = (move) => `turned a ${word(move.before)} into a ${word(move.result)}; ${inWords(move.kept)} kept the ${word(move.before)}`;
  // What decided a game.
  function verdict(moves) {
    const left = state.resigned ? Math.max(...movesOf(here()).map((move) => move.result)) : -1;
    if (left > -1) return `${name} resigned what was still a ${word(left)}.`;
    const won = !state.resigned && winner(), lost = moves.filter((move) => move.lost);
    const deciding = lost.findLast((move) => !won || (move.side !== won && move.result < 0));
    return deciding ? `Move ${deciding.ply + 1}, ${deciding.side} on ${deciding.cell + 1}, ${fault(deciding)}.` : "No move gave anything away.";
  }
  // The accuracy of a side: the moves where there was something to lose that kept it.
  function drawReview(moves) {
    const accuracy = (side) => {
      const choices = moves.filter((move) => move.side === side && move.choice), kept = choices.filter((move) => !move.lost).length;
      return choices.length ? `${kept} of ${choices.length} (${percent(kept / choices.length)})` : "had no such move";
    };
    byId("accuracy").textContent = `Accuracy where it mattered: you ${accuracy(state.me)}; ${name} ${accuracy(other())}.`;
    byId("reviewed").replaceChildren(...moves.map((move) => {
      const text = move.lost ? fault(move) : move.choice && move.kept.length === 1 ? "the only move" : word(move.result);
      const link = make("a", { href: "#" + trail(state.path)[move.ply] }, make("b", {}, `${move.side} ${move.cell + 1}`), make("span", {}, text));
      if (move.lost) link.className = "slip";
      return make("li", {}, link);
    }));
  }
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
  const LISTED = 100;
  byId("mistakes").append(...game.mistakes.slice(0, LISTED).map(({ text, cell, move, reach }) => {
    const best = word(Math.max(...movesOf(text).map((one) => one.result))), result = word(move ? move.result : -1);
    const what = make("span", {}, make("b", {}, `${mover(text)} ${move ? `plays ${cell + 1}` : "resigns"}`), ": ",
      make("span", { class: best }, best), make("span", { "aria-hidden": "true" }, " \u2192 "),
      make("span", { class: "unseen" }, " becomes "), make("span", { class: result }, result),
      make("small", {}, `${move ? percent(move.chance) : "always"} here; in ${percent(reach)} of its games against random play`));
    return make("li", {}, make("a", { href: "#" + text }, miniature(text, cell), what));
  }));
  byId("mistakes-count").textContent = !game.mistakes.length ? "None: in its own games it never gives up a better result."
    : `It can give up a better result in ${counted(data.mistaken, "position")} of its own games. ` +
      `Those that differ only by turning or mirroring the board are listed once${game.mistakes.length > LISTED ? `, the worst ${LISTED}` : ""}.`;

  const announce = (text) => { byId("live").textContent = text; };
  // Draw the state.
  function render() {
    const playing = Boolean(state.me), unsaid = playing && { chance: null, value: null, slip: false }; // what it would do itself
    const moves = movesOf(here()).map((move) => ({ ...move, ...unsaid }));
    const prospects = state.aid === "beat" ? game.beating(here()) : null;
    const [turn, outlook] = described(moves, prospects);
    byId("turn").textContent = turn;
    byId("outlook").textContent = outlook;
    document.body.classList.toggle("at-play", playing);
    for (const button of byId("mode").children) press(button, button.dataset.mode === state.me);
    drawBoard(moves, prospects);
    byId("review").hidden = !playing || !over();
    byId("undo").disabled = staying() < 0;
    if (playing) {
      if (over()) drawReview(reviewed());
      byId("help").disabled = byId("beat").disabled = !mine();
      press(byId("help"), state.aid === "hint");
      press(byId("beat"), state.aid === "beat");
      byId("score").textContent = `You ${state.won}, ${name} ${state.lost}, drawn ${state.drawn}`;
    } else {
      drawPath();
      for (const link of byId("mistakes").querySelectorAll("a")) mark(link, "aria-current", link.hash === "#" + here());
      byId("agent").disabled = !moves.some((move) => move.chance > 0);
      byId("perfect").disabled = !moves.length;
    }
    document.title = playing || here() === start ? name : `${here()} \u00b7 ${name}`;
    const ply = state.path.length - 1;
    announce(`${ply >= 0 && !state.aid ? `${"XO"[ply % 2]} took cell ${state.path[ply] + 1}. ` : ""}${turn}. ${outlook}`);
  }

  // ---- Keys and buttons ---------------------------------------------------------------------------------
  const step = (cell, down, right) => {
    const row = Math.floor(cell / cols) + down, col = (cell % cols) + right;
    return row < 0 || row >= rows || col < 0 || col >= cols ? cell : row * cols + col;
  };
  const arrows = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const actions = {
    again: () => begin(other()), undo: () => go(state.path.slice(0, staying())), help: () => help("hint"), beat: () => help("beat"),
    agent: () => play(most(movesOf(here()), "chance").cell), perfect: () => play(most(movesOf(here()), "score").cell),
  };
  // The button that is seen and names this key.
  const named = (key) => [...document.querySelectorAll(".buttons button")].find((button) =>
    button.offsetParent && button.querySelector("kbd").textContent === (key === "Backspace" ? "U" : key.toUpperCase()));
  let typed = ""; // the digits of a cell, while they gather on a board of more than nine
  document.addEventListener("keydown", (event) => {
    if (event.key === "Shift") return; // which types digits on some keyboards
    if (!/^[0-9]$/.test(event.key)) typed = "";
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const focused = buttons.indexOf(document.activeElement), { key } = event;
    if (arrows[key]) {
      if (focused < 0 && document.activeElement !== document.body) return;
      const from = buttons.findIndex((button) => button.tabIndex === 0);
      buttons[focused < 0 ? from : step(focused, ...arrows[key])].focus();
    } else if (/^[0-9]$/.test(key)) {
      typed = [cells > 9 ? typed + key : key, key].find((text) => Number(text) >= 1 && Number(text) <= cells) || "";
      if (typed && cells > 9) buttons[typed - 1].focus(); // Enter plays it
      else if (typed) play(typed - 1);
    } else if (named(key)) named(key).click();
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
})();
