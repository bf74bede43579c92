// The search: words are looked up in a file that was made with the pages.  Nothing is asked of a server.
(() => {
  "use strict";
  const found = document.getElementById("manual-found"), field = document.getElementById("manual-q");
  if (!found || !field) return;
  document.getElementById("manual-without").remove();
  const asked = new URLSearchParams(location.search).get("q") || "";
  field.value = asked;
  const root = found.dataset.index.slice(0, found.dataset.index.lastIndexOf("/") + 1);

  function split(text) {
    return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) || [];
  }

  // the sections that have a word, or a word that begins so, each with its weight
  function having(index, word) {
    const weights = new Map();
    for (const each of index.names) {
      if (!each.startsWith(word)) continue;
      const pairs = index.words[each], whole = each === word ? 2 : 1;
      for (let place = 0; place < pairs.length; place += 2) {
        weights.set(pairs[place], Math.max(weights.get(pairs[place]) || 0, pairs[place + 1] * whole));
      }
    }
    return weights;
  }

  function look(index, text) {
    const words = split(text);
    if (!words.length) return [];
    const each = words.map((word) => having(index, word));
    const places = [...each[0].keys()].filter((place) => each.every((weights) => weights.has(place)));
    const weight = (place) => each.reduce((sum, weights) => sum + weights.get(place), 0);
    return places.sort((one, other) => weight(other) - weight(one) || one - other).slice(0, 40);
  }

  function made(name, text, more = {}) {
    const element = Object.assign(document.createElement(name), more);
    element.textContent = text;
    return element;
  }

  function show(index) {
    const places = look(index, field.value);
    const list = document.createElement("ol");
    for (const place of places) {
      const [address, page, title, beginning] = index.sections[place];
      const item = document.createElement("li");
      item.append(made("a", title ? `${page}: ${title}` : page, { href: root + address }));
      item.append(made("p", beginning, { className: "hint" }));
      list.append(item);
    }
    const words = found.dataset;
    const told = places.length === 1 ? words.one : words.many.replace("#", places.length);
    found.replaceChildren(made("p", !split(field.value).length ? "" : places.length ? told : words.none), list);
  }

  const script = document.createElement("script");
  script.src = found.dataset.index;
  script.addEventListener("load", () => {
    const index = self.optcompIndex;
    index.names = Object.keys(index.words);
    field.addEventListener("input", () => show(index));
    if (asked) show(index);
  });
  script.addEventListener("error", () => found.replaceChildren(made("p", found.dataset.failed)));
  document.head.append(script);
})();
