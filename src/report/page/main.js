// The page at work: what is chosen, and everybody who shows it.

const state = {
  failure: 0,
  method: 0,
  statement: -1, // the chosen line
  test: -1, // the chosen test, or -1
  classes: null, // per class of statements: the chosen test executes it
};

function refreshAll() {
  bar.refresh();
  places.refresh();
  list.refresh();
  source.refresh();
  why.refresh();
  matrix.refresh();
  map.refresh();
  page.refresh();
}

function choose(s) {
  state.statement = s;
  list.reveal();
  source.reveal(s);
  why.refresh();
  matrix.refresh();
  page.refresh();
}

function chooseTest(t) {
  state.test = state.test === t ? -1 : t;
  state.classes = state.test < 0 ? null : classesOf(state.test);
  refreshAll();
  list.reveal();
}

// The first suspect, or none.
function chooseFirst() {
  const r = ranking(state.failure, state.method);
  state.statement = -1;
  refreshAll();
  if (r && r.of.length) choose(r.of[0]);
}

function chooseFailure(f) {
  state.failure = f;
  chooseFirst();
}

function chooseMethod(m) {
  state.method = m;
  refreshAll();
  if (state.statement >= 0) choose(state.statement);
  else chooseFirst();
}

// --- the bar above ----------------------------------------------------------------

function copyButton(text) {
  const button = el('button.copy', { type: 'button', title: 'copy', 'aria-label': 'copy' }, 'copy');
  button.addEventListener('click', () => {
    if (navigator.clipboard) navigator.clipboard.writeText(text);
    button.textContent = 'copied';
    setTimeout(() => { button.textContent = 'copy'; }, 900);
  });
  return button;
}

const bar = {
  make() {
    this.failures = el('select', { 'aria-label': 'failure', onchange: () => chooseFailure(Number(this.failures.value)) },
      failureOptions());
    this.methods = el('select', { 'aria-label': 'method', onchange: () => chooseMethod(Number(this.methods.value)) },
      head.methods.map((m, i) => el('option', { value: i, disabled: Boolean(m.reason), title: m.reason || m.doc },
        m.reason ? `${m.name} (needs more)` : m.name)));
    this.sure = el('details.sure');
    this.rerun = el('div.rerun');
    this.wrote = el('div.wrote');
    this.test = el('div.test-bar', { hidden: true });
    this.notes = el('div.rank-notes');
    return el('div.bar', null, places.make(),
      el('label', null, 'Failure', this.failures), el('label', null, 'Method', this.methods),
      this.sure, this.rerun,
      el('span.buttons', null,
        el('button', { type: 'button', id: 'theme', title: 'light or dark', onclick: theme }, '◐'),
        el('button', { type: 'button', id: 'help', title: 'keys', onclick: () => help.toggle() }, '?')),
      this.test, this.wrote, this.notes);
  },
  refresh() {
    this.methods.value = state.method;
    const f = head.failures[state.failure];
    if (!f) return;
    this.failures.value = state.failure;
    const dots = '●'.repeat(f.sure.level) + '○'.repeat(4 - f.sure.level);
    this.sure.className = `sure s${f.sure.level}`;
    this.sure.replaceChildren(
      el('summary', null, 'How sure: ', el('b', null, f.sure.word), ' ', el('span.dots', null, dots)),
      el('ul', null, f.sure.reasons.map(([kind, text]) => el(`li.${kind}`, null, text))));
    const command = f.tests.length ? head.tests[f.tests[0]][COMMAND] : '';
    this.rerun.replaceChildren(...(command
      ? [el('span', null, `test ${head.tests[f.tests[0]][NAME]} shows it: `), el('code', null, typed(command)), copyButton(command)]
      : []));
    this.wrote.replaceChildren(...this.output(f));
    this.refreshTest();
    const r = ranking(state.failure, state.method);
    const said = r ? r.notes.map((n) => n.text) : ['This failure could not be ranked: none of its runs has a usable spectrum, or there is no passing run to compare with.'];
    if (r && r.stand_in)
      said.unshift('No test passes: runs that fail in another way stand in for passing ones.');
    if (r && !r.of.length) said.unshift('This failure could not be ranked: there is nothing to compare.');
    this.notes.replaceChildren(...said.map((text) => el('p.notice.note', null, text)));
  },
  // The place that the message names, the lines that show the failure, and all.
  output(f) {
    const at = f.blamed && `${pathOf(f.blamed[0])}:${f.blamed[1]}`;
    return [
      at && el('p', null, 'the message names ', el('button.link.blamed',
        { type: 'button', onclick: () => { tabs.show('source'); source.reach(...f.blamed); } }, at)),
      (f.calls.length || f.loops.length) && el('ul.stack', null,
        ...f.calls.map((text) => el('li', null, text)),
        ...f.loops.map(([file, line, text]) => el('li', null, el('button.link',
          { type: 'button', onclick: () => { tabs.show('source'); source.reach(file, line); } }, text)))),
      f.excerpt && el('pre.words', null, f.excerpt),
      f.output && el('details.output', null, el('summary', null, 'All that the test wrote'),
        el('pre', null, f.output))].filter(Boolean);
  },
  refreshTest() {
    this.test.hidden = state.test < 0;
    if (state.test < 0) return;
    const test = head.tests[state.test];
    this.test.replaceChildren(
      el('span', null, 'Coloured: the lines that ', el(`b.${test[VERDICT]}`, null, `test ${test[NAME]}`),
        ` executes (${test[VERDICT]}). `), el('code', null, typed(test[COMMAND])),
      copyButton(test[COMMAND]),
      el('button', { type: 'button', onclick: () => chooseTest(state.test) }, 'all runs again (Esc)'));
  },
};

