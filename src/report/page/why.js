// Everything that speaks for or against the chosen line.

function section(title, ...children) {
  return el('section', null, el('h3', null, title), children);
}

// Two bars, of failing and of passing runs that cover something.
function duel(ef, failing, ep, passing) {
  const bar = (kind, n, all) => {
    const fill = el(`i.fill.${kind}`);
    fill.style.width = `${all ? 100 * n / all : 0}%`;
    return el('span.half', null, el('span.track', null, fill),
      el(`b.${kind}`, null, `${n}/${all} ${kind === 'f' ? '✗' : '✓'}`));
  };
  return el('div.duel', null, bar('f', ef, failing), bar('p', ep, passing));
}

function testChip(t) {
  const test = head.tests[t];
  return el(`button.chip.${test[VERDICT]}`,
    { type: 'button', 'aria-pressed': state.test === t ? 'true' : 'false',
      title: `${test[VERDICT]}: ${test[COMMAND] || test[NAME]}`, onclick: () => chooseTest(t) },
    test[VERDICT] === 'fail' ? '✗ ' : test[VERDICT] === 'pass' ? '✓ ' : '? ', test[NAME]);
}

function chips(tests, most) {
  const box = el('div.chips', null, tests.slice(0, most).map(testChip));
  if (tests.length > most)
    box.append(el('button.chip.more', { type: 'button',
      onclick: (e) => e.target.replaceWith(...tests.slice(most, most + 2000).map(testChip)) },
    `${(tests.length - most).toLocaleString('en')} more`));
  return box;
}

function testsSection(s) {
  const tests = testsOf(s);
  if (!head.cls[s]) return section('Tests', el('p', null, 'No run executes this line.'));
  if (!tests)
    return section('Tests', el('p.loud', null,
      'The tests of this line are not in this page: it would be too large. culprit why has them.'));
  const of = (verdict) => tests.filter((t) => head.tests[t][VERDICT] === verdict);
  const failing = of('fail'), passing = of('pass');
  const other = tests.filter((t) => !['fail', 'pass'].includes(head.tests[t][VERDICT]));
  return section('Tests that execute it',
    el('p', null, `${plural(failing.length, 'failing test')}, ${passing.length} passing`
      + (other.length ? `, ${other.length} left out` : '') + '. Choose one to see its path.'),
    chips(failing, 24), chips(passing, 24), chips(other, 8));
}

function evidenceSection(r, i) {
  const told = r.why[i] && r.why[i].filter((e) => e.kind !== 'try'); // triedSection has them
  if (!told) return null;
  return section('Evidence', el('ul.evidence', null,
    told.map((e) => el('li', null, el('span.kind', null, e.kind), ' ', e.text))));
}

function tuplesSection(s) {
  const r = ranking(state.failure, 0);
  const mine = r && r.tuples ? r.tuples.filter((t) => t[0] === s) : [];
  if (!mine.length) return null;
  const tells = (t) => Math.abs(t[1] / (t[4] || 1) - t[2] / (t[5] || 1));
  mine.sort((a, b) => tells(b) - tells(a));
  return section('Conditions, values and where they go',
    mine.slice(0, 12).map((t) => el('div.tuple', null, el('p', null, t[3]),
      duel(t[1], t[4], t[2], t[5]))));
}

function methodsSection(s) {
  const rows = head.methods.map((m, k) => {
    const r = m.reason ? null : ranking(state.failure, k);
    const i = r ? r.place[s] : -1;
    const fill = el('i.fill');
    fill.style.width = i >= 0 ? `${10 * hue(r, i)}%` : '0';
    return el('tr', { title: m.reason || m.doc, 'aria-current': k === state.method ? 'true' : false },
      el('th', null, m.name),
      el('td', null, m.reason ? '–' : i >= 0 ? rankText(r, i) : r && r.of.length < r.total
        ? `> ${r.of.length}` : 'not listed'),
      el('td.track-cell', null, el(`span.track.h${i >= 0 ? hue(r, i) : 0}`, null, fill)));
  });
  return section('Rank by each method', el('table.methods', null, el('tbody', null, rows)));
}

function lineLinks(list, all) {
  const box = el('div.links', null, list.slice(0, 30).map((s) => el('button.link',
    { type: 'button', onclick: () => choose(s) }, `${baseName(pathOf(head.file[s]))}:${head.line[s]}`)));
  if (all > 30) box.append(` and ${all - 30} more`);
  return box;
}

