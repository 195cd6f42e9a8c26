// A player in JavaScript: ttt evaluate 'exec:node examples/bot.js'
// It reads one position per line, such as X...O...., and answers each with the cell to play, from 1 to 9.
const LINES = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]];
const PREFERRED = [4, 0, 2, 6, 8, 1, 3, 5, 7]; // the centre, then corners, then edges

/** The first cell with which this side completes a line, if there is one. */
function completing(board, stone) {
  for (const line of LINES) {
    const free = line.filter((cell) => board[cell] === ".");
    if (free.length === 1 && line.filter((cell) => board[cell] === stone).length === 2) return free[0];
  }
}

/** Win, else block, else take the cell it likes best. */
function choose(board) {
  const taken = [...board].filter((symbol) => symbol !== ".").length;
  const [mine, theirs] = taken % 2 ? ["O", "X"] : ["X", "O"];
  const cell = completing(board, mine) ?? completing(board, theirs);
  return (cell ?? PREFERRED.find((preferred) => board[preferred] === ".")) + 1;
}

require("readline")
  .createInterface({ input: process.stdin })
  .on("line", (text) => process.stdout.write(`${choose(text.trim())}\n`));
