#!/bin/sh
# Makes every sample anew; run it here. The same bytes each time.
set -eu
ttt train q --games 20 --seed 1 --fresh -o q.json --quiet
ttt train td --games 20 --seed 1 --fresh -o td.json --quiet
ttt train graph --games 20 --seed 1 --fresh -o graph.json --quiet
ttt train menace --games 20 --seed 1 --fresh -o menace.json --quiet
ttt train ntuple --games 20 --seed 1 --fresh -o ntuple.json --quiet
ttt train book --games 20 --seed 1 --fresh -o book.csv --quiet
ttt export q.json --format q-table -o q-table.json
ttt export td.json --format value-table -o value-table.csv
ttt export graph.json --format state-action -o state-action.json
ttt export book.csv --format moves-csv -o moves.csv
ttt evaluate random heuristic --games 4 --seed 1 --games-to games.jsonl