function nearestSection() {
  const n = head.failures[state.failure].nearest;
  if (!n) return section('Nearest passing test', el('p', null, 'No passing test has a spectrum to compare.'));
  const differ = (key, who) => (n[`${key}_all`]
    ? [el('p', null, `Only the ${who} one executes ${plural(n[`${key}_all`], 'line')}:`),
       lineLinks(n[key], n[`${key}_all`])]
    : el('p', null, `The ${who} one executes nothing that the other does not.`));
  return section('Nearest passing test',
    el('p', null, `${(100 * n.similarity).toFixed(1)} % of the lines in common: `),
    el('div.chips', null, testChip(n.failing), testChip(n.passing)),
    differ('only_failing', 'failing'), differ('only_passing', 'passing'));
}

// What `culprit near` found for this failure, if it was run.
function nearSection() {
  const near = head.failures[state.failure].near;
  if (!near) return null;
  return section('Nearest passing run', el('p', null, 'It passes with ', el('code', null, near.command)),
    el('p', null, `${plural(near.branches.length, 'branch').replace('branchs', 'branches')} went the other way there:`),
    el('ul.evidence', null, near.branches.map(([s, where, text]) => el('li', null,
      s >= 0 ? el('button.link', { type: 'button', onclick: () => choose(s) }, where) : where, ` ${text}`))));
}

// What `culprit try` found for this failure, if it was run.
function diffBlock(diff) {
  let inside = false;
  return el('pre.diff', null, diff.replace(/\n$/, '').split('\n').map((line) => {
    inside = inside || line.startsWith('@@');
    const kind = !inside || '@\\'.includes(line[0]) ? '.soft'
      : line[0] === '+' ? '.add' : line[0] === '-' ? '.del' : '';
    return el(`span.l${kind}`, null, line);
  }));
}

function triedSection(s) {
  const tried = head.failures[state.failure].tried;
  if (!tried) return null;
  const here = tried.changes.filter((c) => c[0] === s);
  const n = tried.lines.filter((l) => l[0] === s).reduce((sum, l) => sum + l[1], 0);
  if (!here.length)
    return section('Changes tried', el('p', null, n
      ? `No small change here repairs a failing test (${n} tried).` : 'No change was tried here.'));
  const all = tried.changes.filter((c) => c[1]).length;
  return section('Changes tried', el('p', null, 'Hints: whether a change is right, the tests cannot tell.',
    all > 1 ? ` ${all} changes pass all tests; they are alternatives.` : ''),
  el('ul.changes', null, here.map(([, survives, text, diff]) =>
    el(survives ? 'li.survives' : 'li', null, text, diff ? diffBlock(diff) : null))),
  tried.question ? el('p', null, tried.question) : null);
}

// What `culprit spec` found, if it was given.
function coreSection(s) {
  const core = head.core;
  if (!core) return null;
  const names = core.violated.join(', ');
  return section('Broken contract',
    el('p', null, core.lines.includes(s) ? el('b', null, '◆ In the core: ') : 'Not in the core: ',
      `these lines cannot hold together with ${names}:`), lineLinks(core.lines, core.lines.length));
}

function fragmentSection(s) {
  const mine = head.failures[state.failure].places.filter((p) => p[0] === s);
  if (!mine.length) return null;
  return section('In the output',
    mine.map((p) => el('p.fragment', null, `${p[3]}: `, el('mark', null, p[4]))),
    el('button.link', { type: 'button', onclick: () => tabs.show('page') }, 'show the page'));
}

const why = {
  make() {
    this.body = el('div.scroll');
    return el('section.panel.why', { 'aria-label': 'why' },
      el('header', null, el('h2', null, 'Why this line')), this.body);
  },
  refresh() {
    clear(this.body);
    const s = state.statement;
    if (s < 0) {
      this.body.append(el('p.none', null, 'No line is chosen.'));
      return;
    }
    const r = ranking(state.failure, state.method), i = r ? r.place[s] : -1;
    this.body.append(
      el('div.lead', null, locationOf(s),
        el('span.function', null, head.functions[head.fn[s]]),
        i >= 0 ? el('p', null, el(`b.big.h${hue(r, i)}.b${light(r, i)}`, null,
          `${glyph(hue(r, i))} ${rankText(r, i)}`), ` of ${r.total.toLocaleString('en')}, score ${scoreText(r.score[i])}`)
          : el('p', null, 'Not in this ranking.'),
        i >= 0 ? duel(r.ef[i], r.failing, r.ep[i], r.passing) : null));
    const parts = [triedSection(s), i >= 0 ? evidenceSection(r, i) : null, coreSection(s), fragmentSection(s), tuplesSection(s),
      testsSection(s), methodsSection(s), nearSection(), nearestSection()];
    this.body.append(...parts.filter(Boolean));
  },
};
