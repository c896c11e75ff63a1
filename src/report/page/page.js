// Of a PHP application: the page that shows the failure, as a browser shows it
// (no scripts, nothing loaded) and as text, each piece with the line that wrote
// it.

// A flag cannot stand inside a tag, in the head, or in text that is shown as it
// is: the nearest place before (of the head: behind) where it can.
function flagPlace(html, at) {
  const body = /<body[^>]*>/i.exec(html);
  if (body && at < body.index + body[0].length) return body.index + body[0].length;
  const before = html.slice(0, at);
  for (const raw of ['script', 'style', 'textarea', 'title', 'select']) {
    const open = before.toLowerCase().lastIndexOf(`<${raw}`);
    if (open >= 0 && before.toLowerCase().indexOf(`</${raw}`, open) < 0) return open;
  }
  const tag = before.lastIndexOf('<');
  return tag >= 0 && before.indexOf('>', tag) < 0 ? tag : at;
}

const escapeText = (text) => text.replace(/[&<>"]/g,
  (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);

// The page with a flag where each blamed piece begins.
function flagged(page, places) {
  let html = '';
  const flags = [];
  for (const [text, , , mark] of page.pieces) {
    if (mark >= 0) flags.push([html.length, places[mark]]);
    html += text;
  }
  for (const [at, p] of flags.reverse()) {
    const cut = flagPlace(html, at);
    const text = escapeText(`⚑ ${p[3]}: ${baseName(pathOf(p[1]))}:${p[2]}`);
    html = `${html.slice(0, cut)}<mark style="all:initial;display:inline-block;background:#f59b3f;color:#1b1206;`
      + `font:600 12px/1.5 system-ui,sans-serif;padding:1px 7px;border-radius:4px;margin:1px">${text}</mark>${html.slice(cut)}`;
  }
  return html;
}

const page = {
  make() {
    this.body = el('div.page-body');
    this.note = el('span.count');
    return el('section.view.page', { 'aria-label': 'page' },
      el('header', null, el('h2', null, 'The failing page'), this.note), this.body);
  },
  there: () => head.failures.some((f) => f.page),
  piece(p, places) {
    const [text, file, line, mark] = p;
    const s = file >= 0 ? statementsAt(file).get(line) : undefined;
    return el(`span.piece${mark >= 0 ? '.blamed' : ''}${s !== undefined && s === state.statement ? '.mine' : ''}`,
      { title: file >= 0 ? `written by ${pathOf(file)}:${line}${mark >= 0 ? ` (${places[mark][3]})` : ''}` : 'written by no line that is known',
        onclick: s === undefined ? null : () => choose(s) }, text);
  },
  refresh() {
    if (tabs.now !== 'page') return;
    clear(this.body);
    const failure = head.failures[state.failure];
    const d = failure && failure.page ? parsed(`page-${state.failure}`) : null;
    this.note.textContent = d ? `of request ${d.test}; click text to see the line that wrote it` : '';
    if (!d) {
      this.body.append(el('p.none', null, 'No page of this failure was kept (it was empty, or above 256 kB).'));
      return;
    }
    const frame = el('iframe', { sandbox: '', title: 'the failing page', referrerpolicy: 'no-referrer' });
    frame.srcdoc = flagged(d, failure.places);
    this.text = el('pre.scroll', { tabindex: '0', 'aria-label': 'text of the page' },
      d.pieces.map((p) => this.piece(p, failure.places)));
    this.body.append(frame, this.text);
    const first = this.text.querySelector('.mine, .blamed');
    if (first) this.text.scrollTop = Math.max(0, first.offsetTop - 80);
  },
};
