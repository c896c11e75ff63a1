// The source of one file, coloured: hue says how suspected a line is,
// brightness how many runs speak; a glyph and the rank say the same.

const TOKEN = /\/\/.*|\/\*.*?(?:\*\/|$)|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|\b\d[\w.]*|#\s*[a-z]+|[A-Za-z_]\w*/g;
const WORDS = new Set(('auto bool break case char const continue default do double else enum '
  + 'extern float for goto if inline int long register return short signed sizeof static struct '
  + 'switch typedef union unsigned void volatile while true false NULL null array as class echo '
  + 'elseif extends final foreach function global include include_once instanceof interface '
  + 'isset empty list namespace new print private protected public require require_once throw '
  + 'trait try catch unset use var yield fn match').split(' '));

function tokenClass(word) {
  if (word.startsWith('/')) return 'comment';
  if (word[0] === '"' || word[0] === "'") return 'string';
  if (word[0] === '#') return 'keyword';
  if (/\d/.test(word[0])) return 'number';
  return WORDS.has(word) ? 'keyword' : '';
}

// The nodes of one line; `inside`: it begins in a comment.
function paint(text, inside) {
  const nodes = [];
  let at = 0;
  if (inside) {
    const end = text.indexOf('*/');
    at = end < 0 ? text.length : end + 2;
    nodes.push(el('i.comment', null, text.slice(0, at)));
  }
  TOKEN.lastIndex = at;
  for (let m; (m = TOKEN.exec(text));) {
    const kind = tokenClass(m[0]);
    if (!kind) continue;
    nodes.push(text.slice(at, m.index), el(`i.${kind}`, null, m[0]));
    at = m.index + m[0].length;
  }
  nodes.push(text.slice(at));
  return nodes;
}

// Per line of a file: does it begin inside a comment? Found out once.
const insides = new Map();
function insideComment(file) {
  if (!insides.has(file)) {
    const lines = sourceOf(file), flags = new Uint8Array(lines.length);
    let inside = false;
    lines.forEach((text, i) => {
      flags[i] = inside ? 1 : 0;
      if (!inside && !text.includes('/*')) return;
      const rest = text.replace(/"(?:\\.|[^"\\])*"/g, '""').replace(/\/\/(?!.*\*\/).*/, '');
      const open = rest.lastIndexOf('/*'), close = rest.lastIndexOf('*/');
      inside = open > close || (inside && close < 0);
    });
    insides.set(file, flags);
  }
  return insides.get(file);
}

// Classes that colour statement s, and what stands beside it.
function shade(s) {
  const r = ranking(state.failure, state.method);
  const i = r ? r.place[s] : -1;
  const out = { classes: '', mark: '', title: '' };
  if (!head.cls[s]) {
    out.classes = '.idle';
    out.title = 'no run executes it';
  } else if (i >= 0) {
    const h = hue(r, i);
    out.classes = `.h${h}.b${light(r, i)}`;
    out.mark = `${glyph(h)} ${r.rank[i]}`;
    out.title = `rank ${rankText(r, i)} of ${r.total}, score ${scoreText(r.score[i])}; executed by `
      + `${r.ef[i]} of ${r.failing} failing and ${r.ep[i]} of ${r.passing} passing runs`;
  }
  if (head.core && head.core.lines.includes(s)) out.mark += ' ◆';
  if (state.test >= 0 && state.classes[head.cls[s]])
    out.classes = head.tests[state.test][VERDICT] === 'fail' ? '.h10.b4.took' : '.h0.b4.took';
  else if (state.test >= 0)
    out.classes = '.faded';
  return out;
}

// The eleven colours of the style sheet, for drawing.
function heatColours() {
  const probe = el('i.key');
  document.body.append(probe);
  const colours = Array.from({ length: 11 }, (_, h) => {
    probe.className = `key h${h} b4`;
    return getComputedStyle(probe).backgroundColor;
  });
  probe.remove();
  return colours;
}

