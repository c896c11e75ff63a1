/*@ predicate tokens_ok(const char *text, Token *out, integer n) =
      \forall integer i; 0 <= i < n ==>
        out[i].length > 0 &&
        (i == 0 || token_reaches(text, &out[i - 1], &out[i])) &&
        token_kind_fits(text, &out[i]) && token_line_fits(text, &out[i]); */

/*@ requires text_ok: \valid(text) && \valid(out) && max > 0;
    ensures ok: 0 <= \result <= max && tokens_ok(text, out, \result); */
int tokenize(const char *text, Token *out, int max);
