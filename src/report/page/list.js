// The ranked list: a row per suspect, made when it comes into sight.

// The line to look at: of a failing page or query the one that holds what is
// blamed, which may be inside a string of several lines.
function lineOf(s) {
  const f = head.failures[state.failure];
  const at = f && f.places.find(([statement]) => statement === s);
  return at ? at[2] : head.line[s];
}

function locationOf(s) {
  const path = pathOf(head.file[s]), base = baseName(path), line = lineOf(s);
  return el('span.place', { title: `${path}:${line}` },
    el('span.dir', null, path.slice(0, path.length - base.length)),
    el('b', null, `${base}:${line}`));
}

const shownText = (s) => sourceOf(head.file[s])[lineOf(s) - 1] || '';

function suspectRow(r, i) {
  const s = r.of[i], h = hue(r, i), b = light(r, i);
  const low = Math.min(r.score[r.score.length - 1], 0);
  const share = r.score[0] > low ? (r.score[i] - low) / (r.score[0] - low) : 1;
  const fill = el('i.fill');
  fill.style.width = `${Math.max(2, 100 * share)}%`;
  return el(`div.row.suspect.h${h}.b${b}`,
    { role: 'option', 'aria-selected': state.statement === s ? 'true' : 'false',
      'data-line': place(s), onclick: () => choose(s) },
    el('span.rank', null, el('i.glyph', null, glyph(h)), rankText(r, i)),
    el('span.where', null, locationOf(s),
      el('span.function', null, head.functions[head.fn[s]])),
    el('code', null, shownText(s).trim() || '(source not available)'),
    el('span.numbers', null,
      el('span.score', { title: 'score' }, el('i.bar', null, fill), scoreText(r.score[i])),
      el('span.runs', { title: 'failing and passing runs that execute it' },
        el('b.f', null, `${r.ef[i]}/${r.failing}`), ' ✗ ',
        el('b.p', null, `${r.ep[i]}/${r.passing}`), ' ✓')));
}

const list = {
  make() {
    this.filter = el('input', { type: 'search', placeholder: 'filter', title: 'file or function',
      'aria-label': 'filter suspects', oninput: () => this.refresh() });
    this.changed = el('input', { type: 'checkbox', onchange: () => this.refresh() });
    this.only = el('label', { title: 'changed since the version of --since, or depends on such a line' },
      this.changed, ' changed');
    this.count = el('span.count');
    this.scroll = el('div.scroll', { role: 'listbox', tabindex: '0', 'aria-label': 'suspects' });
    this.rows = new Rows(this.scroll, 76, (i) => suspectRow(this.r, this.shown[i]));
    return el('section.panel.ranking', { 'aria-label': 'ranking' },
      el('header', null, el('h2', null, 'Suspects'), this.count, this.only, this.filter), this.scroll);
  },
  refresh() {
    this.r = ranking(state.failure, state.method);
    const words = this.filter.value.toLowerCase().trim();
    this.shown = [];
    const n = this.r ? this.r.of.length : 0;
    const why = (this.r && this.r.why) || [];
    const isChanged = (i) => (why[i] || []).some((e) => e.kind === 'since');
    this.only.hidden = !why.some((e, i) => isChanged(i));
    const only = !this.only.hidden && this.changed.checked;
    for (let i = 0; i < n; i++) {
      const s = this.r.of[i];
      if (only && !isChanged(i)) continue;
      if (!words || place(s).toLowerCase().includes(words) ||
          head.functions[head.fn[s]].toLowerCase().includes(words))
        this.shown.push(i);
    }
    this.count.textContent = n
      ? `${this.shown.length.toLocaleString('en')} of ${this.r.total.toLocaleString('en')} lines`
      : 'nothing ranked';
    this.rows.show(this.shown.length);
  },
  // The next or previous suspect of those shown.
  step(by) {
    if (!this.shown.length) return;
    const at = this.r.place[state.statement];
    let i = this.shown.indexOf(at);
    i = i < 0 ? 0 : Math.min(this.shown.length - 1, Math.max(0, i + by));
    choose(this.r.of[this.shown[i]]);
  },
  reveal() {
    const i = this.r ? this.shown.indexOf(this.r.place[state.statement]) : -1;
    if (i >= 0) this.rows.reveal(i);
    else this.rows.draw();
  },
};
