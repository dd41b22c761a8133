// The inbox by keyboard: a key decides, the next candidate is current at once, and the decision is
// sent in the background. If that fails, the candidate comes back with the reason. The next page is
// loaded before the reviewer reaches the end of this one; keys pressed too early wait for it.

import { complain, onKey, say, send, showLocalTimes } from "./pages.js";

const VERDICTS = { y: "keep", n: "reject", l: "later", r: "replace", m: "merge" };
const NAMES = { keep: "Kept", reject: "Rejected", later: "Put off", replace: "Kept and replaced", merge: "Merged" };
const AHEAD = 15; // candidates that are loaded before they are needed

/** Return the page at an address as a document; its scripts do not run. */
function loadPage(address) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.responseType = "document";
    request.open("GET", address);
    request.onload = () => (request.status === 200 ? resolve(request.response) : reject(new Error(`The server answered ${request.status}.`)));
    request.onerror = () => reject(new Error("The server does not answer. What you decided before is stored."));
    request.send();
  });
}

class ReviewList extends HTMLElement {
  connectedCallback() {
    this.undo = document.querySelector("form[data-undo]");
    this.known = parseInt(document.querySelector("nav [data-live=inbox]").textContent, 10);
    this.queue = Promise.resolve(); // decisions are sent in their order
    this.sending = 0;
    this.later = 0; // put off since the page was loaded
    this.early = []; // keys pressed while the next page is loading
    this.addEventListener("submit", (event) => this.submitted(event));
    this.addEventListener("focusin", (event) => this.select(event.target.closest(".candidate")));
    this.undo.addEventListener("submit", (event) => { event.preventDefault(); this.undoLast(); });
    document.getElementById("selected").addEventListener("submit", (event) => {
      event.preventDefault();
      this.decideSelected(event.submitter.value);
    });
    onKey((event) => this.key(event));
    document.addEventListener("counts", (event) => this.compare(event.detail.inbox));
    const wanted = location.hash && document.getElementById(location.hash.slice(1));
    const first = wanted || this.open()[0];
    if (first) this.go(first);
    this.loadAhead();
  }

  /** Append the next page if few candidates are left. */
  async loadAhead() {
    const next = document.querySelector("[data-next]");
    if (!next || this.loading || this.open().length > AHEAD) return;
    this.loading = true;
    let page;
    try {
      page = await loadPage(next.querySelector("a").href);
    } catch (error) {
      this.loading = false;
      if (!this.open().length) complain(error.message);
      return;
    }
    let group = [...this.querySelectorAll("[data-group]")].at(-1)?.dataset.group;
    for (const node of [...page.querySelector("review-list").children]) {
      if (node.id && document.getElementById(node.id)) continue;
      if (node.dataset.group === group) continue;
      group = node.dataset.group || group;
      this.append(document.importNode(node, true));
      showLocalTimes(this.lastElementChild);
    }
    const following = page.querySelector("[data-next]");
    if (following) next.replaceWith(document.importNode(following, true));
    else next.remove();
    this.loading = false;
    if (!this.current || this.current.classList.contains("decided")) {
      const first = this.open()[0];
      if (first) this.go(first);
      else if (!following) this.finish();
    }
    while (this.early.length && this.open().length) this.press(this.early.shift());
    this.loadAhead();
  }

  /** Offer new candidates; the list itself does not change while somebody reviews. */
  compare(inbox) {
    const more = document.querySelector("[data-more]");
    const added = inbox - this.known;
    this.known = Math.min(this.known, inbox);
    more.hidden = added <= 0;
    if (added > 0) more.firstElementChild.textContent = added === 1 ? "1 new candidate." : `${added} new candidates.`;
  }

  /** The candidates that are not decided yet. */
  open() {
    return [...this.querySelectorAll(".candidate:not(.decided)")];
  }

  select(candidate) {
    if (!candidate || candidate === this.current) return;
    this.current?.removeAttribute("aria-current");
    this.current = candidate;
    candidate.setAttribute("aria-current", "true");
  }

  go(candidate) {
    this.select(candidate);
    candidate.focus({ preventScroll: true });
    candidate.scrollIntoView({ block: "nearest" });
  }

  key(event) {
    if (!event.defaultPrevented && this.press(event.key)) event.preventDefault();
  }

  /** Act on a key; return whether it has a meaning here. */
  press(key) {
    const selected = this.querySelectorAll(".candidate:not(.decided) input[name=id]:checked").length;
    if (key === "u") this.undoLast();
    else if (key === "Y" && selected) this.decideSelected("keep");
    else if (key === "N" && selected) this.decideSelected("reject");
    else if (!this.current || this.current.classList.contains("decided")) {
      if (!this.loading) return false;
      this.early.push(key);
    }
    else if (key === "j" || key === "k") this.move(key === "j" ? 1 : -1);
    else if (key === "x") { const box = this.current.querySelector("input[name=id]"); box.checked = !box.checked; }
    else if (key === "o" || key === "e") this.current.querySelector(`a[data-key=${key}]`).click();
    else if (key in VERDICTS) this.decide([this.current], VERDICTS[key]);
    else return false;
    return true;
  }