function theme() {
  const root = document.documentElement;
  const now = root.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  root.dataset.theme = now === 'dark' ? 'light' : 'dark';
  source.refresh();
}

// --- tabs ---------------------------------------------------------------------------

const tabs = {
  now: 'source',
  make() {
    const names = [['source', 'Source'], ['tests', `Tests (${head.tests.length.toLocaleString('en')})`], ['map', 'Map']];
    if (page.there()) names.push(['page', 'Page']);
    this.views = { source: source.make(), tests: matrix.make(), map: map.make(), page: page.make() };
    this.buttons = names.map(([id, text], i) => el('button', { type: 'button', role: 'tab', 'data-tab': id,
      title: `key ${i + 1}`, onclick: () => this.show(id) }, text));
    return el('section.panel.main', null,
      el('div.tabs', { role: 'tablist' }, this.buttons), el('div.views', null, Object.values(this.views)));
  },
  show(id) {
    this.now = id;
    for (const b of this.buttons) b.setAttribute('aria-selected', b.dataset.tab === id ? 'true' : 'false');
    // The page stands beside the source of what wrote it.
    for (const [name, view] of Object.entries(this.views))
      view.hidden = name !== id && !(id === 'page' && name === 'source');
    document.querySelector('.columns').classList.toggle('beside', id === 'page');
    matrix.refresh();
    map.refresh();
    page.refresh();
    if ((id === 'source' || id === 'page') && state.statement >= 0) source.reveal(state.statement);
  },
  number(n) {
    if (this.buttons[n - 1]) this.show(this.buttons[n - 1].dataset.tab);
  },
};

// --- keys ----------------------------------------------------------------------------

const KEYS = [['n, p', 'next, previous suspect'], ['f, F', 'next, previous failure'],
  ['m, M', 'next, previous method'], ['1 to 4', 'source, tests, map, page'],
  ['Esc', 'colours of all runs again'], ['/', 'filter'], ['?', 'this list']];

const help = {
  toggle() {
    if (!this.box) {
      this.box = el('dialog.help', null, el('h2', null, 'Keys'),
        el('dl', null, KEYS.map(([k, text]) => [el('dt', null, k), el('dd', null, text)])),
        el('form', { method: 'dialog' }, el('button', { type: 'submit' }, 'close')));
      document.body.append(this.box);
    }
    if (this.box.open) this.box.close();
    else this.box.showModal();
  },
};

function nextMethod(by) {
  const n = head.methods.length;
  for (let k = 1; k <= n; k++) {
    const m = (state.method + by * k + n * k) % n;
    if (!head.methods[m].reason) { chooseMethod(m); return; }
  }
}

function nextFailure(by) {
  const n = head.failures.length;
  if (n) chooseFailure((state.failure + by + n) % n);
}

const ACTIONS = {
  n: () => list.step(1), j: () => list.step(1),
  p: () => list.step(-1), k: () => list.step(-1),
  f: () => nextFailure(1), F: () => nextFailure(-1),
  m: () => nextMethod(1), M: () => nextMethod(-1),
  1: () => tabs.number(1), 2: () => tabs.number(2), 3: () => tabs.number(3), 4: () => tabs.number(4),
  Escape: () => { if (state.test >= 0) chooseTest(state.test); },
  '/': () => list.filter.focus(),
  '?': () => help.toggle(),
};

document.addEventListener('keydown', (e) => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName);
  if (typing && e.key === 'Escape') e.target.blur();
  if (typing || e.ctrlKey || e.metaKey || e.altKey || !ACTIONS[e.key]) return;
  if (help.box && help.box.open && e.key !== '?') return; // the dialog's own keys
  e.preventDefault();
  ACTIONS[e.key]();
});

// --- start ------------------------------------------------------------------------------

function start() {
  const app = document.getElementById('app');
  document.documentElement.classList.add('js');
  if (!head.failures.length || !head.methods.length) {
    document.documentElement.dataset.ready = performance.now();
    return; // the static part says what there is to say
  }
  document.getElementById('static').remove();
  document.documentElement.classList.add('app');
  app.hidden = false;
  app.append(bar.make(), el('div.columns', null, list.make(), tabs.make(), why.make()));
  tabs.show('source');
  chooseFirst();
  document.documentElement.dataset.ready = performance.now();
}

start();
