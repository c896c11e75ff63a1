// The failures of a PHP application by place, most requests first.

const PLACE = 0, FIRST = 1, FAILURES = 2, REQUESTS = 3;
const placeName = (p) => p[PLACE] || 'no known line';

const failureOption = (f, i) => el('option', { value: i },
  `${i + 1}/${head.failures.length} ${f.kind}: ${f.message}`);

// What a select holds.
function failureOptions() {
  if (head.places.length < 2) return head.failures.map(failureOption);
  return head.places.map((p) => el('optgroup',
    { label: `${placeName(p)}: ${plural(p[REQUESTS], 'request')}, ${plural(p[FAILURES], 'failure')}` },
    head.failures.slice(p[FIRST], p[FIRST] + p[FAILURES]).map((f, k) => failureOption(f, p[FIRST] + k))));
}

const places = {
  make() {
    this.buttons = head.failures.map((f, i) => el('button.link', { type: 'button', title: f.message,
      onclick: () => chooseFailure(i) }, `${i + 1} ${f.kind}: ${f.message}`));
    return el('details.places', { hidden: head.places.length < 2 },
      el('summary', null, `${plural(head.failures.length, 'failure')} at ${plural(head.places.length, 'place')}`),
      el('table', null, head.places.map((p) => el('tr', null,
        el('td.requests', null, plural(p[REQUESTS], 'request')),
        el('td', null, el('b', null, placeName(p))),
        el('td.failures', null, this.buttons.slice(p[FIRST], p[FIRST] + p[FAILURES]))))));
  },
  refresh() {
    this.buttons.forEach((b, i) => b.setAttribute('aria-current', i === state.failure ? 'true' : 'false'));
  },
};
