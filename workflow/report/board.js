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
  const asked = filters.filter((f) => f.value).map((f) => [f.dataset.filter, f.value]);
  for (const row of document.querySelectorAll('.board tbody tr')) {
    row.hidden = asked.some(([key, value]) => row.dataset[key] !== value);
  }
  for (const line of document.querySelectorAll('li[data-paper]')) {
    line.hidden = asked.some(([key, value]) => key === 'paper' && line.dataset.paper !== value);
  }
  for (const folded of document.querySelectorAll('.tab details')) {
    if (asked.length) folded.open = !!folded.querySelector('tbody tr:not([hidden])');
  }
  const shown = document.querySelectorAll('.tab:not([hidden]) tbody tr:not([hidden])').length;
  document.getElementById('count').textContent = `${shown} claims`;
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
