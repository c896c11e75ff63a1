// The project as a map: directories hold files, the area of a file is the number
// of its statements, its colour the best place one of them has in the list.

function fileTotals() {
  const r = ranking(state.failure, state.method);
  const files = head.files.map((f, i) => ({ file: i, path: f[0], size: 0, best: -1 }));
  for (let s = 0; s < statements; s++) {
    const f = files[head.file[s]], i = r ? r.place[s] : -1;
    f.size++;
    if (i >= 0 && (f.best < 0 || i < f.best)) f.best = i;
  }
  return files.filter((f) => f.size);
}

// A tree of directories; those with one child only are joined with it.
function tree(files) {
  const root = { name: '', children: new Map(), size: 0 };
  for (const f of files) {
    let node = root;
    const parts = f.path.split('/');
    root.size += f.size;
    parts.forEach((part, i) => {
      const last = i === parts.length - 1, key = last ? `${part}\n` : part;
      if (!node.children.has(key))
        node.children.set(key, { name: part, size: 0, children: last ? null : new Map(), of: f });
      node = node.children.get(key);
      node.size += f.size;
    });
  }
  return join(root);
}

function join(node) {
  while (node.children && node.children.size === 1) {
    const only = node.children.values().next().value;
    if (!only.children) break;
    node = { ...only, name: node.name ? `${node.name}/${only.name}` : only.name };
  }
  if (node.children)
    node.children = new Map([...node.children].map(([k, child]) => [k, join(child)]));
  return node;
}

// Rectangles for nodes in a box, as square as they will go (Bruls et al. 2000).
function squarify(nodes, box, place) {
  const all = [...nodes].sort((a, b) => b.size - a.size || (a.name < b.name ? -1 : 1));
  let { x, y, w, h } = box, left = all.reduce((sum, n) => sum + n.size, 0), at = 0;
  while (at < all.length && w > 0.5 && h > 0.5) {
    const side = Math.min(w, h), scale = (w * h) / left;
    const worst = (from, to, sum) => {
      const thick = (sum * scale) / side;
      let most = 0;
      for (const n of [all[from], all[to - 1]]) {
        const long = (n.size * scale) / thick;
        most = Math.max(most, long / thick, thick / long);
      }
      return most;
    };
    let to = at + 1, sum = all[at].size;
    while (to < all.length && worst(at, to + 1, sum + all[to].size) <= worst(at, to, sum))
      sum += all[to++].size;
    const thick = (sum * scale) / side;
    let along = 0;
    for (let i = at; i < to; i++) {
      const long = (all[i].size * scale) / thick;
      place(all[i], w >= h ? { x, y: y + along, w: thick, h: long } : { x: x + along, y, w: long, h: thick });
      along += long;
    }
    if (w >= h) { x += thick; w -= thick; } else { y += thick; h -= thick; }
    left -= sum;
    at = to;
  }
}

const map = {
  make() {
    this.body = el('div.map-body');
    new ResizeObserver(() => this.refresh()).observe(this.body);
    return el('section.view.map', { 'aria-label': 'map' },
      el('header', null, el('h2', null, 'Project map'),
        el('span.count', null, 'area: statements; colour: best place in the list'), legend()), this.body);
  },
  box(spec, b, attributes, ...children) {
    const node = el(spec, attributes, ...children);
    Object.assign(node.style, { left: `${b.x}px`, top: `${b.y}px`,
      width: `${Math.max(0, b.w - 2)}px`, height: `${Math.max(0, b.h - 2)}px` });
    this.body.append(node);
  },
  file(node, b, r) {
    const f = node.of, i = f.best;
    const look = i >= 0 ? `.h${hue(r, i)}.b${light(r, i)}` : '.idle';
    const label = b.w > 46 && b.h > 18;
    this.box(`button.tile${look}`, b, { type: 'button', 'data-path': f.path,
      title: `${f.path}: ${plural(f.size, 'statement')}${i >= 0 ? `, best place ${rankText(r, i)}` : ', nothing executed'}`,
      onclick: () => { if (i >= 0) choose(r.of[i]); else source.open(f.file); tabs.show('source'); } },
    label ? node.name : '', label && i >= 0 && b.h > 36 ? el('small', null, `${glyph(hue(r, i))} ${rankText(r, i)}`) : null);
  },
  draw(node, b, r) {
    if (!node.children) { this.file(node, b, r); return; }
    const title = node.name && b.h > 40 && b.w > 60 ? 18 : 0;
    if (title) this.box('div.folder', b, { title: node.name }, node.name);
    const pad = title ? 3 : 0;
    squarify(node.children.values(), { x: b.x + pad, y: b.y + title, w: b.w - 2 * pad, h: b.h - title - pad },
      (child, box) => this.draw(child, box, r));
  },
  refresh() {
    if (tabs.now !== 'map' || !this.body.clientWidth) return;
    clear(this.body);
    const files = fileTotals();
    if (files.length)
      this.draw(tree(files), { x: 0, y: 0, w: this.body.clientWidth, h: this.body.clientHeight },
        ranking(state.failure, state.method));
  },
};
