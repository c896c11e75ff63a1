// Tests against suspects: a row per test, a column per place in the list.

const COLUMNS = 24;

const matrix = {
  make() {
    this.head = el('div.matrix-head');
    this.scroll = el('div.scroll', { tabindex: '0', 'aria-label': 'tests' });
    this.rows = new Rows(this.scroll, 24, (i) => this.row(i));
    this.note = el('span.count');
    this.find = el('input', { type: 'search', placeholder: 'filter tests', 'aria-label': 'filter tests',
      oninput: () => this.refresh() });
    return el('section.view.matrix', { 'aria-label': 'tests' },
      el('header', null, el('h2', null, 'Tests × suspects'), this.note, this.find),
      this.head, this.scroll);
  },
  // Failing ones of this failure first, then other failing ones, then the rest.
  order() {
    const mine = new Set(head.failures.length ? head.failures[state.failure].tests : []);
    const words = this.find.value.toLowerCase().trim();
    const weight = (t) => (mine.has(t) ? 0 : head.tests[t][VERDICT] === 'fail' ? 1
      : head.tests[t][VERDICT] === 'pass' ? 2 : 3);
    return head.tests.map((_, t) => t)
      .filter((t) => !words || `${head.tests[t][NAME]} ${head.tests[t][COMMAND]}`.toLowerCase().includes(words))
      .sort((a, b) => weight(a) - weight(b) || a - b);
  },
  // The best suspect of each set of tests: lines that the same tests execute
  // would be the same column again.
  columns(r) {
    const seen = new Map();
    for (let i = 0; r && i < r.of.length && i < 2000; i++) {
      const c = head.cls[r.of[i]];
      if (seen.has(c)) seen.get(c).lines.push(r.of[i]);
      else if (seen.size < COLUMNS) seen.set(c, { s: r.of[i], i, lines: [r.of[i]], tests: testsOfClass(c) });
    }
    return [...seen.values()];
  },
  row(i) {
    const t = this.tests[i], test = head.tests[t];
    const cells = this.cols.map((c) => {
      const took = c.tests && includes(c.tests, t);
      return el(`i.cell${took ? `.on.${test[VERDICT] === 'fail' ? 'f' : 'p'}` : ''}`, null, took ? '■' : '·');
    });
    return el(`div.row.test.${test[VERDICT]}`,
      { title: test[COMMAND] || test[NOTE] || false, 'aria-current': state.test === t ? 'true' : false,
        onclick: () => chooseTest(t) },
      el('span.verdict', null, test[VERDICT] === 'fail' ? '✗' : test[VERDICT] === 'pass' ? '✓' : '?'),
      el('b', null, test[NAME]),
      el('span.cells', null, cells),
      el('span.command', null, typed(test[COMMAND]) || test[NOTE]),
      test[SPECTRUM] ? null : el('span.loud', { title: test[NOTE] || 'it left no spectrum' }, 'no spectrum'));
  },
  refresh() {
    if (tabs.now !== 'tests') return;
    const r = ranking(state.failure, state.method);
    this.cols = this.columns(r);
    this.tests = this.order();
    this.note.textContent = `${plural(this.tests.length, 'test')}; columns: suspects, best first; lines that the same tests execute share one`;
    this.head.replaceChildren(el('b', null, 'test'), el('span.cells', null, this.cols.map((c) =>
      el(`button.cell.h${hue(r, c.i)}.b${light(r, c.i)}`, { type: 'button',
        title: `rank ${rankText(r, c.i)}: ${c.lines.slice(0, 12).map(place).join(', ')}${c.lines.length > 12 ? ' ...' : ''}`,
        'aria-pressed': c.lines.includes(state.statement) ? 'true' : 'false',
        onclick: () => choose(c.s) }, r.rank[c.i] < 100 ? r.rank[c.i] : '·'))));
    const longest = this.tests.reduce((most, t) => Math.max(most, head.tests[t][NAME].length), 4);
    this.head.parentNode.style.setProperty('--name', `${Math.min(longest, 24)}ch`);
    this.rows.show(this.tests.length);
  },
};
