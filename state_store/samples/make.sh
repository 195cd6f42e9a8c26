#!/bin/sh
# Remakes the samples, except stranger.json and games.csv; run it in this folder.
set -eu
rm -f q.json td.json graph.json menace.json ntuple.json book.csv games.jsonl
ttt train q --games 20 --seed 1 -o q.json --quiet
ttt train td --games 20 --seed 1 -o td.json --quiet
ttt train graph --games 20 --seed 1 -o graph.json --quiet
ttt train menace --games 20 --seed 1 -o menace.json --quiet
ttt train ntuple --games 20 --seed 1 -o ntuple.json --quiet
ttt train book --games 20 --seed 1 -o book.csv --quiet
ttt export q.json --format q-table -o q-table.json
ttt export td.json --format value-table -o value-table.csv
ttt export graph.json --format state-action -o state-action.json
ttt export book.csv --format moves-csv -o moves.csv
ttt evaluate random heuristic --games 4 --seed 1 --games-to games.jsonl
