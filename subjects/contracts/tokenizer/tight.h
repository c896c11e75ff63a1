/*@ requires text_ok: \valid(text) && \valid(out) && max > 0;
    ensures count_ok: 0 <= \result <= max;
    ensures length_ok: \forall integer i; 0 <= i < \result ==>
      out[i].length > 0;
    ensures order_ok: \forall integer i; 1 <= i < \result ==>
      out[i - 1].start + out[i - 1].length <= out[i].start;
    ensures kind_ok: \forall integer i; 0 <= i < \result ==>
      token_kind_fits(text, &out[i]);
    ensures line_ok: \forall integer i; 0 <= i < \result ==>
      token_line_fits(text, &out[i]);
    ensures gap_ok: \forall integer i; 1 <= i < \result ==>
      token_reaches(text, &out[i - 1], &out[i]); */
int tokenize(const char *text, Token *out, int max);
