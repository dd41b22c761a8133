// For every page: keys, forms that keep their text when sending fails, live counts.

const status = document.querySelector("[data-status]");
const problem = document.querySelector("[data-problem]");
const shortcuts = document.documentElement.dataset.keys !== "off";

/** Announce what happened. */
export function say(text) {
  problem.hidden = true;
  status.textContent = text;
  status.hidden = !text;
}

/** Say what went wrong. */
export function complain(text) {
  status.hidden = true;
  problem.textContent = text;
  problem.hidden = false;
}

/** Send form fields; return the JSON of the response. Throw an Error with a sentence. */
export async function send(address, fields) {
  let response;
  try {
    response = await fetch(address, {
      method: "POST",
      headers: { accept: "application/json" },
      body: new URLSearchParams(fields),
    });
  } catch {
    throw new Error("The server does not answer. Nothing was changed; try again when it runs.");
  }
  const body = await response.json().catch(() => ({}));
  if (!response.ok) {
    throw new Error(body.error || body.detail || `The server answered ${response.status}. Nothing was changed.`);
  }
  return body;
}

/** Whether a key press is text that somebody types. */
export function isTyping(event) {
  const target = event.target;
  return target instanceof HTMLElement && (target.isContentEditable ||
    /^(TEXTAREA|SELECT)$/.test(target.tagName) ||
    (target.tagName === "INPUT" && target.type !== "checkbox"));
}

/** Call `act` with each key that is a shortcut. */
export function onKey(act) {
  document.addEventListener("keydown", (event) => {
    if (!shortcuts || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
    if (document.querySelector("dialog[open]")) return;
    act(event);
  });
}

for (const opener of document.querySelectorAll("[data-open]")) {
  opener.hidden = false;
  opener.addEventListener("click", () => document.getElementById(opener.dataset.open).showModal());
}

// A narrow page has its navigation in one row, which may not show the current page.
document.querySelector(".side [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

const dayText = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const clockText = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

/** Show the times below `root`, which are sent in UTC, in the time zone of this browser. */
export function showLocalTimes(root) {
  const names = new Map(["yesterday", "today", "tomorrow"].map((name, number) =>
    [dayText.format(new Date(Date.now() + (number - 1) * 86_400_000)), name]));
  for (const element of root.querySelectorAll("time[datetime]:not([title])")) {
    const time = new Date(element.dateTime);
    if (isNaN(time)) continue;
    element.title = `${element.textContent} UTC`;
    const day = dayText.format(time);
    element.textContent = `${names.get(day) || day}, ${clockText.format(time)}`;
  }
}
showLocalTimes(document);
const zone = document.querySelector("[data-zone]");
if (zone) zone.textContent = `times in ${new Intl.DateTimeFormat().resolvedOptions().timeZone}`;

const places = { i: "inbox", h: "", c: "conflicts", r: "retrievals", a: "agents", m: "memories" };
let afterG = false;
onKey((event) => {
  if (afterG) {
    afterG = false;
    if (event.key in places) {
      event.preventDefault();
      event.stopImmediatePropagation();
      location.assign(`/ui/${places[event.key]}`);
    }
  } else if (event.key === "g") {
    afterG = true;
    setTimeout(() => { afterG = false; }, 1500);
  } else if (event.key === "/") {
    event.preventDefault();
    document.getElementById("find").focus();
  } else if (event.key === "?") {
    event.preventDefault();
    document.getElementById("keys").showModal();
  }
});

// A form that is sent by script: if it fails, the page and its text stay.
for (const form of document.querySelectorAll("form[method=post]:not([data-plain]):not([data-undo]):not(.actions[action='/ui/inbox/decide']):not(#selected)")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const fields = new FormData(form, event.submitter);
    try {
      const body = await send(form.getAttribute("action") || location.pathname, fields);
      sessionStorage.setItem("notice", body.notice || "");
      if (new URL(body.location, location.href).href.split("#")[0] === location.href.split("#")[0]) location.reload();
      else location.assign(body.location);
    } catch (error) {
      complain(error.message);
      problem.scrollIntoView({ block: "nearest" });
    }
  });
}
const notice = sessionStorage.getItem("notice");
sessionStorage.removeItem("notice");
if (notice) say(notice);

// Live counts. Only a visible page listens: a browser has few connections for one server.
let stream = null;
function listen() {
  if (document.hidden) { stream?.close(); stream = null; return; }
  if (stream) return;
  stream = new EventSource("/ui/events");
  stream.addEventListener("counts", (event) => {
    const counts = JSON.parse(event.data);
    for (const place of document.querySelectorAll("[data-live]")) {
      const count = counts[place.dataset.live];
      place.textContent = count;
      if (place.classList.contains("count")) place.hidden = !count;
    }
    document.dispatchEvent(new CustomEvent("counts", { detail: counts }));
  });
}
document.addEventListener("visibilitychange", listen);
window.addEventListener("pagehide", () => { stream?.close(); stream = null; });
listen();
