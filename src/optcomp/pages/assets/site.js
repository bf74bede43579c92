// Small comforts on top of pages that work without them: live parts, one click only, copying.
// <form data-live> is sent while somebody types (data-live="80": after so many milliseconds); parts of the page with data-part are replaced from the reply.
(() => {
  "use strict";
  const told = document.getElementById("told");
  let hide = 0;

  function tell(text) {
    told.textContent = text;
    told.classList.add("shown");
    clearTimeout(hide);
    hide = setTimeout(() => told.classList.remove("shown"), 2500);
  }

  function swap(text) {
    const found = new DOMParser().parseFromString(text, "text/html");
    for (const part of document.querySelectorAll("[data-part]")) {
      const next = found.getElementById(part.id);
      if (!next || part.isEqualNode(next)) continue;
      if (part.contains(document.activeElement) && part.querySelector("input, select, textarea")) {
        keepFocus(part, next);
      } else {
        part.replaceWith(document.adoptNode(next));
      }
    }
    follow();
  }

  // <section id="…" data-part data-follow="/address">: what takes longer is fetched when all else is shown;
  // with data-follow-late it brings what is marked by data-late, all over the page, and fields stay as they are
  let following = 0;
  function follow() {
    clearTimeout(following);
    following = setTimeout(async () => {
      for (const part of document.querySelectorAll("[data-follow]")) {
        try {
          const reply = await fetch(part.dataset.follow, { headers: { "X-Live": "1" } });
          const found = new DOMParser().parseFromString(await reply.text(), "text/html").getElementById(part.id);
          if (!reply.ok || !found || !part.isConnected) continue;
          if ("followLate" in part.dataset) late(part, found);
          else part.replaceWith(document.adoptNode(found));
        } catch { /* the page has a link to it */ }
      }
    }, 600);
  }

  function late(part, found) {
    const reply = found.ownerDocument;
    for (const each of document.querySelectorAll("[data-late]")) {
      const next = reply.getElementById(each.id);
      if (next) each.replaceWith(document.adoptNode(next));
    }
    delete part.dataset.follow;
    delete part.dataset.followLate;
  }

  // whoever types in a part goes on typing where they were; a field in which nothing was typed follows the reply
  function keepFocus(part, next) {
    const field = document.activeElement;
    const [id, value, start, end] = [field.id, field.value, field.selectionStart, field.selectionEnd];
    const typed = field.value !== field.defaultValue;
    part.replaceWith(document.adoptNode(next));
    const again = id && document.getElementById(id);
    if (!again) return;
    again.focus();
    if (again.tagName !== "SELECT" && typed) again.value = value;
    if (start !== null && start !== undefined) again.setSelectionRange(start, end);
  }

  // GET: a new request ends the one before. POST: one after the other, for each builds on what the last one saved
  const running = new WeakMap(), afterwards = new WeakMap();
  async function send(form, button) {
    const get = form.method === "get";
    if (!get && running.has(form)) return void afterwards.set(form, button);
    running.get(form)?.abort();
    const stop = new AbortController();
    running.set(form, stop);
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (typeof value === "string") query.append(name, value);
    if (button?.name) query.append(button.name, button.value);
    const address = form.getAttribute("action") || location.pathname;
    const url = get ? `${address}?${query}` : address;
    form.setAttribute("aria-busy", "true");
    try {
      const reply = await fetch(url, {
        method: form.method, body: get ? undefined : query, signal: stop.signal, redirect: "follow", headers: { "X-Live": "1" },
      });
      const text = await reply.text();
      if (running.get(form) !== stop) return;
      swap(text);
      if (get) history.replaceState(null, "", url);
      else if (reply.redirected && new URL(reply.url).pathname !== location.pathname) location.assign(reply.url);
      tell(told.dataset.updated);
    } catch (error) {
      if (error.name !== "AbortError") tell(told.dataset.failed);
    } finally {
      if (running.get(form) === stop) {
        running.delete(form);
        form.removeAttribute("aria-busy");
        if (afterwards.has(form)) {
          const next = afterwards.get(form);
          afterwards.delete(form);
          send(form, next);
        }
      }
    }
  }

  const waiting = new WeakMap();
  document.addEventListener("input", (event) => {
    const form = event.target.form;
    if (!form?.matches("[data-live]") || event.target.type === "file") return;
    clearTimeout(waiting.get(form));
    waiting.set(form, setTimeout(() => send(form), Number(form.dataset.live) || 250));
  });

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.submitter?.matches("[data-live-button]") || (form.matches("[data-live]") && event.submitter?.matches("[data-show]"))) {
      event.preventDefault();
      clearTimeout(waiting.get(form));
      send(form, { name: event.submitter.name, value: event.submitter.value });
      return;
    }
    if (form.method !== "post" || form.matches("[data-download]")) return; // a download leaves the page as it is
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "1";
    setTimeout(() => { for (const button of form.querySelectorAll("button")) button.disabled = true; }, 0);
  });

  // the back button shows a page as it was: its forms can be sent again, under the same key
  window.addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-sent]")) {
      delete form.dataset.sent;
      for (const button of form.querySelectorAll("button")) button.disabled = false;
    }
  });

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const source = document.getElementById(button.dataset.copy);
    navigator.clipboard?.writeText(source.value ?? source.textContent).then(() => tell(told.dataset.copied));
  });

  // <body data-again="5"> or any element: its parts are fetched anew while somebody looks; with
  // data-follow a page that sends elsewhere is followed
  for (const element of document.querySelectorAll("[data-again]")) {
    setInterval(async () => {
      if (document.hidden || !document.querySelector("[data-again]")) return;
      try {
        const reply = await fetch(location.href, { headers: { "X-Live": "1" } });
        if (reply.redirected && "follow" in element.dataset) location.replace(reply.url);
        else if (reply.ok && !reply.redirected) swap(await reply.text());
      } catch { /* the next time */ }
    }, 1000 * Number(element.dataset.again));
  }
  follow();
  document.documentElement.dataset.script = "on";
})();
