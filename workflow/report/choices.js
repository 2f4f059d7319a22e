// Shows rows whose columns hold what is chosen; choices stand in the address. Without it all are shown.
const choices = [...document.querySelectorAll('select')];
const sections = [...document.querySelectorAll('section')].map((own) => ({
  own, heads: [...own.querySelectorAll('th')].map((head) => head.textContent), rows: [...own.querySelectorAll('tbody tr')] }));
const text = ({ heads }, row, name) => row.cells[heads.indexOf(name)].textContent;

for (const one of choices) {
  const found = sections.flatMap((of) => of.rows.map((row) => text(of, row, one.name)));
  for (const value of new Set([...(one.required ? [] : ['']), ...found])) one.add(new Option(value || 'all', value));
  one.addEventListener('change', () => { location.hash = new URLSearchParams(choices.map((own) => [own.name, own.value])); });
}
function show() {
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const one of choices) one.value = asked.get(one.name) ?? one.value;
  for (const of of sections) {
    for (const row of of.rows) row.hidden = choices.some((one) => one.value && text(of, row, one.name) !== one.value);
    of.own.hidden = of.rows.every((row) => row.hidden);
  }
  document.getElementById('none').hidden = sections.some((of) => !of.own.hidden);
}
addEventListener('hashchange', show);
show();
