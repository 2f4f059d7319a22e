// Tabs and filters of the claims board. Without this script everything is visible.
const tabs = [...document.querySelectorAll('[role=tab]')];
const panels = [...document.querySelectorAll('.tab')];
const filters = [...document.querySelectorAll('[data-filter]')];

function open(id) {
  for (const tab of tabs) {
    const own = tab.getAttribute('aria-controls') === id;
    tab.setAttribute('aria-selected', own);
    tab.tabIndex = own ? 0 : -1;
  }
  for (const panel of panels) panel.hidden = panel.id !== id;
  filter();
}

function filter() {
  const asked = Object.fromEntries(filters.map((f) => [f.dataset.filter, f.value]).filter(([, value]) => value));
  for (const row of document.querySelectorAll('.board tbody tr')) {
    row.hidden = Object.entries(asked).some(([key, value]) => row.dataset[key] !== value);
  }
  for (const table of document.querySelectorAll('.board')) table.hidden = !rows(table).length;
  for (const line of document.querySelectorAll('li[data-paper]')) line.hidden = !fits(line, asked);
  for (const folded of document.querySelectorAll('.tab details')) {
    if (Object.keys(asked).length) folded.open = !!rows(folded).length;
  }
  document.getElementById('count').textContent = told(document.querySelector('.tab:not([hidden])'));
}

function rows(of) {
  return [...of.querySelectorAll('tbody tr:not([hidden])')];
}

// A paper stays if it is the one asked for, and has a row if rows were asked for.
function fits(line, { paper, ...ofRows }) {
  const own = rows(line.closest('.tab')).some((row) => row.dataset.paper === line.dataset.paper);
  return (!paper || paper === line.dataset.paper) && (own || !Object.keys(ofRows).length);
}

function told(panel) {
  const count = rows(panel).length;
  return count ? `${count} claim${count === 1 ? '' : 's'}` : '0 judged claims';
}

for (const tab of tabs) {
  tab.addEventListener('click', () => open(tab.getAttribute('aria-controls')));
  tab.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
    next.focus();
    open(next.getAttribute('aria-controls'));
  });
}
for (const one of filters) one.addEventListener('change', filter);
document.getElementById('controls').hidden = false;
document.body.classList.add('ready');
open(document.querySelector('[data-opened]').id);