const source = {
  make() {
    this.files = el('select', { 'aria-label': 'file',
      onchange: () => { this.open(Number(this.files.value)); } });
    const order = head.files.map((f, i) => i).filter((i) => statementsAt(i).size)
      .sort((a, b) => (pathOf(a) < pathOf(b) ? -1 : 1));
    this.files.append(...order.map((i) => el('option', { value: i }, pathOf(i))));
    this.note = el('span.count');
    this.scroll = el('div.scroll.code', { tabindex: '0', 'aria-label': 'source' });
    this.strip = el('canvas', { width: 14, height: 400, title: 'the whole file' });
    this.strip.addEventListener('click', (e) => this.jump(e));
    this.rows = new Rows(this.scroll, 20, (i) => this.row(i));
    this.file = -1;
    return el('section.view.source', { 'aria-label': 'source' },
      el('header', null, this.files, this.note, legend()),
      el('div.code-frame', null, this.scroll, this.strip));
  },
  row(i) {
    const s = this.statements.get(i + 1);
    const text = this.lines[i] === undefined ? '(source not available)' : this.lines[i];
    const look = s === undefined ? { classes: '', mark: '', title: '' } : shade(s);
    return el(`div.row.line${look.classes}`,
      { title: look.title || false, 'data-n': i + 1,
        'aria-current': s !== undefined && s === state.statement ? 'true' : false,
        onclick: s === undefined ? null : () => choose(s) },
      el('b.n', null, i + 1), el('b.mark', null, look.mark),
      el('code', null, paint(text, this.inside[i])));
  },
  open(file) {
    this.file = file;
    this.files.value = file;
    this.lines = sourceOf(file);
    this.inside = insideComment(file);
    this.statements = statementsAt(file);
    const what = head.files[file] ? head.files[file][1] : '';
    this.note.textContent = what === 'changed' ? 'changed since it was compiled: lines may have moved'
      : what === 'unreadable' ? 'the file cannot be read: lines without text' : '';
    this.note.classList.toggle('loud', what !== '');
    let last = this.lines.length;
    if (!last) for (const line of this.statements.keys()) last = Math.max(last, line);
    this.rows.show(last);
    this.drawStrip();
  },
  refresh() {
    if (this.file < 0) return;
    this.rows.draw();
    this.drawStrip();
  },
  reveal(s) { this.reach(head.file[s], head.line[s]); },
  reach(file, line) {
    if (this.file !== file) this.open(file);
    this.rows.reveal(line - 1, true);
  },
  // The file at one glance: each pixel is the worst of its lines.
  drawStrip() {
    const frame = this.scroll.clientHeight || 400, n = this.rows.count;
    const g = this.strip.getContext('2d');
    this.strip.height = frame;
    const worst = new Int8Array(frame).fill(-1), strong = new Int8Array(frame);
    const r = ranking(state.failure, state.method);
    for (const [line, s] of this.statements) {
      const i = r ? r.place[s] : -1;
      const y = Math.floor((line - 1) * frame / Math.max(n, frame / 20));
      if (i < 0 || y >= frame || hue(r, i) < worst[y]) continue;
      worst[y] = hue(r, i);
      strong[y] = light(r, i);
    }
    const colours = heatColours();
    const size = Math.max(2, Math.floor(frame / Math.max(n, 1)));
    for (let y = 0; y < frame; y++) {
      if (worst[y] < 0) continue;
      g.fillStyle = colours[worst[y]];
      g.globalAlpha = 0.15 + 0.2 * strong[y];
      g.fillRect(0, y, 14, Math.min(size, 20));
    }
    g.globalAlpha = 1;
  },
  jump(e) {
    const share = e.offsetY / this.strip.clientHeight;
    this.scroll.scrollTop = share * this.rows.count * 20 - this.scroll.clientHeight / 2;
  },
};

function legend() {
  const steps = [0, 3, 5, 8, 10];
  return el('span.legend', { title: 'hue and glyph: how suspected; brightness: how much evidence' },
    'least', steps.map((h) => el(`i.key.h${h}.b4`, null, glyph(h))), 'most suspected ·',
    [1, 2, 3, 4].map((b) => el(`i.key.h10.b${b}`)), 'evidence');
}
