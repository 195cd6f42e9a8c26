/* The yardstick of kernels.py: the same game work as the default of ttt_cli/learners/q.py, by hand.

   Scalar C in double precision for the usual board: epsilon-greedy self-play on one table, the same target
   and step sizes, visit counts, the best move of each position kept up to date, the moves written down.
   Nothing else: no fixed opponents, its own random numbers (xoshiro256**, Blackman and Vigna, 2018). */

#include <stdint.h>
#include <string.h>

enum { CELLS = 9, CHUNK = 4096, RARE = 64 };

static uint64_t state[4];
static int8_t moves[CHUNK][CELLS];

static inline uint64_t rotate(uint64_t x, int k) { return x << k | x >> (64 - k); }

static inline double uniform(void) {
    const uint64_t result = rotate(state[1] * 5, 7) * 9, t = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= t;
    state[3] = rotate(state[3], 45);
    return (double)(result >> 11) * 0x1p-53;
}

/* Play games number first to first + games - 1 of a run and learn from each.

   number, after: the legal moves of each position, packed to the left; top, choice: the largest value of each
   position and where it is; results: games won by O, drawn, won by X. */
void play(int64_t first, int64_t games, uint64_t seed, double gamma, double slips, double epsilon,
          double settling, double alpha, double pace, const int8_t *number, const uint32_t (*after)[CELLS],
          const int8_t *ends, double (*values)[CELLS], int64_t (*visits)[CELLS], double *top, uint8_t *choice,
          int64_t *results) {
    const double worst = gamma * (1 - slips);
    double mean[CELLS + 1], exploring = 1, stretch = 1;
    uint32_t path[CELLS];
    uint8_t played[CELLS];
    for (int free = 1; free <= CELLS; free++) mean[free] = gamma * slips / free;
    for (int i = 0; i < 4; i++) { /* SplitMix64 */
        uint64_t z = seed += 0x9E3779B97F4A7C15u;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
        z = (z ^ z >> 27) * 0x94D049BB133111EBu;
        state[i] = z ^ z >> 31;
    }
    for (int64_t game = 0; game < games; game++) {
        if (game % CHUNK == 0) {
            exploring = settling / (settling + (double)(first + game));
            if (exploring < epsilon) exploring = epsilon;
            stretch = (1 - 0x1p-50) / exploring;
        }
        int8_t *const written = memset(moves[game % CHUNK], -1, CELLS);
        uint32_t at = 0;
        int ply = 0, free;
        while ((free = number[at])) {
            const double luck = uniform();
            int option = choice[at];
            if (luck < exploring) { /* any move, or the one made least often */
                option = (int)(luck * stretch * free);
                if (visits[at][option] < RARE) for (int i = 0; i < free; i++)
                    if (visits[at][i] < visits[at][option]) option = i;
            }
            written[ply] = (int8_t)option;
            path[ply] = at;
            played[ply++] = (uint8_t)option;
            at = after[at][option];
        }
        results[ends[at] + 1]++;
        double target = -top[at];
        while (ply--) {
            at = path[ply];
            free = number[at];
            const int option = played[ply];
            double step = pace / (pace - 1 + (double)++visits[at][option]);
            if (step < alpha) step = alpha;
            const double value = values[at][option] += step * (target - values[at][option]);
            if (value > top[at] || (value == top[at] && option < choice[at])) {
                top[at] = value;
                choice[at] = (uint8_t)option;
            } else if (value < top[at] && option == choice[at]) {
                int best = 0;
                for (int i = 1; i < free; i++)
                    if (values[at][i] > values[at][best]) best = i;
                top[at] = values[at][best];
                choice[at] = (uint8_t)best;
            }
            if (ply == 0) break;
            double least = top[after[at][0]], total = least;
            for (int i = 1; i < free; i++) {
                const double worth = top[after[at][i]];
                total += worth;
                if (worth < least) least = worth;
            }
            target = worst * least + mean[free] * total;
        }
    }
}
