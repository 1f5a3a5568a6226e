// Keys, and what changes by itself. Every page works without this.
const items = () => [...document.querySelectorAll(".entry")];

const step = (by) => {
  const all = items();
  if (!all.length) return;
  const at = all.findIndex((item) => item.contains(document.activeElement));
  const start = at < 0 ? (by > 0 ? -1 : all.length) : at;
  const next = all[Math.min(Math.max(start + by, 0), all.length - 1)];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
};

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input, select, textarea");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    if (typing) event.target.blur();
    else document.querySelector('a[rel="up"]')?.click();
  } else if (typing) {
    return;
  } else if (event.key === "j" || event.key === "k") {
    step(event.key === "j" ? 1 : -1);
    event.preventDefault();
  } else if (event.key === "/") {
    (document.querySelector("#search") ?? document.querySelector("input"))?.focus();
    event.preventDefault();
  } else if (event.key === "Enter" && document.activeElement.matches("li.entry")) {
    document.activeElement.querySelector("a")?.click();
  }
});

// The line that the address asks for gets the focus, so that j and k go on from there.
if (location.hash.startsWith("#m")) document.getElementById(location.hash.slice(1))?.focus();

const refresh = async () => {
  const part = document.querySelector("[data-live]");
  if (!part) return;
  try {
    const answer = await fetch(part.dataset.live);
    if (answer.ok) {
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").body.firstElementChild;
      if (!fresh.dataset.live) return location.reload(); // it has ended: the page has more to show now
      part.replaceWith(fresh);
    }
  } catch {
    // The server is gone for now; what was shown stays.
  }
  setTimeout(refresh, 2000);
};
setTimeout(refresh, 2000);
