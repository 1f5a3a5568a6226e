// Keys. Every page works without this.
const find = (id) => document.getElementById(id);
const press = (id) => find(id)?.click();

function write(field) {
  const text = find(field);
  if (!text) return;
  const details = text.closest("details");
  if (details) details.open = true;
  text.focus();
}

// The next question of a form that nobody has answered yet is answered; with the last, the way is to the button.
function answer(value) {
  const open = [...document.querySelectorAll("fieldset")].find((set) => !set.querySelector("input:checked"));
  open?.querySelector(`input[value="${value}"]`)?.click();
  if (![...document.querySelectorAll("fieldset")].some((set) => !set.querySelector("input:checked"))) find("send")?.focus();
}

function unanswer() {
  const checked = [...document.querySelectorAll("fieldset input:checked")];
  if (checked.length) checked[checked.length - 1].checked = false;
}

const KEYS = {
  a: () => press("accept"),
  r: () => press("reject"),
  u: () => press("back"),
  n: () => (find("next") ? (document.querySelector("fieldset") ? answer("no") : press("next")) : location.assign("/next")),
  y: () => answer("yes"),
  l: () => press("next"),
  e: () => write("text"),
  c: () => write("comment"),
  Backspace: unanswer,
};

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches('input:not([type="radio"]), select, textarea');
  if (event.key === "Enter" && event.ctrlKey && event.target.id === "text") {
    press("edit");
    event.preventDefault();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    if (typing) event.target.blur();
    else document.querySelector('a[rel="up"]')?.click();
    return;
  }
  if (typing || !(event.key in KEYS)) return;
  KEYS[event.key]();
  event.preventDefault();
});
