/* Reads rows from standard input and writes, for each, its label, scores and latent coordinates.
 *
 *     supred export iris.supred --to c --out model.h
 *     gcc -std=c99 -O2 -Wall -Wextra -Werror main.c -lm -o model
 *     ./model < rows.csv
 *
 * A line holds the numbers of a row, then its texts, with commas between them. An empty number
 * is a gap. Numbers of the answer have nine digits, enough to tell any two floats apart.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

enum { LINE = 1 << 18, N_FIELDS = MODEL_N_NUMBERS + MODEL_N_TEXTS };

static char line[LINE];

/* Cut the line at its commas; return the number of fields. */
static int fields_of(char *text, char **fields)
{
    int n = 0;
    text[strcspn(text, "\r\n")] = 0;
    for (;;) {
        if (n < N_FIELDS) fields[n] = text;
        n++;
        text = strchr(text, ',');
        if (!text) return n;
        *text++ = 0;
    }
}

int main(void)
{
    static char *fields[N_FIELDS];
    static float row[MODEL_N_NUMBERS + 1];
    float latent[MODEL_N_LATENT], scores[MODEL_N_SCORES];

    for (long number = 1; fgets(line, LINE, stdin); number++) {
        if (fields_of(line, fields) != N_FIELDS) {
            fprintf(stderr, "line %ld does not have %d fields\n", number, N_FIELDS);
            return 1;
        }
        for (int i = 0; i < MODEL_N_NUMBERS; i++) {
            char *end;
            row[i] = *fields[i] ? strtof(fields[i], &end) : NAN;
            if (*fields[i] && *end) {
                fprintf(stderr, "line %ld: '%s' is not a number\n", number, fields[i]);
                return 1;
            }
        }
#if MODEL_N_TEXTS > 0
        int class = model_predict(row, (const char *const *)fields + MODEL_N_NUMBERS, latent, scores);
#else
        int class = model_predict(row, latent, scores);
#endif
        if (class < 0) {
            fprintf(stderr, "line %ld holds a number that is missing or not finite\n", number);
            return 1;
        }
        printf("%s", model_label(class));
        for (int k = 0; k < MODEL_N_SCORES; k++) printf(",%.9g", (double)scores[k]);
        for (int k = 0; k < MODEL_N_LATENT; k++) printf(",%.9g", (double)latent[k]);
        printf("\n");
    }
    return 0;
}
