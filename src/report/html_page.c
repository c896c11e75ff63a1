// The HTML report as a whole: its frame, and what its parts share. See html_page.h.
#include "report/html_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/escape.h"

// --- text and data ----------------------------------------------------------

static void put_plain(const char *text, size_t n, FILE *out) {
  for (size_t i = 0; i < n; i++) {
    switch (text[i]) {
      // clang-format off
    case '&': fputs("&amp;", out); break;
    case '<': fputs("&lt;", out); break;
    case '>': fputs("&gt;", out); break;
    case '"': fputs("&quot;", out); break;
    case '\'': fputs("&#39;", out); break;
    default: fputc(text[i], out);
      // clang-format on
    }
  }
}

void html_text_n(const char *text, size_t n, FILE *out) {
  for (size_t i = 0; i < n;) {
    Glyph g = glyph_at(text + i, n - i);
    if (text[i] == '\t')
      fputc('\t', out);
    else
      put_plain(g.text, strlen(g.text), out);
    i += g.bytes;
  }
}

void html_text(const char *text, FILE *out) {
  html_text_n(text, strlen(text), out);
}

FILE *html_json_begin(HtmlJson *j) {
  j->json = open_memstream(&j->data, &j->size);
  if (!j->json)
    abort(); // out of memory
  return j->json;
}

// In JSON a "<" stands in strings only. Without one, no markup can end the
// element early.
void html_json_end(HtmlJson *j, const char *id, FILE *out) {
  fclose(j->json);
  fprintf(out, "<script type=\"application/json\" id=\"%s\">", id);
  const char *at = j->data, *end = j->data + j->size;
  while (at < end) {
    const char *next = memchr(at, '<', (size_t)(end - at));
    size_t n = next ? (size_t)(next - at) : (size_t)(end - at);
    fwrite(at, 1, n, out);
    if (next)
      fputs("\\u003c", out);
    at += n + (next != NULL);
  }
  fputs("</script>\n", out);
  free(j->data);
}

// --- listings ---------------------------------------------------------------

static void copy_evidence(EvidenceList *to, const Evidence *items, size_t n) {
  for (size_t i = 0; i < n; i++)
    array_push(to, (Evidence){items[i].kind, mem_strdup(items[i].text)});
}

void listing_keep(KeptListing *l, const HtmlReport *h, const Ranking *r,
                  size_t most, size_t explain) {
  size_t total = r->suspects.len, n = total < most ? total : most;
  *l = (KeptListing){.items = mem_array(Listed, n + 1),
                     .n = n,
                     .total = total,
                     .nevidence = n < explain ? n : explain,
                     .failing = r->failing,
                     .passing = r->passing,
                     .stand_in = r->stand_in};
  for (size_t i = 0; i < n; i++) {
    const Suspect *s = &r->suspects.items[i];
    l->items[i] =
        (Listed){s->entity,
                 s->rank_best,
                 s->rank,
                 s->ef,
                 s->ep,
                 s->score,
                 suspect_line(s, &h->report.suite->entities[s->entity])};
  }
  l->evidence = mem_array(EvidenceList, l->nevidence + 1);
  for (size_t i = 0; i < l->nevidence; i++)
    evidence_gather(h->report.suite, h->report.deaths, r, &r->suspects.items[i],
                    &l->evidence[i]);
  copy_evidence(&l->notes, r->notes.items, r->notes.len);
}

static void listing_release(KeptListing *l) {
  for (size_t i = 0; i < l->nevidence; i++)
    evidence_release(&l->evidence[i]);
  free(l->evidence);
  evidence_release(&l->notes);
  free(l->items);
}

void method_listing_release(MethodListing *m, size_t nfailures) {
  for (size_t i = 0; m->listings && i < nfailures; i++)
    listing_release(&m->listings[i]);
  free(m->listings);
  free(m->reason);
}

int html_hue(const Listed *s, size_t total) {
  if (total < 2)
    return 10;
  double rank = sqrt((double)s->rank_best * s->rank);
  return (int)lround(10 * (1 - log(rank) / log((double)total)));
}

int html_light(const Listed *s, const KeptListing *l) {
  double f = l->failing ? (double)s->ef / l->failing : 0;
  double p = l->passing ? (double)s->ep / l->passing : 0;
  return (int)ceil(4 * (f > p ? f : p));
}

// --- the page ---------------------------------------------------------------

static void put_policy(const HtmlReport *h, FILE *out) {
  const char *own = h->assets ? "'self'" : "'unsafe-inline'";
  fprintf(out,
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
          "'none'; script-src %s; style-src %s; img-src data:; base-uri "
          "'none'; form-action 'none'\">\n",
          own, own);
}

static void put_asset(const char *dir, const char *before, const char *name,
                      const char *after, FILE *out) {
  fputs(before, out);
  html_text(dir, out);
  fprintf(out, "/%s%s\n", name, after);
}

static void put_head(HtmlReport *h, FILE *out) {
  const Suite *suite = h->report.suite;
  fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
        "<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, "
        "initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n"
        "<meta name=\"generator\" content=\"culprit " CULPRIT_VERSION "\">\n",
        out);
  put_policy(h, out);
  size_t failing = report_verdicts(&h->report, VERDICT_FAIL);
  fprintf(out, "<title>culprit: %zu of %zu test%s fail%s</title>\n", failing,
          suite->nruns, plural(suite->nruns), verb_s(failing));
  if (h->assets)
    put_asset(h->assets, "<link rel=\"stylesheet\" href=\"", "report.css",
              "\">", out);
  else
    fprintf(out, "<style>\n%s</style>\n", html_css);
  fputs("</head>\n", out);
}

void html_write(HtmlReport *h, FILE *out) {
  put_head(h, out);
  fputs("<body>\n", out);
  html_static(h, out);
  html_data(h, out);
  if (h->assets)
    put_asset(h->assets, "<script src=\"", "report.js", "\"></script>", out);
  else
    fprintf(out, "<script>\n%s</script>\n", html_js);
  fputs("</body>\n</html>\n", out);
}
