// Keys. Every page works without this.
const press = (id) => document.getElementById(id)?.click();

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input, select, textarea");
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
  if (typing) return;
  const keys = { a: "accept", r: "reject", n: "next" };
  if (event.key in keys) {
    if (event.key === "n" && !document.getElementById("next")) location.assign("/next");
    else press(keys[event.key]);
    event.preventDefault();
  } else if (event.key === "e" || event.key === "c") {
    document.getElementById(event.key === "e" ? "text" : "comment")?.focus();
    event.preventDefault();
  }
});
