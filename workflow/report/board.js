// Filters of the board, kept in the address; what is shown as CSV, JSON or citation. Without this script all is visible.
const filters = [...document.querySelectorAll('[data-filter]')];
const cells = [...document.querySelectorAll('.cell')];
const said = document.getElementById('count');

function filter() {
  const asked = filters.filter((one) => one.value).map((one) => [one.dataset.filter, one.value]);
  for (const cell of cells) cell.hidden = asked.some(([key, value]) => cell.dataset[key] !== value);
  for (const part of document.querySelectorAll('.matrix tbody, .matrix tr[id]')) {
    part.hidden = asked.length > 0 && !part.querySelector('.cell:not([hidden])');
  }
  said.textContent = `${shown().filter((one) => one.is_result).length} results shown`;
  const address = new URL(location);
  address.search = new URLSearchParams(asked);
  try { history.replaceState(null, '', address); } catch { /* the address of a frame stays */ }
}

function shown() {
  return cells.filter((cell) => !cell.hidden).map((cell) => JSON.parse(cell.dataset.record));
}

function csv(rows) {
  const lines = [Object.keys(rows[0] ?? {}), ...rows.map(Object.values)];
  const quoted = (value) => `"${String(value ?? '').replaceAll('"', '""')}"`;
  return lines.map((line) => `${line.map(quoted).join(',')}\n`).join('');
}

function save(name, text) {
  const href = URL.createObjectURL(new Blob([text]));
  Object.assign(document.createElement('a'), { href, download: name }).click();
}

const made = {
  csv: () => save('claims.csv', csv(shown())),
  json: () => save('claims.json', JSON.stringify(shown(), null, 1)),
  citation: ({ dataset }) => {
    said.textContent = `${dataset.cite} ${location.href}`;
    navigator.clipboard?.writeText(said.textContent);
  },
};

const wanted = new URLSearchParams(location.search);
for (const one of filters) {
  const own = [...one.options].find((option) => option.value === wanted.get(one.dataset.filter));
  if (own) own.selected = true;
  one.addEventListener('change', filter);
}
for (const one of document.querySelectorAll('[data-as]')) one.addEventListener('click', () => made[one.dataset.as](one));
document.getElementById('controls').hidden = false;
filter();
