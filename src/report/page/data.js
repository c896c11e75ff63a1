// The data of the page: parsed when it is first asked for, then kept.

function parse(id) {
  const element = document.getElementById(id);
  return element ? JSON.parse(element.textContent) : null;
}

const kept = new Map();
function parsed(id) {
  if (!kept.has(id)) kept.set(id, parse(id));
  return kept.get(id);
}

const head = parse('head');
const NAME = 0, VERDICT = 1, COMMAND = 2, SPECTRUM = 3, NOTE = 4;
const statements = head.line.length;

// --- rankings -------------------------------------------------------------------

// The ranking of a failure by a method: of[i] is the statement at place i;
// place[s] the place of statement s, or -1. null: that method cannot rank it.
const rankings = new Map();
function ranking(failure, method) {
  const id = `rank-${failure}-${method}`;
  if (rankings.has(id)) return rankings.get(id);
  const r = parse(id);
  if (r) {
    const n = r.of.length;
    r.best = new Int32Array(n);
    r.rank = new Int32Array(n);
    let at = 0;
    for (const size of r.ties) {
      for (let i = at; i < at + size && i < n; i++) {
        r.best[i] = at + 1;
        r.rank[i] = at + size;
      }
      at += size;
    }
    r.place = new Int32Array(statements).fill(-1);
    r.of.forEach((s, i) => { r.place[s] = i; });
  }
  rankings.set(id, r);
  return r;
}

// 0 to 10, as html_hue and html_light in report/html_page.c.
function hue(r, i) {
  if (r.total < 2) return 10;
  const rank = Math.sqrt(r.best[i] * r.rank[i]);
  return Math.round(10 * (1 - Math.log(rank) / Math.log(r.total)));
}

function light(r, i) {
  const f = r.failing ? r.ef[i] / r.failing : 0;
  const p = r.passing ? r.ep[i] / r.passing : 0;
  return Math.ceil(4 * Math.max(f, p));
}

function glyph(h) {
  return '○◔◑◕●'[Math.floor((h * 4 + 5) / 10)];
}

function rankText(r, i) {
  return r.best[i] === r.rank[i] ? `${r.rank[i]}` : `${r.best[i]}–${r.rank[i]}`;
}

function scoreText(x) {
  const plain = x === 0 || (Math.abs(x) >= 0.001 && Math.abs(x) < 1e5);
  return plain ? x.toFixed(3) : x.toExponential(2);
}

// --- which tests execute what -----------------------------------------------------

const encoded = (c) => parsed(`cover-${Math.floor(c / head.piece)}`)[c % head.piece];

// Calls visit(first, end) for each run of tests of a class, until it says true.
function eachRun(text, visit) {
  const bytes = atob(text);
  let at = 0, test = 0, take = false;
  while (at < bytes.length) {
    let value = 0, scale = 1, byte;
    do {
      byte = bytes.charCodeAt(at++);
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte & 128 && at < bytes.length);
    if (take && visit(test, test + value)) return;
    test += value;
    take = !take;
  }
}

// The tests of a class of statements, ascending; null: they are not in the page.
const columns = new Map();
function testsOfClass(c) {
  if (columns.has(c)) return columns.get(c);
  const text = encoded(c);
  const tests = typeof text === 'string' ? [] : null;
  if (tests)
    eachRun(text, (from, to) => { for (let t = from; t < to; t++) tests.push(t); });
  columns.set(c, tests);
  return tests;
}

const testsOf = (statement) => testsOfClass(head.cls[statement]);

function includes(sorted, x) {
  let lo = 0, hi = sorted.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (sorted[mid] < x) lo = mid + 1;
    else hi = mid;
  }
  return sorted[lo] === x;
}

// Per class: does this test execute it?
const executedBy = new Map();
function classesOf(test) {
  if (!executedBy.has(test)) {
    const flags = new Uint8Array(head.classes);
    for (let c = 1; c < head.classes; c++) {
      eachRun(encoded(c) || '', (from, to) => {
        if (from <= test && test < to) flags[c] = 1;
        return test < to;
      });
    }
    executedBy.set(test, flags);
  }
  return executedBy.get(test);
}

// --- files ------------------------------------------------------------------------

// statementsAt(file): Map from line to statement.
const byFile = new Map();
function statementsAt(file) {
  if (!byFile.size)
    for (let s = 0; s < statements; s++) {
      if (!byFile.has(head.file[s])) byFile.set(head.file[s], new Map());
      byFile.get(head.file[s]).set(head.line[s], s);
    }
  return byFile.get(file) || new Map();
}

// A command as it is typed in the session's directory.
const typed = (command) => command.replaceAll(`${head.cwd}/`, './');

const sourceOf = (file) => parsed(`src-${file}`) || [];
const pathOf = (file) => head.files[file][0];
const place = (s) => `${pathOf(head.file[s])}:${head.line[s]}`;
const baseName = (path) => path.slice(path.lastIndexOf('/') + 1);
