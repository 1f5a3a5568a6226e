// Narrows the index of the tasks. The page is complete without it: the form is hidden until this runs.
const form = document.getElementById("filter");
if (form) {
  const rows = [...document.querySelectorAll("table.index tbody tr")];
  const apply = () => {
    const wanted = [...new FormData(form)].filter(([, value]) => value);
    let shown = 0;
    for (const row of rows) {
      const marks = [...row.querySelectorAll(".mark")];
      const fits = (mark) => wanted.every(([name, value]) => mark.dataset[name] === value);
      row.hidden = wanted.length > 0 && !marks.some(fits);
      for (const mark of marks) mark.classList.toggle("faint", !fits(mark));
      shown += row.hidden ? 0 : 1;
    }
    form.querySelector("output").textContent = `${shown} of ${rows.length} tasks`;
  };
  form.hidden = false;
  form.addEventListener("change", apply);
  apply();
}
