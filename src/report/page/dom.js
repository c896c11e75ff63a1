// Making elements. Text goes in as text, never as markup.

// What must not reach the reader unseen: control characters, and those that
// turn the direction of writing.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;
function shown(text) {
  return String(text).replace(UNSEEN, (c) =>
    `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

// el('p.note', {title: 'x', onclick: f}, 'text', child, ...)
function el(spec, attributes, ...children) {
  const [tag, ...classes] = spec.split('.');
  const node = document.createElement(tag || 'div');
  if (classes.length) node.className = classes.join(' ');
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === false || value === null || value === undefined) continue;
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? '' : shown(value));
  }
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined && child !== false)
      node.append(child.nodeType ? child : document.createTextNode(shown(child)));
  return node;
}

const clear = (node) => { node.textContent = ''; };
const plural = (n, word) => `${n.toLocaleString('en')} ${word}${n === 1 ? '' : 's'}`;

// A list of any length of which only the rows in sight exist.
class Rows {
  constructor(node, height, render) {
    this.node = node;
    this.height = height;
    this.render = render;
    this.count = 0;
    this.body = el('div.rows');
    this.node.append(this.body);
    this.node.addEventListener('scroll', () => this.later(), { passive: true });
    new ResizeObserver(() => this.later()).observe(this.node);
  }
  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }
  show(count) {
    this.count = count;
    this.body.style.height = `${count * this.height}px`;
    this.draw();
  }
  draw() {
    const from = Math.max(0, Math.floor(this.node.scrollTop / this.height) - 8);
    const inSight = Math.ceil(this.node.clientHeight / this.height) + 16;
    const rows = [];
    for (let i = from; i < Math.min(this.count, from + inSight); i++) {
      const row = this.render(i);
      row.style.top = `${i * this.height}px`;
      rows.push(row);
    }
    this.body.replaceChildren(...rows);
  }
  // Scrolls as little as needed; centre: into the middle.
  reveal(i, centre) {
    const top = i * this.height, view = this.node.clientHeight;
    if (centre)
      this.node.scrollTop = Math.max(0, top - view / 2 + this.height);
    else if (top < this.node.scrollTop)
      this.node.scrollTop = top;
    else if (top + this.height > this.node.scrollTop + view)
      this.node.scrollTop = top + this.height - view;
    this.draw();
  }
}