  move(step) {
    const open = this.open();
    const next = open[open.indexOf(this.current) + step];
    if (next) this.go(next);
  }

  submitted(event) {
    event.preventDefault();
    const ids = new FormData(event.target).getAll("id");
    const candidates = ids.map((id) => document.getElementById(`m-${id}`));
    this.decide(candidates.filter((candidate) => !candidate.classList.contains("decided")), event.submitter.value);
  }

  decideSelected(verdict) {
    const boxes = this.querySelectorAll(".candidate:not(.decided) input[name=id]:checked");
    const candidates = [...boxes].map((box) => box.closest(".candidate"));
    if (candidates.length) this.decide(candidates, verdict);
    else complain("Select at least one candidate.");
  }

  decide(candidates, verdict) {
    if (!candidates[0]?.querySelector(`button[value=${verdict}]`)) return;
    const open = this.open();
    const last = open.indexOf(candidates[candidates.length - 1]);
    const rest = open.filter((candidate) => !candidates.includes(candidate));
    const next = open.slice(last + 1).find((candidate) => rest.includes(candidate)) || rest[rest.length - 1];
    for (const candidate of candidates) candidate.classList.add("decided");
    this.count(-candidates.length);
    this.add(verdict, candidates.length);
    if (verdict === "later") this.later += candidates.length;
    if (next) this.go(next);
    else this.finish();
    this.hideEmptyGroups();
    this.loadAhead();
    say(candidates.length > 1 ? `${NAMES[verdict]}: ${candidates.length}.` : `${NAMES[verdict]}.`);
    this.sending += 1;
    this.queue = this.queue.then(() => this.post(candidates, verdict));
  }

  /** A heading without open candidates below it is hidden. */
  hideEmptyGroups() {
    let head = null;
    for (const node of this.children) {
      if (node.dataset.group) { head = node; head.hidden = true; }
      else if (head && !node.classList.contains("decided")) head.hidden = false;
    }
  }

  async post(candidates, verdict) {
    const fields = [["verdict", verdict], ...candidates.map((candidate) => ["id", candidate.dataset.id])];
    try {
      const body = await send("/ui/inbox/decide", fields);
      this.sending -= 1;
      for (const id of body.decided) document.getElementById(`m-${id}`)?.classList.add("decided");
      if (this.current?.classList.contains("decided")) { // it was a duplicate of the other one
        const next = this.open()[0];
        if (next) this.go(next);
        else this.finish();
      }
      if (!this.sending && verdict !== "later") this.show(body.waiting - this.later);
      if (verdict !== "later") this.undo.querySelector("button").disabled = false;
    } catch (error) {
      this.sending -= 1;
      for (const candidate of candidates) this.restore(candidate);
      this.count(candidates.length);
      this.add(verdict, -candidates.length);
      if (verdict === "later") this.later -= candidates.length;
      this.go(candidates[0]);
      complain(error.message);
    }
  }

  restore(candidate) {
    candidate.classList.remove("decided");
    document.querySelector("[data-empty]").hidden = true;
    this.hideEmptyGroups();
  }

  undoLast() {
    this.queue = this.queue.then(async () => {
      try {
        const body = await send("/ui/inbox/undo", []);
        const here = body.restored.map((id) => document.getElementById(`m-${id}`));
        if (here.includes(null)) { // it was decided before this page was loaded
          sessionStorage.setItem("notice", body.notice);
          location.hash = `m-${body.restored[0]}`;
          location.reload();
          return;
        }
        for (const candidate of here) this.restore(candidate);
        this.known += here.length;
        if (body.restored.length) { this.count(here.length); this.add(body.verdict, -here.length); this.go(here[0]); }
        say(body.notice);
      } catch (error) {
        complain(error.message);
      }
    });
  }

  count(change) {
    this.show(parseInt(document.querySelector("[data-waiting]").textContent, 10) + change);
  }

  show(number) {
    document.querySelector("[data-waiting]").textContent = `${Math.max(0, number)} waiting`;
  }

  add(verdict, change) {
    const name = verdict === "reject" ? "reject" : verdict === "later" ? "" : "keep";
    const sum = name && document.querySelector(`[data-sum=${name}]`);
    if (sum) sum.textContent = Number(sum.textContent) + change;
  }

  finish() {
    this.current = null;
    if (document.querySelector("[data-next]")) return; // the next page is loading
    const empty = document.querySelector("[data-empty]");
    const waiting = parseInt(document.querySelector("[data-waiting]").textContent, 10);
    if (waiting > 0) { // those put off, or new ones: load them once what was decided is stored
      this.queue = this.queue.then(() => location.reload());
      return;
    }
    if (this.later) empty.querySelector("h2").textContent = `${this.later} put off`;
    empty.querySelector("[data-later]").hidden = !this.later;
    empty.querySelector("[data-summary]").hidden = false;
    empty.hidden = false;
    empty.tabIndex = -1;
    empty.focus();
  }
}

customElements.define("review-list", ReviewList);
